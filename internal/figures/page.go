package figures

import (
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The page: as wide as the text of a letter or A4 page, as high as its content.
const (
	pageWidth  = 7 * vg.Inch
	margin     = 8
	bodyWidth  = pageWidth - 2*margin
	lineHeight = 1.25 // of the size of text
	gap        = 6
)

// page is a title, a key, a drawing and notes, from top to bottom.
type page struct {
	title string
	key   []fill
	body  vg.Length         // height of the drawing
	plot  func(draw.Canvas) // draws into an area of bodyWidth by body
	notes []string
}

// block is wrapped text.
type block struct {
	style draw.TextStyle
	lines []string
}

func newBlock(s draw.TextStyle, width vg.Length, texts ...string) block {
	b := block{style: s}
	for _, t := range texts {
		b.lines = append(b.lines, wrap(s, t, width)...)
	}
	return b
}

func (b block) step() vg.Length { return lineHeight * b.style.Font.Size }

func (b block) height() vg.Length { return vg.Length(len(b.lines)) * b.step() }

// draw writes the block below y and returns its lower edge.
func (b block) draw(c draw.Canvas, x, y vg.Length) vg.Length {
	for _, line := range b.lines {
		c.FillText(b.style, vg.Point{X: x, Y: y - b.step()/2}, line)
		y -= b.step()
	}
	return y
}

// wrap breaks text into lines that are no wider than width. A longer word is cut.
func wrap(s draw.TextStyle, text string, width vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = shorten(s, word, width)
		switch joined := line + " " + word; {
		case line == "":
			line = word
		case s.Width(joined) <= width:
			line = joined
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// shorten cuts text to a width, with an ellipsis in its middle, where names of models and
// runs differ least. What cannot be printed, such as a line break, becomes a space.
func shorten(s draw.TextStyle, text string, width vg.Length) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if s.Width(text) <= width {
		return text
	}
	r := []rune(text)
	for keep := len(r) - 1; keep > 1; keep-- {
		head := (keep + 1) / 2
		if t := string(r[:head]) + "…" + string(r[len(r)-(keep-head):]); s.Width(t) <= width {
			return t
		}
	}
	return "…"
}

// keyRow is a row of the key: entries and where each begins.
type keyRow struct {
	entries []fill
	x       []vg.Length
}

const (
	swatchWidth  = 16
	swatchHeight = 9
	keyStep      = 14
)

func (p *page) keyRows() []keyRow {
	s := textStyle(smallSize, draw.XLeft)
	var rows []keyRow
	x := vg.Length(0)
	for _, f := range p.key {
		width := swatchWidth + 4 + s.Width(f.name) + 14
		if len(rows) == 0 || x+width-14 > bodyWidth {
			rows = append(rows, keyRow{})
			x = 0
		}
		last := &rows[len(rows)-1]
		last.entries, last.x = append(last.entries, f), append(last.x, x)
		x += width
	}
	return rows
}

func (p *page) titleBlock() block {
	return newBlock(bold(textStyle(titleSize, draw.XLeft)), bodyWidth, p.title)
}

func (p *page) notesBlock() block {
	return newBlock(tinted(textStyle(smallSize, draw.XLeft), grey), bodyWidth, p.notes...)
}

// keyHeight is the height of the key with the gap below it.
func (p *page) keyHeight() vg.Length {
	if len(p.key) == 0 {
		return 0
	}
	return keyStep*vg.Length(len(p.keyRows())) + gap
}

func (p *page) height() vg.Length {
	return margin + p.titleBlock().height() + gap + p.keyHeight() + p.body + gap + p.notesBlock().height() + margin
}

func (p *page) draw(c draw.Canvas) {
	c.Canvas = grid{c.Canvas}
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	x := c.Min.X + margin
	y := p.titleBlock().draw(c, x, c.Max.Y-margin) - gap
	s := textStyle(smallSize, draw.XLeft)
	for i, row := range p.keyRows() {
		line := y - keyStep*(vg.Length(i)+0.5)
		for j, f := range row.entries {
			left := x + row.x[j]
			fillRect(c, rect(left, left+swatchWidth, line-swatchHeight/2.0, line+swatchHeight/2.0), f)
			c.FillText(s, vg.Point{X: left + swatchWidth + 4, Y: line}, f.name)
		}
	}
	y -= p.keyHeight()
	p.plot(area(c, x, x+bodyWidth, y-p.body, y))
	p.notesBlock().draw(c, x, y-p.body-gap)
}

// area is a part of a canvas.
func area(c draw.Canvas, left, right, bottom, top vg.Length) draw.Canvas {
	return draw.Canvas{Canvas: c.Canvas, Rectangle: rect(left, right, bottom, top)}
}

func rect(left, right, bottom, top vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: right, Y: top}}
}

// axis is a horizontal scale along the bottom of an area.
type axis struct {
	label    string
	min, max float64
	ticks    []plot.Tick
	log      bool
}

// axisHeight is what an axis takes below its area.
const axisHeight = 30

// linear is an axis from 0 with about five ticks.
func linear(label string, high float64) axis { return stepped(label, high, niceStep(high, 5)) }

// counts is a linear axis with ticks at whole numbers only.
func counts(label string, high int) axis {
	return stepped(label, float64(high), max(niceStep(float64(high), 5), 1))
}

func stepped(label string, high, step float64) axis {
	a := axis{label: label, max: high}
	for i := 0; float64(float64(i)*step) <= high*(1+1e-9); i++ {
		v := float64(float64(i) * step)
		a.ticks = append(a.ticks, plot.Tick{Value: v, Label: number(math.Round(v*1e6) / 1e6)})
	}
	return a
}

// norm is the place of a value on the axis, 0 to 1.
func (a axis) norm(v float64) float64 {
	if a.log {
		return plot.LogScale{}.Normalize(a.min, a.max, v)
	}
	return plot.LinearScale{}.Normalize(a.min, a.max, v)
}

// x is the place of a value in an area.
func (a axis) x(c draw.Canvas, v float64) vg.Length { return c.X(a.norm(v)) }

// draw draws the axis below an area, with faint lines through it.
func (a axis) draw(c draw.Canvas) {
	s := textStyle(smallSize, draw.XCenter)
	grid := draw.LineStyle{Color: faint, Width: 0.5}
	right := c.Min.X - 1e6
	for _, t := range a.ticks {
		x := a.x(c, t.Value)
		c.StrokeLine2(grid, x, c.Min.Y, x, c.Max.Y)
		if t.Label == "" {
			continue
		}
		c.StrokeLine2(thin, x, c.Min.Y, x, c.Min.Y-3)
		if half := s.Width(t.Label) / 2; x-half > right {
			c.FillText(s, vg.Point{X: x, Y: c.Min.Y - 9}, t.Label)
			right = x + half + 2
		}
	}
	c.StrokeLine2(thin, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	c.FillText(s, vg.Point{X: c.Center().X, Y: c.Min.Y - 22}, shorten(s, a.label, c.Max.X-c.Min.X))
}

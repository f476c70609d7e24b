package figures

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	ximage "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
)

// The palette of Okabe and Ito (2008).
var (
	black      = color.RGBA{0, 0, 0, 255}
	orange     = color.RGBA{230, 159, 0, 255}
	skyBlue    = color.RGBA{86, 180, 233, 255}
	green      = color.RGBA{0, 158, 115, 255}
	yellow     = color.RGBA{240, 228, 66, 255}
	blue       = color.RGBA{0, 114, 178, 255}
	vermillion = color.RGBA{213, 94, 0, 255}
	purple     = color.RGBA{204, 121, 167, 255}

	white = color.RGBA{255, 255, 255, 255}
	grey  = color.RGBA{90, 90, 90, 255}
	faint = color.RGBA{222, 222, 222, 255}
)

// Sizes of text.
const (
	titleSize = 11
	labelSize = 9
	smallSize = 8
	tinySize  = 7
)

// middle centres capitals and digits on a line. The box of a line reaches further down.
const middle = draw.YAlignment(-0.41)

// textStyle is plain text in a size, centred on its line.
func textStyle(size vg.Length, align draw.XAlignment) draw.TextStyle {
	return draw.TextStyle{
		Color: black, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: align, YAlign: middle, Handler: plot.DefaultTextHandler,
	}
}

func bold(s draw.TextStyle) draw.TextStyle {
	s.Font.Weight = ximage.WeightBold
	return s
}

func tinted(s draw.TextStyle, c color.Color) draw.TextStyle {
	s.Color = c
	return s
}

// hatch is a pattern of lines over a fill.
type hatch int

const (
	plain hatch = iota
	rising
	falling
	crossed
	upright
	dotted
)

// fill is how a category of things is filled.
type fill struct {
	name  string
	color color.Color
	hatch hatch
}

var tierFills = map[taxonomy.Tier]fill{
	taxonomy.Ideal:       {"ideal", blue, plain},
	taxonomy.Solid:       {"solid", skyBlue, rising},
	taxonomy.Lucky:       {"lucky", yellow, dotted},
	taxonomy.PartialFail: {"partial fail", orange, falling},
	taxonomy.OffTrack:    {"off track", vermillion, crossed},
}

// tiers in the order of figures.
var tiers = [...]taxonomy.Tier{taxonomy.Ideal, taxonomy.Solid, taxonomy.Lucky, taxonomy.PartialFail, taxonomy.OffTrack}

// categories in the order of figures.
var categories = [...]taxonomy.Category{taxonomy.Minimal, taxonomy.BruteForce, taxonomy.Incomplete, taxonomy.Excessive, taxonomy.DivergentOK}

var categoryFills = map[string]fill{
	taxonomy.Minimal.Code:     {"C1 " + taxonomy.Minimal.Name, yellow, dotted},
	taxonomy.BruteForce.Code:  {"C2 " + taxonomy.BruteForce.Name, vermillion, crossed},
	taxonomy.Incomplete.Code:  {"C3 " + taxonomy.Incomplete.Name, skyBlue, rising},
	taxonomy.Excessive.Code:   {"C4 " + taxonomy.Excessive.Name, purple, upright},
	taxonomy.DivergentOK.Code: {"C5 " + taxonomy.DivergentOK.Name, green, falling},
}

// stages in the order of the lanes of a timeline.
var stages = [...]byte{'E', 'I', 'V', 'O'}

var stageFills = map[byte]fill{
	'E': {"E exploration", skyBlue, plain},
	'I': {"I implementation", orange, rising},
	'V': {"V verification", green, falling},
	'O': {"O orchestration", purple, upright},
}

// thin is the outline of fills, and the lines of axes.
var thin = draw.LineStyle{Color: black, Width: 0.5}

// hatchGap is the distance of the lines of a hatch.
const hatchGap = 4

// fillRect fills a rectangle and draws its outline.
func fillRect(c draw.Canvas, r vg.Rectangle, f fill) {
	c.SetColor(f.color)
	c.Fill(r.Path())
	height := r.Max.Y - r.Min.Y
	var lines [][]vg.Point
	line := func(x0, y0, x1, y1 vg.Length) { lines = append(lines, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y1}}) }
	style := draw.LineStyle{Color: black, Width: 0.4}
	if f.hatch == rising || f.hatch == crossed {
		for x := r.Min.X - height + hatchGap; x < r.Max.X; x += hatchGap {
			line(x, r.Min.Y, x+height, r.Max.Y)
		}
	}
	if f.hatch == falling || f.hatch == crossed {
		for x := r.Min.X + hatchGap; x < r.Max.X+height; x += hatchGap {
			line(x, r.Min.Y, x-height, r.Max.Y)
		}
	}
	if f.hatch == upright {
		for x := r.Min.X + hatchGap/2; x < r.Max.X; x += hatchGap / 2 {
			line(x, r.Min.Y, x, r.Max.Y)
		}
	}
	if f.hatch == dotted {
		style.Width, style.Dashes = dot, []vg.Length{dot, hatchGap - dot}
		for i, y := 0, r.Min.Y+hatchGap/2; y < r.Max.Y-dot/2; i, y = i+1, y+hatchGap/2 {
			line(r.Min.X+hatchGap/2*(0.5+vg.Length(i%2)), y, r.Max.X, y)
		}
	}
	strokeClipped(draw.Canvas{Canvas: c.Canvas, Rectangle: r}, style, lines)
	c.StrokeLines(thin, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min})
}

// dot is the width of the dots of a hatch.
const dot = 0.9

// strokeClipped draws what lies in the canvas, as one path.
func strokeClipped(c draw.Canvas, style draw.LineStyle, lines [][]vg.Point) {
	var path vg.Path
	for _, l := range c.ClipLinesXY(lines...) {
		path.Move(l[0])
		path.Line(l[1])
	}
	if len(path) > 0 {
		c.SetLineStyle(style)
		c.Stroke(path)
	}
}

// boxed writes text on a white ground, so that hatching does not disturb it.
func boxed(c draw.Canvas, s draw.TextStyle, pt vg.Point, txt string) {
	width, half := s.Width(txt), s.Font.Size/2
	left := pt.X + width*vg.Length(s.XAlign) - 1.5
	c.SetColor(white)
	c.Fill(vg.Rectangle{Min: vg.Point{X: left, Y: pt.Y - half}, Max: vg.Point{X: left + width + 3, Y: pt.Y + half}}.Path())
	c.FillText(s, pt, txt)
}

// grouped writes an integer with thousands separated by commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return sign + strings.Join(append([]string{s}, parts...), ",")
}

// counted is a number of things: 1 run, 1,815 runs.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(int64(n)) + " " + thing + "s"
}

// decimals writes a number with a fixed count of decimals, as figures show it.
func decimals(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }

// number writes a number for CSV: the shortest decimal that reads back as it.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func integer[T ~int | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// spread moves labels of given widths apart along an axis, as little as their order allows,
// and keeps them in [low, high] where they fit. Positions are centres, ascending.
func spread(at, width []vg.Length, low, high vg.Length) []vg.Length {
	out := make([]vg.Length, len(at))
	edge := low
	for i := range at {
		out[i] = max(at[i], edge+width[i]/2)
		edge = out[i] + width[i]/2
	}
	edge = high
	for i := len(at) - 1; i >= 0 && out[i]+width[i]/2 > edge; i-- {
		out[i] = edge - width[i]/2
		edge -= width[i]
	}
	return out
}

// niceStep is a step of 1, 2 or 5 times a power of ten that divides a range in at most n.
func niceStep(span float64, n int) float64 {
	if span <= 0 {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, f := range []float64{1, 2, 5, 10} {
		if span/(step*f) <= float64(n) {
			return step * f
		}
	}
	return step * 10
}

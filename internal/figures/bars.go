package figures

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bar is one horizontal bar of stacked parts.
type bar struct {
	label string
	parts []part
	mark  float64 // a heavy line at this value; 0 for none
	end   string  // text behind the bar
}

type part struct {
	fill  fill
	value float64
	label string // written inside where it fits
}

const (
	barStep   = 22
	barHeight = 15
)

// stackedHeight is the height of a drawing of stacked bars.
func stackedHeight(bars int) vg.Length { return barStep*vg.Length(bars) + axisHeight }

// widest is the width of the widest text, at most limit.
func widest(s draw.TextStyle, limit vg.Length, texts []string) vg.Length {
	w := vg.Length(0)
	for _, t := range texts {
		w = max(w, s.Width(t))
	}
	return min(w, limit)
}

// stacked draws bars from top to bottom.
func stacked(c draw.Canvas, bars []bar, a axis) {
	name, end := textStyle(labelSize, draw.XRight), textStyle(smallSize, draw.XLeft)
	inside := textStyle(smallSize, draw.XCenter)
	var names, ends []string
	for _, b := range bars {
		names, ends = append(names, b.label), append(ends, b.end)
	}
	left, right := widest(name, bodyWidth/3, names)+6, widest(end, bodyWidth/3, ends)+10
	in := area(c, c.Min.X+left, c.Max.X-right, c.Min.Y+axisHeight, c.Max.Y)
	a.draw(in)
	for i, b := range bars {
		y := in.Max.Y - barStep*(vg.Length(i)+0.5)
		low, high := y-barHeight/2.0, y+barHeight/2.0
		c.FillText(name, vg.Point{X: in.Min.X - 6, Y: y}, shorten(name, b.label, left-6))
		sum := 0.0
		for _, p := range b.parts {
			if p.value == 0 {
				continue
			}
			x0, x1 := a.x(in, sum), a.x(in, sum+p.value)
			fillRect(c, rect(x0, x1, low, high), p.fill)
			if inside.Width(p.label)+5 <= x1-x0 {
				boxed(c, inside, vg.Point{X: (x0 + x1) / 2, Y: y}, p.label)
			}
			sum += p.value
		}
		boxed(c, end, vg.Point{X: a.x(in, sum) + 8, Y: y}, b.end)
		if b.mark > 0 {
			x := a.x(in, b.mark)
			c.StrokeLine2(draw.LineStyle{Color: black, Width: 2}, x, low-2.5, x, high+2.5)
		}
	}
}

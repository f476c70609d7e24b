package figures

import (
	"math"
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// grid is a canvas that moves every coordinate to a multiple of 1/1024 point. Some processors
// multiply and add in one rounding, which changes a coordinate's last bits; here that is lost.
type grid struct{ vg.Canvas }

func snap(p vg.Point) vg.Point {
	const step = 1024
	return vg.Point{X: vg.Length(math.Round(float64(p.X)*step) / step), Y: vg.Length(math.Round(float64(p.Y)*step) / step)}
}

func snapPath(path vg.Path) vg.Path {
	path = slices.Clone(path)
	for i := range path {
		path[i].Pos = snap(path[i].Pos)
	}
	return path
}

// Stroke strokes a path of lines and arcs.
func (g grid) Stroke(path vg.Path) { g.Canvas.Stroke(snapPath(path)) }

// Fill fills a path of lines and arcs.
func (g grid) Fill(path vg.Path) { g.Canvas.Fill(snapPath(path)) }

// FillString writes text.
func (g grid) FillString(f font.Face, pt vg.Point, text string) {
	g.Canvas.FillString(f, snap(pt), text)
}

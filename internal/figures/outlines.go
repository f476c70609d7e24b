package figures

import (
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	vgfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// outlined is a canvas that fills the outlines of letters. The rasteriser of text rounds
// differently on different processors, that of paths computes with integers.
type outlined struct{ vg.Canvas }

// FillString writes text, letter by letter as its width is measured. A letter the font lacks
// is drawn as the font's box.
func (o outlined) FillString(f vgfont.Face, pt vg.Point, text string) {
	var buf sfnt.Buffer
	em := fixed.Int26_6(f.Face.UnitsPerEm())
	scale := f.Font.Size / vg.Length(em)
	x, last := fixed.Int26_6(0), sfnt.GlyphIndex(0)
	for i, r := range text {
		glyph, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := f.Face.Kern(&buf, last, glyph, em, font.HintingNone); err == nil {
				x += kern
			}
		}
		last = glyph
		if segments, err := f.Face.LoadGlyph(&buf, glyph, em, nil); err == nil && len(segments) > 0 {
			o.Fill(outline(segments, func(p fixed.Point26_6) vg.Point {
				return snap(vg.Point{X: pt.X + vg.Length(vg.Length(x+p.X)*scale), Y: pt.Y - vg.Length(vg.Length(p.Y)*scale)})
			}))
		}
		if advance, err := f.Face.GlyphAdvance(&buf, glyph, em, font.HintingNone); err == nil {
			x += advance
		}
	}
}

// outline is the path of a letter; at places its points.
func outline(segments sfnt.Segments, at func(fixed.Point26_6) vg.Point) vg.Path {
	var path vg.Path
	for i, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				path.Close()
			}
			path.Move(at(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(at(s.Args[0]), at(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
		}
	}
	path.Close()
	return path
}

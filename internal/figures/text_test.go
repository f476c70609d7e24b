package figures

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/schema"
)

// probe is a canvas that notes where text goes and draws nothing.
type probe struct {
	w, h  vg.Length
	at    matrix
	stack []matrix
	texts []placed
	odd   int // coordinates that are no numbers
}

// placed is the text's box: from the depth of a p to the height of a capital.
type placed struct {
	text string
	box  vg.Rectangle
}

// matrix maps (x, y) to (a*x + b*y + e, c*x + d*y + f).
type matrix struct{ a, b, c, d, e, f float64 }

func (m matrix) times(n matrix) matrix {
	return matrix{m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d, m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d, m.a*n.e + m.b*n.f + m.e, m.c*n.e + m.d*n.f + m.f}
}

func (p *probe) SetLineWidth(vg.Length)              {}
func (p *probe) SetLineDash([]vg.Length, vg.Length)  {}
func (p *probe) SetColor(color.Color)                {}
func (p *probe) DrawImage(vg.Rectangle, image.Image) {}
func (p *probe) Size() (w, h vg.Length)              { return p.w, p.h }
func (p *probe) Push()                               { p.stack = append(p.stack, p.at) }
func (p *probe) Pop()                                { p.at, p.stack = p.stack[len(p.stack)-1], p.stack[:len(p.stack)-1] }
func (p *probe) Rotate(r float64) {
	s, c := math.Sincos(r)
	p.at = p.at.times(matrix{c, -s, s, c, 0, 0})
}
func (p *probe) Translate(pt vg.Point) {
	p.at = p.at.times(matrix{1, 0, 0, 1, float64(pt.X), float64(pt.Y)})
}
func (p *probe) Scale(x, y float64)  { p.at = p.at.times(matrix{x, 0, 0, y, 0, 0}) }
func (p *probe) Stroke(path vg.Path) { p.check(path) }
func (p *probe) Fill(path vg.Path)   { p.check(path) }
func (p *probe) check(path vg.Path) {
	for _, c := range path {
		if x := float64(c.Pos.X + c.Pos.Y); math.IsNaN(x) || math.IsInf(x, 0) {
			p.odd++
		}
	}
}

func (p *probe) FillString(f font.Face, pt vg.Point, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	size := f.Font.Size
	x0, x1, y0, y1 := pt.X, pt.X+f.Width(text), pt.Y-0.21*size, pt.Y+0.72*size
	box := rect(vg.Length(math.Inf(1)), vg.Length(math.Inf(-1)), vg.Length(math.Inf(1)), vg.Length(math.Inf(-1)))
	for _, c := range []vg.Point{{X: x0, Y: y0}, {X: x0, Y: y1}, {X: x1, Y: y0}, {X: x1, Y: y1}} {
		x, y := vg.Length(p.at.a*float64(c.X)+p.at.b*float64(c.Y)+p.at.e), vg.Length(p.at.c*float64(c.X)+p.at.d*float64(c.Y)+p.at.f)
		box = rect(min(box.Min.X, x), max(box.Max.X, x), min(box.Min.Y, y), max(box.Max.Y, y))
	}
	p.texts = append(p.texts, placed{text, box})
}

// checkText draws a figure and fails when texts overlap or leave the page, or anything is
// drawn at no place.
func checkText(t interface {
	Helper()
	Errorf(string, ...any)
}, f *Figure) {
	t.Helper()
	p := &probe{w: pageWidth, h: f.page.height(), at: matrix{a: 1, d: 1}}
	f.page.draw(draw.New(p))
	if p.odd > 0 {
		t.Errorf("%s: %d coordinates are no numbers", f.Name, p.odd)
	}
	if len(p.texts) < 5 {
		t.Errorf("%s: only %d texts", f.Name, len(p.texts))
	}
	for _, x := range p.texts {
		if b := x.box; !(b.Min.X >= 0 && b.Min.Y >= 0 && b.Max.X <= p.w && b.Max.Y <= p.h) {
			t.Errorf("%s: %q at %v leaves the page of %v by %v", f.Name, x.text, b, p.w, p.h)
		}
	}
	slices.SortFunc(p.texts, func(a, b placed) int { return cmp.Compare(a.box.Min.Y, b.box.Min.Y) })
	const touch = 0.2
	for i, a := range p.texts {
		for _, b := range p.texts[i+1:] {
			if b.box.Min.Y > a.box.Max.Y-touch {
				break
			}
			if a.box.Min.X < b.box.Max.X-touch && b.box.Min.X < a.box.Max.X-touch {
				t.Errorf("%s: %q at %v overlaps %q at %v", f.Name, a.text, a.box, b.text, b.box)
			}
		}
	}
}

func TestTextOfSample(t *testing.T) {
	figs, _ := makeAll(t, sample(t), Options{})
	for i := range figs {
		checkText(t, &figs[i])
	}
}

var oddNames = []string{
	"a", "b", "gpt", "", "two\nlines", "tab\tand \x01control", "名前の長いモデル", "e\u0301clair", "<script>&amp;\"'",
	"a-model-name-without-any-space-that-is-much-longer-than-every-column-of-every-figure-could-possibly-be-2026-11-30-preview",
	"many words in a name that goes on and on and on and on and on and on and on and on and on",
}

func drawRun(t *rapid.T, id string) run {
	r := run{
		id: id, task: "task", model: rapid.SampledFrom(oddNames).Draw(t, "model"),
		tier:     rapid.SampledFrom([]taxonomy.Tier{"", taxonomy.Ideal, taxonomy.Solid, taxonomy.Lucky, taxonomy.Lucky, taxonomy.PartialFail, taxonomy.OffTrack}).Draw(t, "tier"),
		tokens:   rapid.Int64Range(0, 1<<40).Draw(t, "tokens") >> rapid.IntRange(0, 40).Draw(t, "shift"),
		stages:   string(rapid.SliceOfN(rapid.SampledFrom([]byte("EIVO")), 0, rapid.SampledFrom([]int{1, 8, 40, 300}).Draw(t, "length")).Draw(t, "stages")),
		category: "",
	}
	if r.tier == taxonomy.Lucky {
		r.category = rapid.SampledFrom([]string{"C1", "C2", "C3", "C4", "C5"}).Draw(t, "category")
	}
	if rapid.Bool().Draw(t, "judged") {
		passed := rapid.Bool().Draw(t, "passed")
		r.passed = &passed
	}
	if rapid.Bool().Draw(t, "scored") {
		score := float64(rapid.IntRange(0, 1000).Draw(t, "score")) / 10
		r.score = &score
	}
	if rapid.Bool().Draw(t, "has waste") {
		for range wasteKinds {
			n := rapid.Int64Range(0, 3).Draw(t, "events")
			r.waste = append(r.waste, wasted{n, n * rapid.Int64Range(0, 5000).Draw(t, "steps")})
		}
	}
	return r
}

// TestOddData draws whatever runs there may be.
func TestOddData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &data{source: Published}
		for i := range rapid.IntRange(1, 30).Draw(t, "runs") {
			d.runs = append(d.runs, drawRun(t, strings.Repeat("very-long-id-", i)+integer(i)))
		}
		slices.SortFunc(d.runs, func(a, b run) int { return strings.Compare(a.id, b.id) })
		cuts := rapid.SliceOfN(rapid.Float64Range(0, 100), 3, 3).Draw(t, "cuts")
		slices.Sort(cuts)
		d.cuts = []cut{{"partial fail", math.Round(cuts[0])}, {"solid", math.Round(cuts[1])}, {"ideal", math.Round(cuts[2])}}
		req := &request{ctx: t.Context(), source: Published, loaded: map[Source]*data{Published: d}, dataset: &dataset{have: []Source{Published}}}
		for _, k := range kinds() {
			f, err := k.make(req)
			if errors.Is(err, errNoData) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			f.Name = k.name
			checkText(t, f)
			var b bytes.Buffer
			if err := f.WriteTo(&b, "svg"); err != nil {
				t.Fatal(err)
			}
			wellFormed(t, k.name, b.String())
		}
	})
}

func wellFormed(t *rapid.T, name, svg string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := dec.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// TestOddTimelines draws spans of every kind.
func TestOddTimelines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := make([]timeline, rapid.IntRange(1, 6).Draw(t, "runs"))
		for i := range rows {
			rows[i].run = drawRun(t, "run")
			if rows[i].stages == "" {
				rows[i].stages = "E"
			}
			for range rapid.IntRange(0, 6).Draw(t, "spans") {
				first := rapid.Int64Range(1, int64(len(rows[i].stages))).Draw(t, "first")
				last := rapid.Int64Range(first, int64(len(rows[i].stages))).Draw(t, "last")
				kind := rapid.SampledFrom(wasteKinds[:]).Draw(t, "kind")
				rows[i].spans = append(rows[i].spans, schema.Waste{Category: string(kind.kind), FirstStep: first, LastStep: last})
			}
		}
		checkText(t, newTimelines(&data{source: "release", spans: true}, rows))
	})
}

func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		at, width := make([]vg.Length, n), make([]vg.Length, n)
		total := vg.Length(0)
		for i := range at {
			at[i] = vg.Length(rapid.IntRange(0, 100).Draw(t, "at"))
			width[i] = vg.Length(rapid.IntRange(0, 20).Draw(t, "width"))
			total += width[i]
		}
		slices.Sort(at)
		low, high := vg.Length(-10), vg.Length(110)
		got := spread(at, width, low, high)
		for i := range got {
			if i > 0 && got[i]-width[i]/2 < got[i-1]+width[i-1]/2-1e-9 {
				t.Fatalf("labels %d and %d overlap: %v, widths %v", i-1, i, got, width)
			}
			if total <= high-low && (got[i]-width[i]/2 < low-1e-9 || got[i]+width[i]/2 > high+1e-9) {
				t.Fatalf("label %d is out of range: %v, widths %v", i, got, width)
			}
		}
	})
}

func TestShorten(t *testing.T) {
	s := textStyle(labelSize, draw.XLeft)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		width := vg.Length(rapid.IntRange(12, 300).Draw(t, "width"))
		got := shorten(s, text, width)
		if s.Width(got) > width {
			t.Fatalf("%q is %v wide, want at most %v", got, s.Width(got), width)
		}
	})
	if got := shorten(s, "short", 100); got != "short" {
		t.Errorf("short became %q", got)
	}
	if got := shorten(s, "claude-very-long-model-name-2026", 90); !strings.HasPrefix(got, "claude") || !strings.HasSuffix(got, "2026") {
		t.Errorf("both ends should be left of %q", got)
	}
}

func TestNiceStep(t *testing.T) {
	for _, tc := range []struct {
		span float64
		n    int
		want float64
	}{{100, 5, 20}, {35, 5, 10}, {10, 5, 2}, {1, 5, 0.2}, {26, 3, 10}, {3, 5, 1}, {0, 5, 1}, {57.2, 5, 20}} {
		if got := niceStep(tc.span, tc.n); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("step of %v in %d is %v, want %v", tc.span, tc.n, got, tc.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 53642032: "53,642,032"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

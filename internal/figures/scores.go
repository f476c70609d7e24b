package figures

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/stats"
)

const (
	binWidth = 5
	bins     = 100 / binWidth
)

// distribution is the scores of one source, by outcome.
type distribution struct {
	source     Source
	column     profile.Score
	pass, fail [bins]int
	nPass      int
	nFail      int
	left       int // runs without outcome or score
	cuts       []cut
	auroc      stats.Figure
	youden     *stats.YoudenPoint // nil when undefined
}

// bin is the interval [5b, 5b+5) of a score; 100 belongs to the last.
func bin(score float64) int { return min(max(int(math.Floor(score/binWidth)), 0), bins-1) }

func newDistribution(d *data) (distribution, error) {
	out := distribution{source: d.source, column: d.score, cuts: d.cuts}
	var scores []float64
	var passed []bool
	for _, r := range d.runs {
		switch {
		case r.score == nil || r.passed == nil:
			out.left++
			continue
		case *r.passed:
			out.pass[bin(*r.score)]++
			out.nPass++
		default:
			out.fail[bin(*r.score)]++
			out.nFail++
		}
		scores, passed = append(scores, *r.score), append(passed, *r.passed)
	}
	if len(scores) == 0 {
		return out, nil
	}
	y, err := stats.Youden(scores, passed, stats.LowestThreshold)
	switch {
	case err == nil:
		out.youden = &y
	case !errors.Is(err, stats.ErrUndefined):
		return out, err
	}
	out.auroc.Value, out.auroc.Err = stats.AUROC(scores, passed)
	if err := out.auroc.Err; err != nil && !errors.Is(err, stats.ErrUndefined) {
		return out, err
	}
	return out, nil
}

// highest is the largest share of an outcome in one bin, in %.
func (d *distribution) highest() float64 {
	high := 0.0
	for b := range bins {
		high = max(high, percent(d.pass[b], d.nPass), percent(d.fail[b], d.nFail))
	}
	return high
}

func (d *distribution) title() string {
	auroc := "undefined"
	if d.auroc.Defined() {
		auroc = decimals(d.auroc.Value, 3)
	}
	return fmt.Sprintf("%s: AUROC %s, %s pass, %s fail", d.source, auroc, grouped(int64(d.nPass)), grouped(int64(d.nFail)))
}

// legend names the cuts, those at the same score together, and Youden's threshold.
func (d *distribution) legend() string {
	var parts []string
	for i, c := range d.cuts {
		if i > 0 && d.cuts[i-1].score == c.score {
			continue
		}
		name := c.name
		if i+1 < len(d.cuts) && d.cuts[i+1].score == c.score {
			name += " and " + d.cuts[i+1].name
		}
		parts = append(parts, name+" "+number(c.score))
	}
	text := "cuts: " + strings.Join(parts, ", ")
	if d.youden != nil {
		text += fmt.Sprintf("; Youden's J %s at %s", decimals(d.youden.J, 2), decimals(d.youden.Threshold, 1))
	}
	return text
}

// mark is a line at a score, with the score above it.
type mark struct {
	score  float64
	youden bool
}

func (m mark) label() string {
	if m.youden {
		return decimals(m.score, 1)
	}
	return number(m.score)
}

// marks are the cuts and Youden's threshold, ascending.
func (d *distribution) marks() []mark {
	var out []mark
	for i, c := range d.cuts {
		if i == 0 || d.cuts[i-1].score != c.score {
			out = append(out, mark{score: c.score})
		}
	}
	if d.youden != nil {
		out = append(out, mark{d.youden.Threshold, true})
	}
	slices.SortStableFunc(out, func(a, b mark) int { return cmp.Compare(a.score, b.score) })
	return out
}

// scoreDistributions draws, for every source or the chosen one, the scores of passing and of
// failing runs.
func scoreDistributions(req *request) (*Figure, error) {
	sources := []Source{req.source}
	if req.all {
		sources = req.dataset.have
	}
	table := Table{Name: "scores", Header: []string{"source", "outcome", "score_from", "score_below", "runs", "share_percent"}}
	summary := Table{Name: "scores.thresholds", Header: []string{"source", "passing_runs", "failing_runs", "auroc", "threshold", "score", "youden_j", "column"}}
	var panels []distribution
	var names, left []string
	for _, s := range sources {
		d, err := req.data(s)
		if err != nil {
			return nil, err
		}
		p, err := newDistribution(d)
		if err != nil {
			return nil, err
		}
		if p.left > 0 {
			left = append(left, fmt.Sprintf("%s of %s", counted(p.left, "run"), s))
		}
		if p.nPass+p.nFail == 0 {
			continue
		}
		panels, names = append(panels, p), append(names, string(s))
		for b := range bins {
			from, to := integer(b*binWidth), integer((b+1)*binWidth)
			table.Rows = append(table.Rows,
				[]string{string(s), "pass", from, to, integer(p.pass[b]), number(percent(p.pass[b], p.nPass))},
				[]string{string(s), "fail", from, to, integer(p.fail[b]), number(percent(p.fail[b], p.nFail))})
		}
		auroc := ""
		if p.auroc.Defined() {
			auroc = number(p.auroc.Value)
		}
		head := []string{string(s), integer(p.nPass), integer(p.nFail), auroc}
		for _, c := range p.cuts {
			summary.Rows = append(summary.Rows, append(head[:4:4], "cut "+c.name, number(c.score), "", p.column.Column))
		}
		if p.youden != nil {
			summary.Rows = append(summary.Rows, append(head[:4:4], "Youden's J", number(p.youden.Threshold), number(p.youden.J), p.column.Column))
		}
	}
	if len(panels) == 0 {
		return nil, fmt.Errorf("%w: no run has a score and an outcome", errNoData)
	}
	notes := []string{
		"Shares of passing and of failing runs by score, in bins of 5 points; 100 belongs to the last. Dotted: the cuts between tiers: failing runs are a partial fail from the lowest on, passing ones solid and then ideal from the others. Heavy: the threshold with the largest Youden J.",
	}
	for _, p := range panels {
		if p.column.SeesOutcome {
			notes = append(notes, "The score of the release (published, release) contains the outcome: 10 of its points are for a pass. Its AUROC is not that of a judgement blind to the outcome.")
			break
		}
	}
	if len(left) > 0 {
		notes = append(notes, "Left out, without an outcome or a score: "+strings.Join(left, ", ")+".")
	}
	columns := min(len(panels), 2)
	rows := (len(panels) + columns - 1) / columns
	p := &page{
		title: fmt.Sprintf("Scores of passing and failing runs (%s)", strings.Join(names, ", ")),
		key:   []fill{passFill, failFill},
		body:  panelHeight * vg.Length(rows),
		notes: notes,
	}
	high := 0.0
	for _, d := range panels {
		high = max(high, d.highest())
	}
	p.plot = func(c draw.Canvas) {
		width := (bodyWidth - panelGap*vg.Length(columns-1)) / vg.Length(columns)
		for i := range panels {
			x := c.Min.X + (width+panelGap)*vg.Length(i%columns)
			y := c.Max.Y - panelHeight*vg.Length(i/columns)
			panels[i].draw(area(c, x, x+width, y-panelHeight+panelGap/2, y), high)
		}
	}
	return &Figure{Tables: []Table{table, summary}, page: p}, nil
}

const (
	panelHeight = 205
	panelGap    = 14
)

var (
	passFill = fill{"passing runs", skyBlue, plain}
	failFill = fill{"failing runs", orange, falling}
)

// draw draws one panel: the passing runs upwards, the failing ones downwards, so that neither
// hides the other. Both have the same scale.
func (d *distribution) draw(c draw.Canvas, high float64) {
	s, tiny := textStyle(labelSize, draw.XLeft), textStyle(tinySize, draw.XCenter)
	c.FillText(bold(s), vg.Point{X: c.Min.X, Y: c.Max.Y - 6}, shorten(bold(s), d.title(), c.Max.X-c.Min.X))
	left := tiny
	left.XAlign = draw.XLeft
	c.FillText(left, vg.Point{X: c.Min.X, Y: c.Max.Y - 17}, shorten(left, d.legend(), c.Max.X-c.Min.X))
	in := area(c, c.Min.X+36, c.Max.X-4, c.Min.Y+axisHeight, c.Max.Y-40)
	a := linear("score", 100)
	a.draw(in)

	step := niceStep(high, 3)
	zero := in.Center().Y
	unit := (in.Max.Y - in.Min.Y) / 2 / vg.Length(high)
	tick := textStyle(smallSize, draw.XRight)
	at := func(percent float64) {
		y := zero + unit*vg.Length(percent)
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.5}, in.Min.X, y, in.Max.X, y)
		c.StrokeLine2(thin, in.Min.X-3, y, in.Min.X, y)
		c.FillText(tick, vg.Point{X: in.Min.X - 5, Y: y}, number(math.Round(math.Abs(percent)*1e6)/1e6))
	}
	at(0)
	for i := 1; float64(float64(i)*step) <= high; i++ {
		at(float64(float64(i) * step))
		at(-float64(float64(i) * step))
	}
	side := textStyle(smallSize, draw.XCenter)
	side.Rotation = math.Pi / 2
	c.FillText(side, vg.Point{X: c.Min.X + 5, Y: in.Center().Y}, "share of runs (%)")

	for b := range bins {
		x0, x1 := a.x(in, float64(b*binWidth)), a.x(in, float64((b+1)*binWidth))
		if n := d.pass[b]; n > 0 {
			fillRect(c, rect(x0, x1, zero, zero+unit*vg.Length(percent(n, d.nPass))), passFill)
		}
		if n := d.fail[b]; n > 0 {
			fillRect(c, rect(x0, x1, zero-unit*vg.Length(percent(n, d.nFail)), zero), failFill)
		}
	}
	c.StrokeLine2(thin, in.Min.X, zero, in.Max.X, zero)
	c.StrokeLine2(thin, in.Min.X, in.Min.Y, in.Min.X, in.Max.Y)

	marks := d.marks()
	place, width := make([]vg.Length, len(marks)), make([]vg.Length, len(marks))
	for i, m := range marks {
		place[i] = a.x(in, m.score)
		width[i] = tiny.Width(m.label()) + 4
	}
	for i, x := range spread(place, width, in.Min.X, in.Max.X) {
		line, label := draw.LineStyle{Color: black, Width: 0.9, Dashes: []vg.Length{1.5, 1.5}}, tiny
		if marks[i].youden {
			line, label = draw.LineStyle{Color: black, Width: 1.6}, bold(tiny)
		}
		c.StrokeLine2(line, place[i], in.Min.Y, place[i], in.Max.Y+2)
		c.StrokeLine2(thin, place[i], in.Max.Y+2, x, in.Max.Y+6)
		c.FillText(label, vg.Point{X: x, Y: in.Max.Y + 11}, marks[i].label())
	}
}

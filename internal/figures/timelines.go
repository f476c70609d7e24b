package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// paperRuns are the runs of the paper's Table 16.
var paperRuns = [...]string{
	"psf__requests-1724-logs-gpt-4o-pass-25018754986_pta",
	"psf__requests-1724-logs-opus-4.5-pass-25081007860_pta",
	"psf__requests-1724-logs-opus-4.6-pass-25038457597_pta",
	"psf__requests-1724-logs-gpt-5.3-codex-pass-25000713727_pta",
	"psf__requests-1724-logs-gpt-4.1-pass-24926062288_pta",
}

// timeline is a run and what its detectors found.
type timeline struct {
	run
	spans []schema.Waste
}

// timelines draws the stages of a few runs, step by step, and where steps were wasted.
func timelines(req *request) (*Figure, error) {
	d, err := req.data(req.source)
	if err != nil {
		return nil, err
	}
	chosen, err := chooseRuns(d, req.runs)
	if err != nil {
		return nil, err
	}
	rows := make([]timeline, len(chosen))
	for i, r := range chosen {
		rows[i].run = r
		if rows[i].spans, err = req.dataset.spans(req.ctx, d.source, r.id); err != nil {
			return nil, err
		}
	}
	return newTimelines(d, rows), nil
}

func newTimelines(d *data, rows []timeline) *Figure {
	table := Table{Name: "timelines", Header: []string{"trajectory_id", "model", "tier", "category", "score", "step", "stage"}}
	spans := Table{Name: "timelines.waste", Header: []string{"trajectory_id", "waste", "first_step", "last_step", "wasted_steps"}}
	longest := 0
	body := vg.Length(axisHeight)
	for i := range rows {
		r := &rows[i]
		longest = max(longest, len(r.stages))
		score := ""
		if r.score != nil {
			score = number(*r.score)
		}
		for j := range len(r.stages) {
			table.Rows = append(table.Rows, []string{r.id, r.model, string(r.tier), r.category, score, integer(j + 1), r.stages[j : j+1]})
		}
		for _, w := range r.spans {
			spans.Rows = append(spans.Rows, []string{r.id, w.Category, integer(w.FirstStep), integer(w.LastStep), integer(w.WastedSteps)})
		}
		body += r.height()
	}
	notes := []string{"One column per step, one lane per stage."}
	tables := []Table{table}
	switch {
	case d.source == Published:
		notes = append(notes, "The release published counts of waste but not the steps: choose the source release to see where a run wasted them.")
	case d.spans:
		notes = append(notes, "Black bars: spans of steps in which the detectors found waste; spans may overlap.")
		tables = append(tables, spans)
	}
	p := &page{title: fmt.Sprintf("Stages of chosen runs, step by step (%s)", d.source.words()), body: body, notes: notes}
	for _, s := range stages {
		p.key = append(p.key, stageFills[s])
	}
	p.plot = func(c draw.Canvas) { drawTimelines(c, rows, longest) }
	return &Figure{Tables: tables, page: p}
}

// chooseRuns returns the runs with these ids, in this order; without ids those of the paper's
// Table 16 if all are there, else one of every tier and Lucky category.
func chooseRuns(d *data, ids []string) ([]run, error) {
	find := func(id string) (run, bool) {
		i, ok := slices.BinarySearchFunc(d.runs, id, func(r run, id string) int { return strings.Compare(r.id, id) })
		if !ok || d.runs[i].stages == "" {
			return run{}, false
		}
		return d.runs[i], true
	}
	var out []run
	for _, id := range ids {
		r, ok := find(id)
		if !ok {
			return nil, usage.Errorf("", "no run %q with steps in %s", id, d.source.words())
		}
		out = append(out, r)
	}
	if len(ids) > 0 {
		return out, nil
	}
	for _, id := range paperRuns {
		if r, ok := find(id); ok {
			out = append(out, r)
		}
	}
	if len(out) == len(paperRuns) {
		return out, nil
	}
	out = nil
	for _, t := range tiers {
		codes := []string{""}
		if t == taxonomy.Lucky && d.categories == nil {
			codes = codes[:0]
			for _, c := range categories {
				codes = append(codes, c.Code)
			}
		}
		for _, code := range codes {
			if r, ok := typical(d, t, code); ok {
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no run has a tier and steps", errNoData)
	}
	return out, nil
}

// typical is the run of a tier and category with the median number of steps; of equals, the
// first by id.
func typical(d *data, t taxonomy.Tier, category string) (run, bool) {
	var of []run
	for _, r := range d.runs {
		if r.tier == t && r.category == category && r.stages != "" {
			of = append(of, r)
		}
	}
	if len(of) == 0 {
		return run{}, false
	}
	slices.SortStableFunc(of, func(a, b run) int { return cmp.Compare(len(a.stages), len(b.stages)) })
	return of[(len(of)-1)/2], true
}

const (
	lane       = 9
	wasteLane  = 8
	headHeight = 26
	laneGap    = 10
	widestCell = 13
)

// kinds are the kinds of waste the run has spans of.
func (t *timeline) kinds() []wasteKind {
	var out []wasteKind
	for _, k := range wasteKinds {
		if slices.ContainsFunc(t.spans, func(w schema.Waste) bool { return w.Category == string(k.kind) }) {
			out = append(out, k)
		}
	}
	return out
}

func (t *timeline) height() vg.Length {
	return headHeight + lane*vg.Length(len(stages)) + wasteLane*vg.Length(len(t.kinds())) + laneGap
}

func (t *timeline) head() string {
	parts := []string{strings.ReplaceAll(string(cmp.Or(t.tier, "no tier")), "_", " ")}
	if f, ok := categoryFills[t.category]; ok {
		parts = append(parts, f.name)
	}
	parts = append(parts, t.model)
	if t.score != nil {
		parts = append(parts, "score "+number(math.Round(*t.score*10)/10))
	}
	return strings.Join(append(parts, counted(len(t.stages), "step")), ", ")
}

func drawTimelines(c draw.Canvas, rows []timeline, longest int) {
	tiny := textStyle(tinySize, draw.XRight)
	names := []string{"E"}
	for i := range rows {
		for _, k := range rows[i].kinds() {
			names = append(names, k.name)
		}
	}
	left := widest(tiny, bodyWidth/3, names) + 8
	cell := min((bodyWidth-left)/vg.Length(longest), widestCell)
	in := area(c, c.Min.X+left, c.Min.X+left+cell*vg.Length(longest), c.Min.Y+axisHeight, c.Max.Y)
	a := steps(longest)
	a.draw(in)
	y := c.Max.Y
	for i := range rows {
		rows[i].draw(c, in, y, cell)
		y -= rows[i].height()
	}
}

// steps is an axis whose ticks stand in the middle of a step's column.
func steps(longest int) axis {
	a := counts("step", longest)
	for i := range a.ticks {
		a.ticks[i].Value -= 0.5
	}
	a.ticks[0].Value, a.ticks[0].Label = 0.5, "1"
	return a
}

func (t *timeline) draw(c, in draw.Canvas, top, cell vg.Length) {
	name, tiny := bold(textStyle(smallSize, draw.XLeft)), textStyle(tinySize, draw.XRight)
	clear := area(c, c.Min.X, c.Max.X, top-headHeight+1, top)
	c.SetColor(white)
	c.Fill(clear.Rectangle.Path())
	c.FillText(name, vg.Point{X: c.Min.X, Y: top - 8}, shorten(name, t.head(), bodyWidth))
	id := tinted(textStyle(tinySize, draw.XLeft), grey)
	c.FillText(id, vg.Point{X: c.Min.X, Y: top - 18}, shorten(id, t.id, bodyWidth))
	y := top - headHeight
	end := in.Min.X + cell*vg.Length(len(t.stages))
	for _, s := range stages {
		c.FillText(tiny, vg.Point{X: in.Min.X - 5, Y: y - lane/2.0}, string(s))
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.5}, in.Min.X, y-lane/2.0, end, y-lane/2.0)
		for i := range len(t.stages) {
			if t.stages[i] != s {
				continue
			}
			x := in.Min.X + cell*vg.Length(i)
			fillRect(c, rect(x, x+cell, y-lane+0.5, y-0.5), stageFills[s])
		}
		y -= lane
	}
	for _, k := range t.kinds() {
		c.FillText(tiny, vg.Point{X: in.Min.X - 5, Y: y - wasteLane/2.0}, k.name)
		for _, w := range t.spans {
			if w.Category != string(k.kind) {
				continue
			}
			c.SetColor(black)
			c.Fill(rect(in.Min.X+cell*vg.Length(w.FirstStep-1)+0.4, in.Min.X+cell*vg.Length(w.LastStep)-0.4, y-wasteLane+2, y-2).Path())
		}
		y -= wasteLane
	}
}

package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rankRow is a model's place by pass rate and by the mean score of its passing runs.
type rankRow struct {
	model             string
	passes, judged    int
	passRate, score   float64 // %, 0-100
	passRank, qsRank  int     // from 1; equal values share the better rank
	passPlace, qPlace int     // 0-based place in the drawing, no two alike
}

func (r *rankRow) shift() int { return r.passRank - r.qsRank }

// before and after are what stands between a model's name and its line.
func (r *rankRow) before() string {
	return fmt.Sprintf("  %s  %d", decimals(r.passRate, 1), r.passRank)
}
func (r *rankRow) after() string { return fmt.Sprintf("%d  %s  ", r.qsRank, decimals(r.score, 1)) }

// agreement is how far the two ranks are apart: consistent up to 1, moderate up to 3, else
// divergent (paper, Figure 8).
func (r *rankRow) agreement() int {
	switch s := max(r.shift(), -r.shift()); {
	case s <= 1:
		return 0
	case s <= 3:
		return 1
	}
	return 2
}

// agreements are the lines of the three degrees of agreement.
var agreements = [...]struct {
	name string
	line draw.LineStyle
}{
	{"consistent", draw.LineStyle{Color: grey, Width: 1}},
	{"moderate", draw.LineStyle{Color: blue, Width: 1.6, Dashes: []vg.Length{6, 2.5}}},
	{"divergent", draw.LineStyle{Color: vermillion, Width: 2.6}},
}

// rankRows ranks the models that passed at least once; left counts the others.
func rankRows(d *data) (rows []rankRow, left int) {
	byModel := map[string]*rankRow{}
	for _, r := range d.runs {
		m := byModel[r.model]
		if m == nil {
			m = &rankRow{model: r.model}
			byModel[r.model] = m
		}
		if r.passed == nil || r.score == nil {
			continue
		}
		m.judged++
		if *r.passed {
			m.passes++
			m.score += *r.score
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byModel)) {
		m := byModel[name]
		if m.passes == 0 {
			left++
			continue
		}
		m.passRate, m.score = percent(m.passes, m.judged), m.score/float64(m.passes)
		rows = append(rows, *m)
	}
	slices.SortStableFunc(rows, func(a, b rankRow) int { return cmp.Compare(b.score, a.score) })
	for i := range rows {
		rows[i].qPlace, rows[i].qsRank = i, i+1
		if i > 0 && rows[i].score == rows[i-1].score {
			rows[i].qsRank = rows[i-1].qsRank
		}
	}
	slices.SortStableFunc(rows, func(a, b rankRow) int { return cmp.Compare(b.passRate, a.passRate) })
	for i := range rows {
		rows[i].passPlace, rows[i].passRank = i, i+1
		if i > 0 && rows[i].passRate == rows[i-1].passRate {
			rows[i].passRank = rows[i-1].passRank
		}
	}
	return rows, left
}

// rankStep is the distance of two ranks in the drawing.
const rankStep = 22

// ranks draws a line for every model from its rank by pass rate to that by score.
func ranks(req *request) (*Figure, error) {
	d, err := req.data(req.source)
	if err != nil {
		return nil, err
	}
	rows, left := rankRows(d)
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w: no model has a passing run with a score", errNoData)
	}
	table := Table{Name: "ranks", Header: []string{"model", "runs", "passes", "pass_rate_percent", "pass_rank", "mean_score_of_passes", "score_rank", "shift", "agreement"}}
	for _, r := range rows {
		table.Rows = append(table.Rows, []string{r.model, integer(r.judged), integer(r.passes), number(r.passRate), integer(r.passRank),
			number(r.score), integer(r.qsRank), integer(r.shift()), agreements[r.agreement()].name})
	}
	notes := []string{
		"Line: grey and thin where the ranks differ by at most 1, dashed by 2 or 3, heavy by 4 or more. Equal values share a rank.",
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("Left out: %s without a passing run that has a score.", counted(left, "model")))
	}
	p := &page{
		title: fmt.Sprintf("Rank by pass rate against rank by quality score (%s)", d.source.words()),
		body:  rankStep*vg.Length(len(rows)) + 30,
		notes: notes,
	}
	p.plot = func(c draw.Canvas) { drawRanks(c, rows) }
	return &Figure{Tables: []Table{table}, page: p}, nil
}

func drawRanks(c draw.Canvas, rows []rankRow) {
	s := textStyle(labelSize, draw.XRight)
	head := bold(s)
	const byRate, byScore = "rank by pass rate (%)", "rank by mean score of passes"
	texts := []string{byRate, byScore} // on either side, the column is as wide as the widest
	for _, r := range rows {
		texts = append(texts, r.model+r.before(), r.after()+r.model)
	}
	column := widest(s, bodyWidth/3, texts) + 8
	left, right := c.Min.X+column, c.Max.X-column
	top := c.Max.Y - 26
	y := func(place int) vg.Length { return top - rankStep*(vg.Length(place)+0.5) }
	c.FillText(head, vg.Point{X: left, Y: c.Max.Y - 8}, byRate)
	head.XAlign = draw.XLeft
	c.FillText(head, vg.Point{X: right, Y: c.Max.Y - 8}, byScore)
	for _, x := range []vg.Length{left + 8, right - 8} {
		c.StrokeLine2(thin, x, top, x, c.Min.Y)
	}
	// Heavy lines last, so that they lie on top.
	for degree, a := range agreements {
		for _, r := range rows {
			if r.agreement() != degree {
				continue
			}
			from, to := vg.Point{X: left + 8, Y: y(r.passPlace)}, vg.Point{X: right - 8, Y: y(r.qPlace)}
			c.StrokeLine2(a.line, from.X, from.Y, to.X, to.Y)
			dot := draw.GlyphStyle{Color: a.line.Color, Radius: 3, Shape: draw.CircleGlyph{}}
			c.DrawGlyph(dot, from)
			c.DrawGlyph(dot, to)
		}
	}
	for _, r := range rows {
		s.XAlign = draw.XRight
		c.FillText(s, vg.Point{X: left, Y: y(r.passPlace)}, shorten(s, r.model, column-s.Width(r.before()))+r.before())
		s.XAlign = draw.XLeft
		c.FillText(s, vg.Point{X: right, Y: y(r.qPlace)}, r.after()+shorten(s, r.model, column-s.Width(r.after())))
	}
}

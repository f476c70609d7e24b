package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
)

// tokenRow is the cost of a category's Lucky passes.
type tokenRow struct {
	category taxonomy.Category
	tokens   []int64 // of each run with any, ascending
}

func (r *tokenRow) sum() (sum int64) {
	for _, n := range r.tokens {
		sum += n
	}
	return sum
}

func (r *tokenRow) mean() float64 { return float64(r.sum()) / float64(len(r.tokens)) }

// tokenRows groups passes by category, in the order of their mean; categories without runs
// are left out, and left counts the runs without tokens.
func tokenRows(passes []run) (rows []tokenRow, left int) {
	for _, c := range categories {
		row := tokenRow{category: c}
		for _, r := range passes {
			switch {
			case r.category != c.Code:
			case r.tokens <= 0:
				left++
			default:
				row.tokens = append(row.tokens, r.tokens)
			}
		}
		if len(row.tokens) > 0 {
			slices.Sort(row.tokens)
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b tokenRow) int { return cmp.Compare(a.mean(), b.mean()) })
	return rows, left
}

// tokensByCategory draws what the Lucky passes of every category cost.
func tokensByCategory(req *request) (*Figure, error) {
	d, err := req.data(req.source)
	if err != nil {
		return nil, err
	}
	passes, err := luckyPasses(d)
	if err != nil {
		return nil, err
	}
	rows, left := tokenRows(passes)
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w: no Lucky pass has a count of tokens", errNoData)
	}
	table := Table{Name: "tokens", Header: []string{"category", "category_name", "runs", "mean_tokens", "min_tokens", "max_tokens", "sum_tokens", "times_cheapest"}}
	runs := Table{Name: "tokens.runs", Header: []string{"category", "tokens"}}
	for _, r := range rows {
		table.Rows = append(table.Rows, []string{r.category.Code, r.category.Name, integer(len(r.tokens)), number(r.mean()),
			integer(r.tokens[0]), integer(r.tokens[len(r.tokens)-1]), integer(r.sum()), number(r.mean() / rows[0].mean())})
		for _, n := range r.tokens {
			runs.Rows = append(runs.Rows, []string{r.category.Code, integer(n)})
		}
	}
	notes := []string{"Ring: one run, input and output tokens of all its steps. Heavy line: mean of the category; the factor compares it with the cheapest category. Logarithmic scale."}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("Left out: %s without a count of tokens.", counted(left, "Lucky pass run")))
	}
	p := &page{
		title: fmt.Sprintf("Tokens of Lucky passes by category (%s)", d.source.words()),
		body:  tokenStep*vg.Length(len(rows)) + axisHeight,
		notes: notes,
	}
	p.plot = func(c draw.Canvas) { drawTokens(c, rows) }
	return &Figure{Tables: []Table{table, runs}, page: p}, nil
}

const tokenStep = 40

// beside sets neighbours in order of tokens apart by turns.
var beside = [...]vg.Length{0, 5.5, -5.5, 11, -11}

// logarithmic is an axis of counts around [low, high], with ticks at 1, 2 and 5 times the
// powers of ten. low is at least 1.
func logarithmic(label string, low, high float64) axis {
	var steps []float64
	for v := 1.0; len(steps) < 2 || steps[len(steps)-1] < high; v *= 10 {
		steps = append(steps, v, float64(2*v), float64(5*v))
	}
	for len(steps) > 2 && steps[1] <= low {
		steps = steps[1:]
	}
	for len(steps) > 2 && steps[len(steps)-2] >= high {
		steps = steps[:len(steps)-1]
	}
	a := axis{label: label, log: true, min: steps[0], max: steps[len(steps)-1]}
	for _, v := range steps {
		a.ticks = append(a.ticks, plot.Tick{Value: v, Label: short(v)})
	}
	return a
}

// short writes a round number with K or M.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return number(v/1e6) + "M"
	case v >= 1e3:
		return number(v/1e3) + "K"
	}
	return number(v)
}

func drawTokens(c draw.Canvas, rows []tokenRow) {
	name, end := textStyle(labelSize, draw.XLeft), textStyle(smallSize, draw.XRight)
	low, high := math.Inf(1), 0.0
	var names, ends []string
	for _, r := range rows {
		low, high = min(low, float64(r.tokens[0])), max(high, float64(r.tokens[len(r.tokens)-1]))
		names = append(names, r.category.Code+" "+r.category.Name)
		ends = append(ends, fmt.Sprintf("mean %s, %s×", grouped(int64(math.Round(r.mean()))), decimals(r.mean()/rows[0].mean(), 1)))
	}
	left, right := widest(name, bodyWidth/3, names)+10, widest(end, bodyWidth/3, ends)+10
	in := area(c, c.Min.X+left, c.Max.X-right, c.Min.Y+axisHeight, c.Max.Y)
	a := logarithmic("tokens per run", low, high)
	a.draw(in)
	c.StrokeLine2(thin, in.Min.X, in.Min.Y, in.Min.X, in.Max.Y)
	for i, r := range rows {
		y := in.Max.Y - tokenStep*(vg.Length(i)+0.5)
		c.FillText(name, vg.Point{X: c.Min.X, Y: y + 6}, names[i])
		c.FillText(tinted(textStyle(smallSize, draw.XLeft), grey), vg.Point{X: c.Min.X, Y: y - 6}, counted(len(r.tokens), "run"))
		c.FillText(end, vg.Point{X: c.Max.X, Y: y}, ends[i])
		c.StrokeLine2(draw.LineStyle{Color: grey, Width: 0.7}, a.x(in, float64(r.tokens[0])), y, a.x(in, float64(r.tokens[len(r.tokens)-1])), y)
		ring := draw.GlyphStyle{Color: blue, Radius: 2.4, Shape: draw.RingGlyph{}}
		for j, n := range r.tokens {
			c.SetLineWidth(0.9)
			c.DrawGlyphNoClip(ring, vg.Point{X: a.x(in, float64(n)), Y: y + beside[j%len(beside)]})
		}
		m := a.x(in, r.mean())
		c.StrokeLine2(draw.LineStyle{Color: vermillion, Width: 2.5}, m, y-tokenStep*0.42, m, y+tokenStep*0.42)
	}
}

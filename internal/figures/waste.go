package figures

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// wasteRow is one kind of waste in one tier.
type wasteRow struct {
	runs     int // of the tier, with waste columns
	affected int // with at least one event
	steps    int64
}

// prevalence is the share of runs affected, in %.
func (r wasteRow) prevalence() float64 { return percent(r.affected, r.runs) }

// wasteRows are indexed by wasteKinds and tiers.
type wasteRows [len(wasteKinds)][len(tiers)]wasteRow

func newWasteRows(d *data) (rows wasteRows, runs int) {
	for _, r := range d.runs {
		if r.waste == nil {
			continue
		}
		for j, t := range tiers {
			if r.tier != t {
				continue
			}
			runs++
			for i, w := range r.waste {
				rows[i][j].runs++
				if w.events > 0 {
					rows[i][j].affected++
					rows[i][j].steps += w.steps
				}
			}
		}
	}
	return rows, runs
}

// wasteByTier draws how many runs of each tier waste steps, and how many steps.
func wasteByTier(req *request) (*Figure, error) {
	d, err := req.data(req.source)
	if err != nil {
		return nil, err
	}
	rows, runs := newWasteRows(d)
	if runs == 0 {
		return nil, fmt.Errorf("%w: %s has no waste columns", errNoData, d.source.words())
	}
	table := Table{Name: "waste", Header: []string{"waste", "tier", "tier_runs", "affected_runs", "prevalence_percent", "wasted_steps", "mean_steps_of_affected"}}
	for i, k := range wasteKinds {
		for j, t := range tiers {
			r := rows[i][j]
			average := ""
			if m, ok := mean(float64(r.steps), r.affected); ok {
				average = number(m)
			}
			table.Rows = append(table.Rows, []string{string(k.kind), string(t), integer(r.runs), integer(r.affected), number(r.prevalence()), integer(r.steps), average})
		}
	}
	notes := []string{"Left: runs of the tier with at least one such event. Right: steps wasted this way, mean over those runs. A step may count under several kinds."}
	if left := len(d.runs) - runs; left > 0 {
		notes = append(notes, fmt.Sprintf("Left out: %s without a tier or waste columns.", counted(left, "run")))
	}
	p := &page{
		title: fmt.Sprintf("Waste by tier (%s)", d.source.words()),
		body:  wasteGroup*vg.Length(len(wasteKinds)) + axisHeight,
		notes: notes,
	}
	for j, t := range tiers {
		f := tierFills[t]
		f.name = fmt.Sprintf("%s (n = %s)", f.name, grouped(int64(rows[0][j].runs)))
		p.key = append(p.key, f)
	}
	p.plot = func(c draw.Canvas) { rows.draw(c) }
	return &Figure{Tables: []Table{table}, page: p}, nil
}

const (
	wasteBar   = 9
	wasteGroup = wasteBar*5 + 9 // a kind's bars and the gap to the next
)

func (rows *wasteRows) draw(c draw.Canvas) {
	name := textStyle(labelSize, draw.XRight)
	var names []string
	share, steps := 0.0, 0.0
	for i, k := range wasteKinds {
		names = append(names, k.name)
		for _, r := range rows[i] {
			share = max(share, r.prevalence())
			if m, ok := mean(float64(r.steps), r.affected); ok {
				steps = max(steps, m)
			}
		}
	}
	left := widest(name, bodyWidth/3, names) + 6
	const between, beyond = 14, 26 // beyond leaves room for the number at the longest bar
	width := (bodyWidth - left - between - 2*beyond) / 2
	x := c.Min.X + left
	bottom := c.Min.Y + axisHeight
	shares := area(c, x, x+width, bottom, c.Max.Y)
	x += width + beyond + between
	means := area(c, x, x+width, bottom, c.Max.Y)

	shareAxis, meanAxis := linear("runs affected (%)", atLeastOne(share)), linear("steps wasted per affected run", atLeastOne(steps))
	shareAxis.draw(shares)
	meanAxis.draw(means)
	value := textStyle(tinySize, draw.XLeft)
	for i, k := range wasteKinds {
		top := c.Max.Y - wasteGroup*vg.Length(i) - 4
		c.FillText(name, vg.Point{X: shares.Min.X - 6, Y: top - wasteBar*2.5}, k.name)
		for j, t := range tiers {
			r := rows[i][j]
			high := top - wasteBar*vg.Length(j)
			bar := func(in draw.Canvas, a axis, v float64) {
				end := a.x(in, v)
				if v > 0 {
					fillRect(c, rect(in.Min.X, end, high-wasteBar+1, high), tierFills[t])
				}
				boxed(c, value, vg.Point{X: end + 3, Y: high - wasteBar/2.0 + 0.5}, decimals(v, 1))
			}
			if r.runs > 0 {
				bar(shares, shareAxis, r.prevalence())
			}
			if m, ok := mean(float64(r.steps), r.affected); ok {
				bar(means, meanAxis, m)
			}
		}
	}
	for _, in := range []draw.Canvas{shares, means} {
		c.StrokeLine2(thin, in.Min.X, in.Min.Y, in.Min.X, in.Max.Y)
	}
}

// atLeastOne keeps an axis from being empty.
func atLeastOne(x float64) float64 { return max(x, 1) }

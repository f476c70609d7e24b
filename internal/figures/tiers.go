package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
)

// tierRow counts the tiers of a model's runs.
type tierRow struct {
	model string
	runs  int // with a tier
	tiers [len(tiers)]int
}

func (r *tierRow) add(t taxonomy.Tier) {
	if i := slices.Index(tiers[:], t); i >= 0 {
		r.tiers[i]++
		r.runs++
	}
}

// passes is the number of passing runs: the first three tiers.
func (r *tierRow) passes() int { return r.tiers[0] + r.tiers[1] + r.tiers[2] }

// tierRows counts by model, highest share of passes first, and overall.
func tierRows(d *data) (rows []tierRow, all tierRow) {
	all.model = "all models"
	byModel := map[string]*tierRow{}
	for _, r := range d.runs {
		if byModel[r.model] == nil {
			byModel[r.model] = &tierRow{model: r.model}
		}
		byModel[r.model].add(r.tier)
		all.add(r.tier)
	}
	for _, m := range slices.Sorted(maps.Keys(byModel)) {
		if byModel[m].runs > 0 {
			rows = append(rows, *byModel[m])
		}
	}
	slices.SortStableFunc(rows, func(a, b tierRow) int { return cmp.Compare(b.passes()*a.runs, a.passes()*b.runs) })
	return rows, all
}

// tierShares draws the tiers of every model as shares of its runs.
func tierShares(req *request) (*Figure, error) {
	d, err := req.data(req.source)
	if err != nil {
		return nil, err
	}
	rows, all := tierRows(d)
	if all.runs == 0 {
		return nil, fmt.Errorf("%w: no run has a tier", errNoData)
	}
	rows = append(rows, all)

	table := Table{Name: "tiers", Header: []string{"model", "tier", "runs", "model_runs", "share_percent"}}
	bars := make([]bar, len(rows))
	for i, r := range rows {
		bars[i] = bar{label: r.model, end: fmt.Sprintf("n = %s", grouped(int64(r.runs))), mark: percent(r.passes(), r.runs)}
		for j, n := range r.tiers {
			share := percent(n, r.runs)
			table.Rows = append(table.Rows, []string{r.model, string(tiers[j]), integer(n), integer(r.runs), number(share)})
			bars[i].parts = append(bars[i].parts, part{tierFills[tiers[j]], share, decimals(share, 0)})
		}
	}
	notes := []string{"Share of each model's runs in %, by tier; models by pass rate, which is the heavy line: tiers left of it are of passing runs, tiers right of it of failing ones."}
	if left := len(d.runs) - all.runs; left > 0 {
		notes = append(notes, fmt.Sprintf("Left out: %s without a tier.", counted(left, "run")))
	}
	p := &page{title: fmt.Sprintf("Quality tiers by model (%s)", d.source.words()), body: stackedHeight(len(bars)), notes: notes}
	for _, t := range tiers {
		p.key = append(p.key, tierFills[t])
	}
	p.plot = func(c draw.Canvas) { stacked(c, bars, linear("share of the model's runs (%)", 100)) }
	return &Figure{Tables: []Table{table}, page: p}, nil
}

package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
)

// luckyPasses are the runs of the Lucky tier that have a category.
func luckyPasses(d *data) ([]run, error) {
	if d.categories != nil {
		return nil, fmt.Errorf("%w: Lucky passes have no categories: %w", errNoData, d.categories)
	}
	var out []run
	for _, r := range d.runs {
		if r.tier == taxonomy.Lucky && r.category != "" {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: there is no Lucky pass", errNoData)
	}
	return out, nil
}

// luckyRow counts a model's Lucky passes by category.
type luckyRow struct {
	model      string
	total      int
	categories [len(categories)]int
}

// luckyRows counts by model, most Lucky passes first; models without any are there too.
func luckyRows(d *data, passes []run) []luckyRow {
	byModel := map[string]*luckyRow{}
	for _, r := range d.runs {
		if byModel[r.model] == nil {
			byModel[r.model] = &luckyRow{model: r.model}
		}
	}
	for _, r := range passes {
		for i, c := range categories {
			if c.Code == r.category {
				byModel[r.model].categories[i]++
				byModel[r.model].total++
			}
		}
	}
	var rows []luckyRow
	for _, m := range slices.Sorted(maps.Keys(byModel)) {
		rows = append(rows, *byModel[m])
	}
	slices.SortStableFunc(rows, func(a, b luckyRow) int { return cmp.Compare(b.total, a.total) })
	return rows
}

// luckyByModel draws how many Lucky passes of each category every model has.
func luckyByModel(req *request) (*Figure, error) {
	d, err := req.data(req.source)
	if err != nil {
		return nil, err
	}
	passes, err := luckyPasses(d)
	if err != nil {
		return nil, err
	}
	rows := luckyRows(d, passes)
	table := Table{Name: "lucky", Header: []string{"model", "category", "category_name", "lucky_passes"}}
	bars := make([]bar, len(rows))
	for i, r := range rows {
		bars[i] = bar{label: r.model, end: integer(r.total)}
		for j, n := range r.categories {
			table.Rows = append(table.Rows, []string{r.model, categories[j].Code, categories[j].Name, integer(n)})
			bars[i].parts = append(bars[i].parts, part{categoryFills[categories[j].Code], float64(n), integer(n)})
		}
	}
	p := &page{
		title: fmt.Sprintf("Lucky passes by category and model (%s)", d.source.words()),
		body:  stackedHeight(len(bars)),
		notes: []string{fmt.Sprintf("Lucky passes: %s of %s. The number behind a bar is the model's total.", grouped(int64(len(passes))), counted(len(d.runs), "run"))},
	}
	for _, c := range categories {
		p.key = append(p.key, categoryFills[c.Code])
	}
	p.plot = func(c draw.Canvas) { stacked(c, bars, counts("Lucky passes (runs)", rows[0].total)) }
	return &Figure{Tables: []Table{table}, page: p}, nil
}

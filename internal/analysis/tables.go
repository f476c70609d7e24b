package analysis

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
)

// ChiSquare tests whether two columns of categories are independent. With resamples it adds
// the p-value over random pairings of their values.
func ChiSquare(f *tabular.Frame, x, y string, yates bool, r stats.Resampling) (Result, error) {
	columns, err := columnsOf(f, []string{x, y})
	if err != nil {
		return Result{}, err
	}
	table, rows, cols, left := crosstab(columns[0], columns[1])
	res := Result{LeftOut: left}
	for _, row := range table {
		for _, n := range row {
			res.Used += n
		}
	}
	res.count("n", res.Used)
	res.count("categories_x", len(rows))
	res.count("categories_y", len(cols))
	var chi stats.ChiSquareResult
	if len(rows) < 2 || len(cols) < 2 {
		err = fmt.Errorf("%w: %s has %d and %s %d categories; both need two", stats.ErrUndefined, x, len(rows), y, len(cols))
	} else {
		chi, err = stats.ChiSquare(table, yates)
	}
	note := "Pearson"
	if chi.Yates {
		note = "Pearson with Yates' correction, as there is one degree of freedom"
	}
	if err := res.figure("chi2", chi.Statistic, err, note); err != nil {
		return Result{}, err
	}
	if err != nil {
		return res, nil
	}
	res.count("dof", chi.DoF)
	g, err := stats.GTest(table)
	if err != nil {
		return Result{}, err
	}
	a, err := stats.Associate(table)
	if err != nil {
		return Result{}, err
	}
	for _, v := range []struct {
		name  string
		value stats.Figure
		note  string
	}{
		{"p", stats.Figure{Value: chi.P}, ""},
		{"log_p", stats.Figure{Value: chi.LogP}, "natural logarithm"},
		{"cramer_v", a.CramerV, "without Yates' correction"},
		{"cramer_v_corrected", a.CramerVCorrected, "Bergsma's bias correction"},
		{"tschuprow_t", a.TschuprowT, ""},
		{"pearson_c", stats.Figure{Value: a.PearsonC}, ""},
		{"g", stats.Figure{Value: g.Statistic}, "likelihood ratio"},
		{"g_p", stats.Figure{Value: g.P}, ""},
		{"min_expected", stats.Figure{Value: chi.MinExpected}, ""},
	} {
		if err := res.figure(v.name, v.value.Value, v.value.Err, v.note); err != nil {
			return Result{}, err
		}
	}
	if r.Resamples > 0 {
		perm, err := stats.ChiSquarePermutation(table, r)
		if err := res.figure("permutation_p", perm.P, err, fmt.Sprintf("%d permutations, seed %d", r.Resamples, r.Seed)); err != nil {
			return Result{}, err
		}
	}
	if chi.LowCells > 0 {
		res.warn("%d of %d cells have an expected count below %d (least %s), so the chi-square p-value is doubtful; option resamples 10000 gives a p-value that holds",
			chi.LowCells, len(rows)*len(cols), stats.LowExpected, short(chi.MinExpected))
	}
	res.Tables = []Table{
		crossTable("observed", x, rows, cols, func(i, j int) any { return table[i][j] }),
		crossTable("expected", x, rows, cols, func(i, j int) any { return chi.Expected[i][j] }),
	}
	return res, nil
}

// crosstab counts pairs of values; every row and column has a count.
func crosstab(x, y *tabular.Column) (table [][]int, rows, cols []string, left []LeftOut) {
	var out leftOut
	seen := map[[2]string]int{}
	usedX, usedY := map[string]bool{}, map[string]bool{}
	for i := range x.Len() {
		if name := firstMissing(i, []*tabular.Column{x, y}); name != "" {
			out.add("without " + name)
			continue
		}
		seen[[2]string{x.Text(i), y.Text(i)}]++
		usedX[x.Text(i)], usedY[y.Text(i)] = true, true
	}
	for _, v := range distinct(x) {
		if usedX[v] {
			rows = append(rows, v)
		}
	}
	for _, v := range distinct(y) {
		if usedY[v] {
			cols = append(cols, v)
		}
	}
	for _, a := range rows {
		row := make([]int, len(cols))
		for j, b := range cols {
			row[j] = seen[[2]string{a, b}]
		}
		table = append(table, row)
	}
	return table, rows, cols, out.list
}

func crossTable(name, corner string, rows, cols []string, cell func(i, j int) any) Table {
	t := Table{Name: name, Columns: append([]string{corner}, cols...), Matrix: true}
	for i, r := range rows {
		row := []any{r}
		for j := range cols {
			row = append(row, cell(i, j))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// CorrelationKinds are the coefficients [Correlate] knows.
func CorrelationKinds() []string { return []string{"pearson", "spearman", "kendall"} }

// Correlate computes coefficients of all pairs of numeric columns, each over the rows that
// have both values. With several pairs p_holm is p adjusted for their number, per kind.
func Correlate(f *tabular.Frame, names, kinds []string) (Result, error) {
	columns, err := columnsOf(f, names)
	if err != nil {
		return Result{}, err
	}
	for _, c := range columns {
		if !c.Numeric() {
			return Result{}, notNumeric(f, c)
		}
	}
	compute := map[string]func(x, y []float64) (stats.Correlation, error){
		"pearson": stats.Pearson, "spearman": stats.Spearman, "kendall": stats.Kendall,
	}
	var res Result
	t := Table{Name: "correlations", Columns: []string{"x", "y", "kind", "n", "left_out", "r", "p", "p_holm", "undefined"}, Main: true}
	const colP, colHolm = 6, 7
	computed := false
	for _, kind := range kinds {
		var ps []float64
		var at []int
		for i, x := range columns {
			for _, y := range columns[i+1:] {
				a, b, err := pairs(f, x, y)
				if err != nil {
					return Result{}, err
				}
				res.Used = max(res.Used, len(a))
				row := []any{x.Name, y.Name, kind, len(a), f.Rows() - len(a), nil, nil, nil, nil}
				c, err := compute[kind](a, b)
				switch {
				case errors.Is(err, stats.ErrUndefined):
					row[8] = reason(err)
				case err != nil:
					return Result{}, err
				default:
					computed = true
					row[5], row[colP] = c.R, c.P
					ps, at = append(ps, c.P), append(at, len(t.Rows))
				}
				t.Rows = append(t.Rows, row)
			}
		}
		adjusted, err := stats.Holm(ps)
		if err != nil {
			return Result{}, err
		}
		for i, p := range adjusted {
			t.Rows[at[i]][colHolm] = p
		}
	}
	if !computed {
		why := "no pair of columns"
		if len(t.Rows) > 0 {
			why = fmt.Sprint(t.Rows[0][8])
		}
		return res, res.figure("r", nil, fmt.Errorf("%w: %s", stats.ErrUndefined, why), "")
	}
	res.Tables = []Table{t}
	return res, nil
}

// pairs returns the values of the rows that have both.
func pairs(f *tabular.Frame, x, y *tabular.Column) (a, b []float64, err error) {
	for i := range x.Len() {
		if x.Missing(i) || y.Missing(i) {
			continue
		}
		for _, c := range []*tabular.Column{x, y} {
			if math.IsInf(c.Float(i), 0) {
				return nil, nil, infinite(f, c, i)
			}
		}
		a, b = append(a, x.Float(i)), append(b, y.Float(i))
	}
	return a, b, nil
}

// Describe summarises columns: numbers by moments and quantiles, text by its values.
func Describe(f *tabular.Frame, names []string) (Result, error) {
	columns, err := columnsOf(f, names)
	if err != nil {
		return Result{}, err
	}
	t := Table{Name: "columns", Main: true, Columns: []string{"column", "kind", "n", "missing", "distinct",
		"mean", "sd", "min", "q25", "median", "q75", "max", "skew", "kurtosis", "most_frequent", "frequency", "undefined"}}
	for _, c := range columns {
		count := map[string]int{}
		var x []float64
		for i := range c.Len() {
			if c.Missing(i) {
				continue
			}
			count[c.Text(i)]++
			if c.Numeric() {
				if math.IsInf(c.Float(i), 0) {
					return Result{}, infinite(f, c, i)
				}
				x = append(x, c.Float(i))
			}
		}
		n := 0
		best := ""
		for _, v := range distinct(c) {
			n += count[v]
			if count[v] > count[best] {
				best = v
			}
		}
		row := []any{c.Name, c.Kind.String(), n, c.Len() - n, len(count)}
		row = append(row, slices.Repeat([]any{nil}, len(t.Columns)-len(row))...)
		if n > 0 {
			row[14], row[15] = best, count[best]
		}
		if c.Numeric() {
			if err := describeNumbers(row, x); err != nil {
				return Result{}, err
			}
		}
		t.Rows = append(t.Rows, row)
	}
	res := Result{Used: f.Rows()}
	if f.Rows() == 0 {
		return res, res.figure("columns", nil, fmt.Errorf("%w: no rows", stats.ErrUndefined), "")
	}
	res.Tables = []Table{t}
	return res, nil
}

// describeNumbers fills in the cells from the mean on.
func describeNumbers(row []any, x []float64) error {
	d, err := stats.Describe(x)
	if errors.Is(err, stats.ErrUndefined) {
		row[16] = reason(err)
		return nil
	}
	if err != nil {
		return err
	}
	row[5], row[7], row[8], row[9], row[10], row[11] = d.Mean, d.Min, d.Q25, d.Median, d.Q75, d.Max
	for at, fig := range map[int]stats.Figure{6: d.SD, 12: d.Skew, 13: d.Kurtosis} {
		if fig.Defined() {
			row[at] = fig.Value
		}
	}
	for _, fig := range []stats.Figure{d.SD, d.Skew} {
		if !fig.Defined() {
			row[16] = reason(fig.Err)
			break
		}
	}
	return nil
}

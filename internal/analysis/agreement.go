package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
)

// Raters says where ratings are: a column per rater (Columns), or a row per rating.
type Raters struct {
	Columns []string // wide: a row per subject
	Subject string   // long: a row per rating
	Rater   string
	Rating  string
}

// Names lists the columns the analysis reads.
func (r Raters) Names() []string {
	if r.Columns != nil {
		return r.Columns
	}
	return []string{r.Subject, r.Rater, r.Rating}
}

// Kappa computes the agreement of raters: Fleiss' kappa and per-category kappas over the
// subjects that every rater rated, Krippendorff's alpha over all, and for two raters Cohen's
// kappa, weighted for ordered categories (numbers by value, text by name).
func Kappa(f *tabular.Frame, raters Raters, w stats.Weights, level float64) (Result, error) {
	ratings, err := raters.read(f)
	if err != nil {
		return Result{}, err
	}
	res := Result{Used: len(ratings.subjects)}
	res.count("subjects", len(ratings.subjects))
	res.count("raters", ratings.raters)
	res.count("categories", len(ratings.categories))
	complete := ratings.complete()
	res.count("subjects_complete", len(complete))
	if n := len(ratings.subjects) - len(complete); n > 0 {
		res.LeftOut = []LeftOut{{"subjects that some rater did not rate (Krippendorff's alpha counts them)", n}}
		res.Used = len(complete)
	}
	if err := res.fleiss(complete, ratings.categories, level); err != nil {
		return Result{}, err
	}
	all := make([][]int, len(ratings.subjects))
	for i, s := range ratings.subjects {
		all[i] = counts(s, len(ratings.categories))
	}
	alpha, err := stats.Krippendorff(all)
	if err := res.figure("krippendorff_alpha", alpha, err, "nominal"); err != nil {
		return Result{}, err
	}
	if ratings.raters == 2 {
		table := make([][]int, len(ratings.categories))
		for i := range table {
			table[i] = make([]int, len(ratings.categories))
		}
		for _, s := range complete {
			table[s[0]][s[1]]++
		}
		var cohen stats.CohenResult
		err := fmt.Errorf("%w: no subject was rated by both", stats.ErrUndefined)
		if len(complete) > 0 {
			cohen, err = stats.CohenKappa(table, w)
		}
		note := [...]string{"unweighted", "linear weights", "quadratic weights"}[w]
		if ferr := res.figure("cohen_kappa", cohen.Kappa, err, note); ferr != nil {
			return Result{}, ferr
		}
		if err == nil {
			iv, err := cohen.Interval(level)
			if err := res.interval(iv, err); err != nil {
				return Result{}, err
			}
		}
	}
	return res, nil
}

// fleiss adds the figures of complete subjects.
func (res *Result) fleiss(complete [][]int, categories []string, level float64) error {
	table := make([][]int, len(complete))
	for i, s := range complete {
		table[i] = counts(s, len(categories))
	}
	a, err := stats.NewAgreement(table)
	if err != nil {
		return res.figure("fleiss_kappa", nil, err, "")
	}
	kappa, err := a.FleissKappa()
	if err := res.figure("fleiss_kappa", kappa, err, ""); err != nil {
		return err
	}
	iv, err := a.FleissInterval(level)
	if err := res.interval(iv, err); err != nil {
		return err
	}
	se, err := a.FleissSE()
	if err := res.figure("fleiss_se", se, err, ""); err != nil {
		return err
	}
	null, err := a.FleissNull()
	if err := res.figure("fleiss_p", null.P, err, "of kappa = 0"); err != nil {
		return err
	}
	randolph, err := a.RandolphKappa()
	if err := res.figure("randolph_kappa", randolph, err, "chance agreement 1/categories"); err != nil {
		return err
	}
	for _, v := range []struct {
		name  string
		value float64
		note  string
	}{
		{"raw_agreement", a.Raw(), "pairs of raters that agree"},
		{"unanimous", a.Unanimous(), "subjects on which all agree"},
		{"chance_agreement", a.Chance(), ""},
	} {
		if err := res.figure(v.name, v.value, nil, v.note); err != nil {
			return err
		}
	}
	t := Table{Name: "categories", Columns: []string{"category", "share", "kappa", "null_se", "null_p", "undefined"}}
	for i, c := range a.FleissCategories() {
		row := []any{categories[i], c.Share, nil, nil, nil, nil}
		if c.Kappa.Defined() {
			row[2] = c.Kappa.Value
		} else {
			row[5] = reason(c.Kappa.Err)
		}
		if c.Null != nil {
			row[3], row[4] = c.Null.SE, c.Null.P
		}
		t.Rows = append(t.Rows, row)
	}
	res.Tables = append(res.Tables, t)
	return nil
}

// ratings are subjects by raters; a rating is the number of its category, -1 for none.
type ratings struct {
	subjects   [][]int
	categories []string
	raters     int
}

func (r ratings) complete() [][]int {
	var out [][]int
	for _, s := range r.subjects {
		if !slices.Contains(s, -1) {
			out = append(out, s)
		}
	}
	return out
}

func counts(subject []int, categories int) []int {
	row := make([]int, categories)
	for _, c := range subject {
		if c >= 0 {
			row[c]++
		}
	}
	return row
}

func (r Raters) read(f *tabular.Frame) (ratings, error) {
	columns, err := columnsOf(f, r.Names())
	if err != nil {
		return ratings{}, err
	}
	if r.Columns != nil {
		return wide(columns), nil
	}
	return long(f, columns[0], columns[1], columns[2])
}

func wide(columns []*tabular.Column) ratings {
	out := ratings{raters: len(columns), categories: categoriesOf(columns...)}
	number := numbered(out.categories)
	for i := range columns[0].Len() {
		subject := make([]int, len(columns))
		for j, c := range columns {
			subject[j] = -1
			if !c.Missing(i) {
				subject[j] = number[c.Text(i)]
			}
		}
		out.subjects = append(out.subjects, subject)
	}
	return out
}

func long(f *tabular.Frame, subject, rater, rating *tabular.Column) (ratings, error) {
	out := ratings{categories: categoriesOf(rating)}
	subjects, raters := distinct(subject), distinct(rater)
	out.raters = len(raters)
	category, subjectNo, raterNo := numbered(out.categories), numbered(subjects), numbered(raters)
	out.subjects = make([][]int, len(subjects))
	for i := range out.subjects {
		out.subjects[i] = slices.Repeat([]int{-1}, len(raters))
	}
	first := map[[2]int]int{}
	for i := range f.Rows() {
		if subject.Missing(i) || rater.Missing(i) || rating.Missing(i) {
			continue
		}
		key := [2]int{subjectNo[subject.Text(i)], raterNo[rater.Text(i)]}
		if before, ok := first[key]; ok {
			return ratings{}, fmt.Errorf("%w: %s and %s are both ratings of %s %s by %s %s",
				ErrData, f.Place(before), f.Place(i), subject.Name, subject.Text(i), rater.Name, rater.Text(i))
		}
		first[key] = i
		out.subjects[key[0]][key[1]] = category[rating.Text(i)]
	}
	return out, nil
}

// categoriesOf returns the values of all columns, numbers by value when all are numbers.
func categoriesOf(columns ...*tabular.Column) []string {
	number := map[string]float64{}
	var all []string
	for _, c := range columns {
		for i := range c.Len() {
			if c.Missing(i) {
				continue
			}
			text := c.Text(i)
			if _, ok := number[text]; ok {
				continue
			}
			all = append(all, text)
			number[text] = 0
			if c.Numeric() {
				number[text] = c.Float(i)
			}
		}
	}
	numeric := !slices.ContainsFunc(columns, func(c *tabular.Column) bool { return !c.Numeric() })
	slices.SortFunc(all, func(a, b string) int {
		if numeric {
			return cmp.Or(cmp.Compare(number[a], number[b]), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
	return all
}

func numbered(names []string) map[string]int {
	m := make(map[string]int, len(names))
	for i, n := range names {
		m[n] = i
	}
	return m
}

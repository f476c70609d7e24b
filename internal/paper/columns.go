package paper

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
)

// runs returns the runs that meet every condition under a prefix.
func (e *env) runs(a args, prefix string) ([]*run, error) {
	var out []*run
	for _, r := range e.table {
		ok := true
		for _, x := range a {
			key, under := strings.CutPrefix(x.key, prefix)
			if !under || !slices.Contains(conditionKeys, key) {
				continue
			}
			var err error
			if ok, err = e.meets(r, key, x.value); err != nil {
				return nil, err
			}
			if !ok {
				break
			}
		}
		if ok {
			out = append(out, r)
		}
	}
	return out, nil
}

func (e *env) meets(r *run, key, want string) (bool, error) {
	switch key {
	case "id":
		return r.TrajectoryID == want, nil
	case "model":
		return r.Model == want, nil
	case "task":
		return r.TaskID == want, nil
	case "passed":
		return r.Passed != nil && strconv.FormatBool(*r.Passed) == want, nil
	case "tier":
		return r.QualityTier != nil && *r.QualityTier == want, nil
	case "category":
		return r.category == want, r.categoryErr
	case "failure":
		return slices.Contains(r.failures, want), nil
	}
	x, ok, err := e.cell(r, want)
	if key == "zero" {
		return ok && x == 0, err
	}
	return ok && x > 0, err
}

func (e *env) cell(r *run, column string) (float64, bool, error) {
	return e.columns.cell(reflect.ValueOf(r.Features).Elem(), column)
}

// numbers returns a column of the chosen runs without its nulls.
func (e *env) numbers(a args) ([]float64, error) {
	runs, err := e.runs(a, "")
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, r := range runs {
		x, ok, err := e.cell(r, a.get("column"))
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, x)
		}
	}
	return out, nil
}

// single returns the run with the id of the arguments.
func (e *env) single(a args) (*run, error) {
	for _, r := range e.table {
		if r.TrajectoryID == a.get("id") {
			return r, nil
		}
	}
	return nil, undefined("there is no run " + a.get("id"))
}

func count(e *env, a args) (Value, error) {
	runs, err := e.runs(a, "")
	return number(float64(len(runs))), err
}

func share(e *env, a args) (Value, error) {
	part, err := e.runs(a, "")
	if err != nil {
		return Value{}, err
	}
	whole, err := e.runs(a, "base.")
	if err != nil {
		return Value{}, err
	}
	base := make(map[*run]bool, len(whole))
	for _, r := range whole {
		base[r] = true
	}
	n := 0
	for _, r := range part {
		if base[r] {
			n++
		}
	}
	return number(100 * float64(n) / float64(len(whole))), nil
}

func distinct(e *env, a args) (Value, error) {
	runs, err := e.runs(a, "")
	if err != nil {
		return Value{}, err
	}
	seen := map[string]bool{}
	for _, r := range runs {
		s, err := e.columns.text(reflect.ValueOf(r.Features).Elem(), a.get("column"))
		if err != nil {
			return Value{}, err
		}
		seen[s] = true
	}
	return number(float64(len(seen))), nil
}

func mean(e *env, a args) (Value, error) {
	x, err := e.numbers(a)
	if err != nil {
		return Value{}, err
	}
	m, err := stats.Mean(x)
	return number(m), err
}

func extreme(e *env, a args) (Value, error) {
	x, err := e.numbers(a)
	if err != nil {
		return Value{}, err
	}
	return aggregate(x, a.get("of"))
}

func aggregate(x []float64, of string) (Value, error) {
	if len(x) == 0 {
		return Value{}, undefined("no runs")
	}
	switch of {
	case "min":
		return number(slices.Min(x)), nil
	case "max":
		return number(slices.Max(x)), nil
	case "sum":
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return number(sum), nil
	case "mean":
		m, err := stats.Mean(x)
		return number(m), err
	}
	return Value{}, fmt.Errorf("of=%q: want min, max, sum or mean", of)
}

func value(e *env, a args) (Value, error) {
	r, err := e.single(a)
	if err != nil {
		return Value{}, err
	}
	x, ok, err := e.cell(r, a.get("column"))
	if err == nil && !ok {
		err = undefined("the column is null")
	}
	return number(x), err
}

func textCell(e *env, a args) (Value, error) {
	r, err := e.single(a)
	if err != nil {
		return Value{}, err
	}
	s, err := e.columns.text(reflect.ValueOf(r.Features).Elem(), a.get("column"))
	return text(s), err
}

func category(e *env, a args) (Value, error) {
	r, err := e.single(a)
	if err != nil {
		return Value{}, err
	}
	return text(r.category), r.categoryErr
}

// modelScores returns every model's pass rate or mean quality score of its passes.
func (e *env) modelScores(by string) (models []string, scores []float64, err error) {
	type tally struct{ passes, known, score float64 }
	tallies := map[string]*tally{}
	for _, r := range e.table {
		t := tallies[r.Model]
		if t == nil {
			t = &tally{}
			tallies[r.Model] = t
			models = append(models, r.Model)
		}
		if r.Passed == nil || r.QualityScore == nil {
			continue
		}
		t.known++
		if *r.Passed {
			t.passes++
			t.score += float64(*r.QualityScore)
		}
	}
	slices.Sort(models)
	for _, m := range models {
		t := tallies[m]
		switch by {
		case "pass_rate":
			scores = append(scores, t.passes/t.known)
		case "quality_score":
			scores = append(scores, t.score/t.passes)
		default:
			return nil, nil, fmt.Errorf("by=%q: want pass_rate or quality_score", by)
		}
	}
	return models, scores, nil
}

// ranks numbers scores from the highest, 1; equal scores share the better rank.
func ranks(scores []float64) []int {
	out := make([]int, len(scores))
	for i, s := range scores {
		out[i] = 1
		for _, other := range scores {
			if other > s {
				out[i]++
			}
		}
	}
	return out
}

func rank(e *env, a args) (Value, error) {
	models, scores, err := e.modelScores(a.get("by"))
	if err != nil {
		return Value{}, err
	}
	i := slices.Index(models, a.get("model"))
	if i < 0 {
		return Value{}, undefined("no runs of the model")
	}
	return number(float64(ranks(scores)[i])), nil
}

func rankShift(e *env, a args) (Value, error) {
	models, rates, err := e.modelScores("pass_rate")
	if err != nil {
		return Value{}, err
	}
	_, scores, err := e.modelScores("quality_score")
	if err != nil {
		return Value{}, err
	}
	byRate, byScore := ranks(rates), ranks(scores)
	most, who := -1, ""
	for i, m := range models {
		if shift := max(byRate[i]-byScore[i], byScore[i]-byRate[i]); shift > most {
			most, who = shift, m
		}
	}
	if a.get("of") == "model" {
		return text(who), nil
	}
	return number(float64(most)), nil
}

// cut finds the lowest score of the upper of two tiers that scores separate.
func cut(e *env, a args) (Value, error) {
	scores := func(tier string) ([]float64, error) {
		return e.numbers(args{{"tier", tier}, {"column", "quality_score"}})
	}
	below, err := scores(a.get("below"))
	if err != nil {
		return Value{}, err
	}
	above, err := scores(a.get("above"))
	if err != nil {
		return Value{}, err
	}
	if len(below) == 0 || len(above) == 0 || slices.Max(below) >= slices.Min(above) {
		return Value{}, undefined("no score separates the tiers")
	}
	return number(slices.Min(above)), nil
}

// most counts names and returns them by descending count, then name.
func most(names []string) (sorted []string, counts map[string]int) {
	counts = map[string]int{}
	for _, n := range names {
		if counts[n] == 0 {
			sorted = append(sorted, n)
		}
		counts[n]++
	}
	slices.SortFunc(sorted, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return sorted, counts
}

func (e *env) top(a args, name func(*run) string) (top []string, counts map[string]int, err error) {
	runs, err := e.runs(a, "")
	if err != nil {
		return nil, nil, err
	}
	n, err := strconv.Atoi(a.get("n"))
	if err != nil {
		return nil, nil, err
	}
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = name(r)
	}
	sorted, counts := most(names)
	return sorted[:min(n, len(sorted))], counts, nil
}

// topModels names the models with most of the runs, in alphabetical order.
func topModels(e *env, a args) (Value, error) {
	top, _, err := e.top(a, func(r *run) string { return r.Model })
	slices.Sort(top)
	return text(strings.Join(top, ", ")), err
}

// topTasks counts the runs of the tasks with most of them.
func topTasks(e *env, a args) (Value, error) {
	top, counts, err := e.top(a, func(r *run) string { return r.TaskID })
	n := 0
	for _, t := range top {
		n += counts[t]
	}
	return number(float64(n)), err
}

// curate describes the passes with the best scores; of equal ones the first ids.
func curate(e *env, a args) (Value, error) {
	passes, err := e.runs(args{{"passed", "true"}}, "")
	if err != nil {
		return Value{}, err
	}
	passes = slices.DeleteFunc(passes, func(r *run) bool {
		return r.QualityScore == nil || r.QualityTier == nil || r.CoherenceScore == nil
	})
	slices.SortStableFunc(passes, func(x, y *run) int { return cmp.Compare(*y.QualityScore, *x.QualityScore) })
	if n := a.get("n"); n != "all" {
		k, err := strconv.Atoi(n)
		if err != nil {
			return Value{}, err
		}
		passes = passes[:min(k, len(passes))]
	}
	if len(passes) == 0 {
		return Value{}, undefined("no passes")
	}
	of := a.get("of")
	sum := 0.0
	for _, r := range passes {
		switch of {
		case "coherence":
			sum += *r.CoherenceScore
		case "score":
			sum += float64(*r.QualityScore)
		default:
			if *r.QualityTier == of {
				sum += 100
			}
		}
	}
	n := float64(len(passes))
	switch taxonomy.Tier(of) {
	case "n":
		return number(n), nil
	case "lowest":
		return number(float64(*passes[len(passes)-1].QualityScore)), nil
	case "coherence", "score", taxonomy.Ideal, taxonomy.Solid, taxonomy.Lucky:
		return number(sum / n), nil
	}
	return Value{}, fmt.Errorf("of=%q: unknown", of)
}

// association tests the category against another column.
func association(e *env, a args) (Value, error) {
	runs, err := e.runs(a, "")
	if err != nil {
		return Value{}, err
	}
	categories, others := make([]string, len(runs)), make([]string, len(runs))
	for i, r := range runs {
		if r.categoryErr != nil {
			return Value{}, r.categoryErr
		}
		categories[i] = r.category
		if others[i], err = e.columns.text(reflect.ValueOf(r.Features).Elem(), a.get("column")); err != nil {
			return Value{}, err
		}
	}
	_, _, table, err := stats.Crosstab(categories, others)
	if err != nil {
		return Value{}, err
	}
	test, err := stats.ChiSquare(table, false)
	if err != nil {
		return Value{}, err
	}
	switch a.get("of") {
	case "chi2":
		return number(test.Statistic), nil
	case "dof":
		return number(float64(test.DoF)), nil
	case "p":
		return number(test.P), nil
	}
	strength, err := stats.Associate(table)
	if err != nil {
		return Value{}, err
	}
	return number(strength.CramerV.Value), strength.CramerV.Err
}

// matchCount returns a count behind the percentages of a run's match.
func matchCount(e *env, a args) (Value, error) {
	r, err := e.single(a)
	if err != nil {
		return Value{}, err
	}
	c, ok := countMatches(r.Features)
	if !ok {
		return Value{}, undefined("coverage and precision belong to no whole numbers of states")
	}
	switch of := a.get("of"); of {
	case "matched":
		return number(float64(c.matched)), nil
	case "steps":
		return number(float64(c.steps)), nil
	case "path":
		return number(float64(c.path)), nil
	default:
		return Value{}, fmt.Errorf("of=%q: unknown", of)
	}
}

// labelled returns a column and the outcome of the runs that have both.
func (e *env) labelled(column string) (scores []float64, passed []bool, err error) {
	for _, r := range e.table {
		x, ok, err := e.cell(r, column)
		if err != nil {
			return nil, nil, err
		}
		if ok && r.Passed != nil {
			scores, passed = append(scores, x), append(passed, *r.Passed)
		}
	}
	return scores, passed, nil
}

// outcomePoints are what a pass adds to the release's score.
const outcomePoints = 10

func auroc(e *env, a args) (Value, error) {
	column := a.get("column")
	scores, passed, err := e.labelled(column)
	if err != nil {
		return Value{}, err
	}
	area, err := stats.AUROC(scores, passed)
	if err != nil || column != "quality_score" {
		return number(area), err
	}
	blind := slices.Clone(scores)
	for i, p := range passed {
		if p {
			blind[i] -= outcomePoints
		}
	}
	without, err := stats.AUROC(blind, passed)
	if err != nil {
		return Value{}, err
	}
	v := number(area)
	v.note = fmt.Sprintf("without these points the AUROC is %.3f", without)
	eq1, passed := e.equation1()
	if area, err := stats.AUROC(eq1, passed); err == nil {
		v.note += fmt.Sprintf(", that of Eq. 1 over the columns %.3f", area)
	}
	return v, nil
}

// equation1 is the paper's score with the columns that come closest to its signals.
func (e *env) equation1() (scores []float64, passed []bool) {
	for _, r := range e.table {
		if r.Passed == nil || r.F1Score == nil || r.CoveragePercent == nil || r.CoherenceScore == nil || r.TemporalProfileScore == nil {
			continue
		}
		f := float64(0.20**r.F1Score) + float64(0.15**r.CoveragePercent) + float64(30**r.CoherenceScore) + float64(35**r.TemporalProfileScore)
		scores, passed = append(scores, f), append(passed, *r.Passed)
	}
	return scores, passed
}

func ksP(e *env, a args) (Value, error) {
	scores, passed, err := e.labelled(a.get("column"))
	if err != nil {
		return Value{}, err
	}
	r, err := ks(scores, passed)
	if err != nil {
		return Value{}, err
	}
	v := number(r.P)
	v.note = fmt.Sprintf("%d passing and %d failing runs have D = %.3f", r.N1, r.N2, r.D)
	return v, nil
}

func ks(scores []float64, passed []bool) (stats.KSResult, error) {
	var pass, fail []float64
	for i, p := range passed {
		if p {
			pass = append(pass, scores[i])
		} else {
			fail = append(fail, scores[i])
		}
	}
	return stats.KS(pass, fail, stats.TwoSided, stats.KSAsymptotic)
}

func (e *env) confusion(a args) (stats.Confusion, error) {
	scores, passed, err := e.labelled(a.get("column"))
	if err != nil {
		return stats.Confusion{}, err
	}
	threshold, err := strconv.ParseFloat(a.get("threshold"), 64)
	if err != nil {
		return stats.Confusion{}, err
	}
	return stats.Confuse(scores, passed, threshold)
}

func accuracy(e *env, a args) (Value, error) {
	c, err := e.confusion(a)
	if err != nil {
		return Value{}, err
	}
	x, err := c.Accuracy()
	return number(scale(x, a)), err
}

func f1(e *env, a args) (Value, error) {
	c, err := e.confusion(a)
	if err != nil {
		return Value{}, err
	}
	x, err := c.F1()
	return number(x), err
}

func youden(e *env, a args) (Value, error) {
	scores, passed, err := e.labelled(a.get("column"))
	if err != nil {
		return Value{}, err
	}
	p, err := stats.Youden(scores, passed, stats.LowestThreshold)
	return number(p.Threshold), err
}

func tokens(e *env, a args) (Value, error) {
	runs, err := e.runs(a, "")
	if err != nil {
		return Value{}, err
	}
	x := make([]float64, len(runs))
	for i, r := range runs {
		n, err := r.tokens()
		if err != nil {
			return Value{}, err
		}
		x[i] = float64(n)
	}
	return aggregate(x, a.get("of"))
}

// stages returns the stage letters of a run without those of unlabelled states.
func stages(e *env, a args) (Value, error) {
	r, err := e.single(a)
	if err != nil {
		return Value{}, err
	}
	if r.states == nil {
		return Value{}, missing("missing_states")
	}
	return text(strings.ReplaceAll(r.states.StagesRelease, "-", "")), nil
}

func calls(e *env, a args) (Value, error) {
	known := false
	n := int64(0)
	for _, c := range e.calls {
		if c.TrajectoryID != a.get("id") {
			continue
		}
		known = true
		if c.Tool == a.get("tool") {
			n += c.Calls
		}
	}
	if !known {
		return Value{}, missing("missing_states")
	}
	return number(float64(n)), nil
}

// taskColumn returns the value a column of the task table has in every row.
func taskColumn(e *env, a args) (Value, error) {
	if len(e.tasks) == 0 {
		return Value{}, missing("missing_tasks")
	}
	columns := newFields(reflect.TypeOf(e.tasks[0]))
	same := math.NaN()
	for i := range e.tasks {
		x, ok, err := columns.cell(reflect.ValueOf(&e.tasks[i]).Elem(), a.get("column"))
		if err != nil {
			return Value{}, err
		}
		if i == 0 && ok {
			same = x
		}
		if !ok || x != same {
			return Value{}, undefined("tasks differ")
		}
	}
	return number(same), nil
}

func reference(e *env, a args) (Value, error) {
	for i := range e.references {
		r := &e.references[i]
		if r.TaskID != a.get("task") {
			continue
		}
		x, _, err := newFields(reflect.TypeOf(*r)).cell(reflect.ValueOf(r).Elem(), a.get("column"))
		return number(x), err
	}
	return Value{}, missing("missing_references")
}

// pair recomputes the two figures a and b.
func (e *env) pair(a args) (x, y float64, err error) {
	first, err := e.value(a.get("a"))
	if err != nil {
		return 0, 0, err
	}
	second, err := e.value(a.get("b"))
	return first.Number, second.Number, err
}

func ratio(e *env, a args) (Value, error) {
	x, y, err := e.pair(a)
	return number(scale(x/y, a)), err
}

func product(e *env, a args) (Value, error) {
	x, y, err := e.pair(a)
	return number(x * y), err
}

func difference(e *env, a args) (Value, error) {
	x, y, err := e.pair(a)
	return number(x - y), err
}

func scale(x float64, a args) float64 {
	if a.get("percent") == "true" {
		return 100 * x
	}
	return x
}

package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
)

// These recipes test the paper against itself: they recompute a figure from others it
// prints, or from its formula.

func (e *env) printedList(a args, key string) ([]float64, error) {
	ids := a.list(key)
	out := make([]float64, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = e.printed(id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// printedArgs returns the printed numbers of the figures that the arguments name.
func (e *env) printedArgs(a args, keys ...string) ([]float64, error) {
	out := make([]float64, len(keys))
	for i, key := range keys {
		var err error
		if out[i], err = e.printed(a.get(key)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

func cellsSame(e *env, a args) (Value, error) {
	x, err := e.printed(a.get("id"))
	return number(x), err
}

func cellsSum(e *env, a args) (Value, error) {
	x, err := e.printedList(a, "ids")
	return number(total(x)), err
}

func cellsProduct(e *env, a args) (Value, error) {
	x, err := e.printedList(a, "ids")
	p := 1.0
	for _, v := range x {
		p *= v
	}
	return number(p), err
}

func cellsMean(e *env, a args) (Value, error) {
	x, err := e.printedList(a, "ids")
	return number(total(x) / float64(len(x))), err
}

func cellsOneMinusMean(e *env, a args) (Value, error) {
	m, err := cellsMean(e, a)
	return number(1 - m.Number), err
}

func cellsDiff(e *env, a args) (Value, error) {
	x, err := e.printedArgs(a, "a", "b")
	if err != nil {
		return Value{}, err
	}
	return number(x[0] - x[1]), nil
}

func cellsRatio(e *env, a args) (Value, error) {
	x, err := e.printedArgs(a, "a", "b")
	if err != nil {
		return Value{}, err
	}
	return number(scale(x[0]/x[1], a)), nil
}

func harmonic(p, r float64) float64 { return 2 * p * r / (p + r) }

func cellsF1(e *env, a args) (Value, error) {
	x, err := e.printedArgs(a, "p", "r")
	if err != nil {
		return Value{}, err
	}
	return number(harmonic(x[0], x[1])), nil
}

// cellsF1Of is the F1 of recall rn/rd and precision pn/pd.
func cellsF1Of(e *env, a args) (Value, error) {
	x, err := e.printedArgs(a, "rn", "rd", "pn", "pd")
	if err != nil {
		return Value{}, err
	}
	return number(harmonic(x[2]/x[3], x[0]/x[1])), nil
}

// cellsRecall is the accuracy, in per cent, that recalls per class and supports give. Right
// answers are whole numbers, so rounded recalls give them exactly.
func cellsRecall(e *env, a args) (Value, error) {
	support, err := e.printedList(a, "weights")
	if err != nil {
		return Value{}, err
	}
	recall, err := e.printedList(a, "values")
	if err != nil {
		return Value{}, err
	}
	right := 0.0
	for i, n := range support {
		right += math.Round(n * recall[i])
	}
	return number(100 * right / total(support)), nil
}

func (e *env) family(a args) []*definition {
	var out []*definition
	for _, d := range e.defs {
		if strings.HasPrefix(d.id, a.get("prefix")) && strings.HasSuffix(d.id, a.get("suffix")) {
			out = append(out, d)
		}
	}
	return out
}

func cellsCount(e *env, a args) (Value, error) { return number(float64(len(e.family(a)))), nil }

func cellsYes(e *env, a args) (Value, error) {
	n := 0.0
	for _, d := range e.family(a) {
		if d.published.text == "yes" {
			n++
		}
	}
	return number(n), nil
}

// orderRuns are the results of one combination of runs, merged in several orders (Table 20).
type orderRuns struct{ mean, variance float64 }

// ordersPerCombination is the number of orders tried for each combination.
const ordersPerCombination = 6

// order finds the results behind a printed mean: six values, each 2/3 or 1, the only two
// that the means and deviations of Table 20 leave room for.
func (e *env) order(combo string) (orderRuns, error) {
	d, ok := e.byID["t20.c"+combo+".mean"]
	if !ok {
		return orderRuns{}, fmt.Errorf("no combination %q", combo)
	}
	for perfect := range ordersPerCombination + 1 {
		p := float64(perfect) / ordersPerCombination
		m := 2.0/3 + p/3
		if d.published.agrees(number(m)) {
			return orderRuns{mean: m, variance: p * (1 - p) / 9 * ordersPerCombination / (ordersPerCombination - 1)}, nil
		}
	}
	return orderRuns{}, undefined("no six results of 2/3 and 1 have the mean " + d.published.text)
}

func (e *env) orders() ([]orderRuns, error) {
	var out []orderRuns
	for i := 0; e.byID["t20.c"+strconv.Itoa(i)+".mean"] != nil; i++ {
		o, err := e.order(strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func ordersSD(e *env, a args) (Value, error) {
	o, err := e.order(a.get("combo"))
	return number(math.Sqrt(o.variance)), err
}

func ordersInvariant(e *env, a args) (Value, error) {
	o, err := e.order(a.get("combo"))
	if o.variance == 0 {
		return text("yes"), err
	}
	return text("no"), err
}

// spread splits the variance of all results: between is that of the combinations' means,
// within the mean variance inside them, both with divisor n-1.
func (e *env) spread() (mean, between, within float64, n int, err error) {
	all, err := e.orders()
	if err != nil {
		return 0, 0, 0, 0, err
	}
	n = len(all)
	for _, o := range all {
		mean += o.mean / float64(n)
		within += o.variance / float64(n)
	}
	for _, o := range all {
		d := o.mean - mean
		between += float64(d*d) / float64(n-1)
	}
	return mean, between, within, n, nil
}

func ordersMean(e *env, _ args) (Value, error) {
	mean, _, _, _, err := e.spread()
	return number(mean), err
}

// ordersTotalSD is the standard deviation of all results, divisor n.
func ordersTotalSD(e *env, _ args) (Value, error) {
	_, between, within, n, err := e.spread()
	const k = ordersPerCombination
	return number(math.Sqrt(float64(between*float64(n-1)/float64(n)) + float64(within*(k-1)/k))), err
}

func ordersPerfect(e *env, _ args) (Value, error) {
	all, err := e.orders()
	n := 0.0
	for _, o := range all {
		if o.mean == 1 {
			n++
		}
	}
	return number(n), err
}

func ordersSelection(e *env, _ args) (Value, error) {
	_, between, within, _, err := e.spread()
	return number(100 * between / (between + within)), err
}

func ordersOrder(e *env, _ args) (Value, error) {
	_, between, within, _, err := e.spread()
	return number(100 * within / (between + within)), err
}

func permutations(_ *env, a args) (Value, error) {
	k, err := strconv.Atoi(a.get("k"))
	n := 1.0
	for i := 2; i <= k; i++ {
		n *= float64(i)
	}
	return number(n), err
}

// steps are the stages of a worked example, one letter each, all by the same tool.
func exampleSteps(a args) ([]waste.Step, error) {
	var out []waste.Step
	for _, letter := range a.get("stages") {
		stage, err := trajectory.ParseStage(string(letter))
		if err != nil {
			return nil, err
		}
		out = append(out, waste.Step{Stage: stage, Tool: "run_in_terminal"})
	}
	return out, nil
}

func countMove(steps []waste.Step, move waste.Move) int {
	n := 0
	for i := 1; i < len(steps); i++ {
		if waste.Between(steps[i-1].Stage, steps[i].Stage) == move {
			n++
		}
	}
	return n
}

func moves(_ *env, a args) (Value, error) {
	steps, err := exampleSteps(a)
	if err != nil {
		return Value{}, err
	}
	switch of := a.get("of"); of {
	case "pivots":
		return number(float64(countMove(steps, waste.Pivot))), nil
	case "deepenings":
		return number(float64(countMove(steps, waste.Deepen))), nil
	case "backtracks":
		return number(float64(countMove(steps, waste.Back))), nil
	case "retries":
		return number(float64(waste.EqualRunExcess(steps))), nil
	default:
		return Value{}, fmt.Errorf("of=%q: unknown", of)
	}
}

// eq2 is the paper's coherence (Eq. 2) of a worked example, with the retries it prints.
func eq2(e *env, a args) (Value, error) {
	steps, err := exampleSteps(a)
	if err != nil {
		return Value{}, err
	}
	retries, err := e.printed(a.get("retries"))
	if err != nil {
		return Value{}, err
	}
	forward := float64(countMove(steps, waste.Pivot) + countMove(steps, waste.Confirm))
	back := float64(countMove(steps, waste.Back))
	return number(forward / (forward + back) * (1 - retries/float64(len(steps)-1))), nil
}

func toolStage(_ *env, a args) (Value, error) {
	t := trajectory.LookupTool(a.get("tool"))
	switch {
	case !t.Exact:
		return Value{}, undefined("the tool is not registered")
	case t.Context:
		return text("context"), nil
	}
	return text(string(t.Hint.Letter())), nil
}

func toolComparison(_ *env, a args) (Value, error) {
	t := trajectory.LookupTool(a.get("tool"))
	if !t.Exact {
		return Value{}, undefined("the tool is not registered")
	}
	switch t.Comparison {
	case trajectory.ByFilePath:
		return text("file path"), nil
	case trajectory.ByQuery:
		return text("query"), nil
	case trajectory.ByCommand:
		return text("command"), nil
	case trajectory.ByNothing:
		return text("nothing"), nil
	}
	return text("identity"), nil
}

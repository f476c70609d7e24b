package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// drawOrder returns the passing runs of a task (indexes) in the order of a draw.
func drawOrder(task *steps.Task, draw uint64) []int {
	at := map[string]int{}
	var ids []string
	for i := range task.Runs {
		if task.Runs[i].Outcome == trajectory.Pass {
			at[task.Runs[i].ID] = i
			ids = append(ids, task.Runs[i].ID)
		}
	}
	order := make([]int, len(ids))
	for k, id := range profile.HashOrder(ids, fmt.Sprintf("%d:", draw)) {
		order[k] = at[id]
	}
	return order
}

// judged are the runs of a task with a known outcome and a score.
func judged(task *steps.Task, scores []*float64) (values []float64, pass []bool) {
	for i, s := range scores {
		if o := task.Runs[i].Outcome; s != nil && o != trajectory.Unknown {
			values, pass = append(values, *s), append(pass, o == trajectory.Pass)
		}
	}
	return values, pass
}

// MergeCountOptions say how many runs to merge and how often to draw them.
type MergeCountOptions struct {
	Ks       []int // each at least 2, ascending
	Draws    int   // references drawn per task and k, at least 1; the first is draw Sampling.Seed
	Params   paper.Params
	Sampling stats.Resampling
}

// Validate says which option can't be used.
func (o MergeCountOptions) Validate() error {
	for i, k := range o.Ks {
		if k < profile.MinReferences || i > 0 && k <= o.Ks[i-1] {
			return usage.Errorf("", "k %v; want ascending numbers from %d on", o.Ks, profile.MinReferences)
		}
	}
	if len(o.Ks) == 0 || o.Draws < 1 {
		return usage.Errorf("", "%d values of k and %d draws; want at least one of each", len(o.Ks), o.Draws)
	}
	return checkPaper(o.Params)
}

func checkPaper(p paper.Params) error {
	if err := p.Validate(); err != nil {
		return usage.Errorf("", "%w", err)
	}
	return nil
}

// MergeCount is the effect of how many runs make a reference (the paper's Table 19). The
// first k passing runs of a draw are merged and judge all other runs of the task. A task can
// be scored when a passing run is left over and a run fails.
type MergeCount struct {
	Labels string      `json:"labels"`
	Draws  int         `json:"draws"`
	Tasks  int         `json:"tasks"`
	Common int         `json:"common_tasks"` // tasks scored with every k
	Runs   int         `json:"runs"`         // with a known outcome
	Cut    float64     `json:"cut"`          // of AccuracyAtCut
	Counts []CountRow  `json:"counts"`
	Oracle *Separation `json:"pass_rates"` // the oracle over all runs; it has no other score
}

// CountRow is one k. Mean and SD are over tasks, of the AUROC inside the task averaged over
// its draws.
type CountRow struct {
	K             int      `json:"k"`
	Tasks         int      `json:"tasks_scored"`
	Runs          int      `json:"runs_scored"` // of scored tasks, in at least one draw
	Mean          *float64 `json:"auroc_mean"`
	SD            *float64 `json:"auroc_sd"`        // sample standard deviation
	CommonMean    *float64 `json:"auroc_common"`    // mean over the common tasks only
	Accuracy      *float64 `json:"youden_accuracy"` // mean over tasks, each with its own best threshold
	AccuracyAtCut *float64 `json:"accuracy_at_cut"` // mean over tasks, of passing at or above Cut

	// Block takes every draw's score of a run as one row.
	Block *Block `json:"separation"`
}

// countTask is what one task gives to every k.
type countTask struct {
	runs []Run
	ks   []countOfTask
}

type countOfTask struct {
	auroc, youden, cut []float64    // by draw
	scores             [][]*float64 // by draw and run
}

// AblateMergeCount draws references of each size.
func AblateMergeCount(ctx context.Context, c Corpus, opt MergeCountOptions) (MergeCount, error) {
	out := MergeCount{Labels: string(opt.Params.Labels), Draws: opt.Draws, Cut: opt.Params.Cuts.Solid}
	if err := opt.Validate(); err != nil {
		return out, err
	}
	parts, err := eachSteps(ctx, c, func(ctx context.Context, t *steps.Task) (countTask, error) { return countMerges(ctx, t, opt) })
	if err != nil {
		return out, err
	}
	var runs []Run
	for _, p := range parts {
		runs = append(runs, p.runs...)
	}
	r, unknown, _ := usable(runs, nil)
	if err := twoOutcomes(r.pass, unknown, 0); err != nil {
		return out, err
	}
	out.Tasks, out.Runs = len(parts), len(r.at)
	all := Separation{Scores: []Block{}, Unknown: unknown, Level: opt.Sampling.Level, Resamples: opt.Sampling.Resamples, Seed: opt.Sampling.Seed}
	if all.Oracle, all.OracleLeft, err = oracle(r, opt.Sampling); err != nil {
		return out, err
	}
	out.Oracle = &all
	common := make([]bool, len(parts))
	for i, p := range parts {
		common[i] = !slices.ContainsFunc(p.ks, func(k countOfTask) bool { return len(k.auroc) == 0 })
		if common[i] {
			out.Common++
		}
	}
	for i, k := range opt.Ks {
		row, err := countRow(k, i, parts, common, opt.Sampling)
		if err != nil {
			return out, err
		}
		out.Counts = append(out.Counts, row)
	}
	return out, nil
}

func countMerges(ctx context.Context, t *steps.Task, opt MergeCountOptions) (countTask, error) {
	out := countTask{runsOfSteps(t), make([]countOfTask, len(opt.Ks))}
	var lists [][]int
	for d := range opt.Draws {
		order := drawOrder(t, opt.Sampling.Seed+uint64(d))
		for _, k := range opt.Ks {
			if k < len(order) {
				lists = append(lists, order[:k])
			}
		}
	}
	scores, err := paper.Against(ctx, t, opt.Params, lists)
	if err != nil {
		return out, err
	}
	for l, list := range lists {
		to := &out.ks[slices.Index(opt.Ks, len(list))]
		values, pass := judged(t, scores[l])
		auroc, err := stats.AUROC(values, pass)
		if err != nil { // one outcome is left
			continue
		}
		youden, err := stats.Youden(values, pass, stats.LowestThreshold)
		if err != nil {
			return out, err
		}
		to.auroc = append(to.auroc, auroc)
		to.youden = append(to.youden, accuracy(values, pass, youden.Threshold))
		to.cut = append(to.cut, accuracy(values, pass, opt.Params.Cuts.Solid))
		to.scores = append(to.scores, scores[l])
	}
	return out, nil
}

// accuracy of predicting pass at or above the threshold, for at least one row.
func accuracy(values []float64, pass []bool, threshold float64) float64 {
	right := 0
	for i, v := range values {
		if (v >= threshold) == pass[i] {
			right++
		}
	}
	return float64(right) / float64(len(values))
}

func countRow(k, at int, parts []countTask, common []bool, sampling stats.Resampling) (CountRow, error) {
	row := CountRow{K: k}
	var means, shared, youden, cut []float64
	var all rows
	var scores []float64
	for t, p := range parts {
		of := p.ks[at]
		if len(of.auroc) == 0 {
			continue
		}
		row.Tasks++
		means = append(means, mean(of.auroc))
		youden, cut = append(youden, mean(of.youden)), append(cut, mean(of.cut))
		if common[t] {
			shared = append(shared, mean(of.auroc))
		}
		for i, run := range p.runs {
			n := len(scores)
			for _, draw := range of.scores {
				if draw[i] != nil && run.Outcome != trajectory.Unknown {
					all.add(i, run)
					scores = append(scores, *draw[i])
				}
			}
			if len(scores) > n {
				row.Runs++
			}
		}
	}
	if row.Tasks == 0 {
		return row, nil
	}
	row.Mean, row.SD, row.CommonMean = some(mean(means)), sampleSD(means), nil
	row.Accuracy, row.AccuracyAtCut = some(mean(youden)), some(mean(cut))
	if len(shared) > 0 {
		row.CommonMean = some(mean(shared))
	}
	b, err := separate(fmt.Sprintf("k = %d", k), scores, all, sampling)
	row.Block = &b
	return row, err
}

func some(v float64) *float64 { return &v }

// mean of at least one value, in order.
func mean(x []float64) float64 { return total(x) / float64(len(x)) }

// sampleSD is nil for fewer than two values.
func sampleSD(x []float64) *float64 {
	if len(x) < 2 {
		return nil
	}
	return some(math.Sqrt(squares(x) / float64(len(x)-1)))
}

// squares is the sum of squared differences from the mean, exactly 0 for equal values.
func squares(x []float64) float64 {
	if slices.Min(x) == slices.Max(x) {
		return 0
	}
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += float64((v - m) * (v - m))
	}
	return sum
}

// MergeOrderOptions say which references of one task to merge in which orders.
type MergeOrderOptions struct {
	K        int // runs per reference, at least 2
	Combos   int // different sets of runs; all there are when there are no more
	Orders   int // different orders per set; 0 means all
	Params   paper.Params
	Sampling stats.Resampling // the first set is the first K of draw Sampling.Seed
	Jobs     int
}

// maxOrders bounds the orders that Orders = 0 stands for: K up to 7.
const maxOrders = 5040

// Validate says which option can't be used.
func (o MergeOrderOptions) Validate() error {
	if o.K < profile.MinReferences || o.Combos < 1 || o.Orders < 0 {
		return usage.Errorf("", "k %d, %d combinations, %d orders; want k of at least %d, a combination, and 0 (all) or more orders", o.K, o.Combos, o.Orders, profile.MinReferences)
	}
	if o.Orders == 0 && factorial(o.K, maxOrders) > maxOrders {
		return usage.Errorf("", "all orders of %d runs are more than %d; ask for a number of orders", o.K, maxOrders)
	}
	return checkPaper(o.Params)
}

// MergeOrder is the effect of the order in which the same runs are merged (the paper's Table
// 20), on all other runs of the task.
type MergeOrder struct {
	Task   string  `json:"task"`
	Labels string  `json:"labels"`
	K      int     `json:"k"`
	Orders int     `json:"orders"` // per set
	All    bool    `json:"all_orders"`
	Combos []Combo `json:"combinations"`

	AUROCMean float64  `json:"auroc_mean"` // over sets and orders
	AUROCSD   *float64 `json:"auroc_sd"`
	Perfect   int      `json:"perfect"`   // sets with an AUROC of 1 in every order
	Invariant int      `json:"invariant"` // sets whose AUROC is the same in every order

	// The variation of the AUROC, and of the runs' scores, splits exactly into that between
	// the means of the sets (selection) and that between the orders of a set (order). Null
	// when nothing varies.
	AUROCSelection *float64 `json:"auroc_selection_share"`
	AUROCOrder     *float64 `json:"auroc_order_share"`
	ScoreSelection *float64 `json:"score_selection_share"` // summed over the runs that no set holds
	ScoreOrder     *float64 `json:"score_order_share"`

	// Separation is that of the sets' scores, each in the order of its draw, one row per
	// run and set. All of it is one task: there is no macro average over tasks, no interval
	// and no oracle.
	Separation Block `json:"separation"`
	Unknown    int   `json:"left_out_unknown_outcome"`
}

// Combo is one set of merged runs.
type Combo struct {
	Members   []string `json:"members"` // in the order of the draw
	AUROCMean float64  `json:"auroc_mean"`
	AUROCSD   *float64 `json:"auroc_sd"`
	Low       float64  `json:"auroc_low"`
	High      float64  `json:"auroc_high"`
	Invariant bool     `json:"invariant"` // the AUROC is the same in every order
	ScoreSD   float64  `json:"score_sd"`  // population standard deviation over the orders, mean over the runs
}

// AblateMergeOrder merges sets of runs in many orders.
func AblateMergeOrder(ctx context.Context, task profile.Task, opt MergeOrderOptions) (MergeOrder, error) {
	out := MergeOrder{Task: task.ID, Labels: string(opt.Params.Labels), K: opt.K}
	if err := opt.Validate(); err != nil {
		return out, err
	}
	possible := factorial(opt.K, maxOrders)
	t, err := steps.Load(ctx, task, shell.New(shell.Options{}))
	if err != nil {
		return out, err
	}
	pass, fail := 0, 0
	for _, r := range t.Runs {
		switch r.Outcome {
		case trajectory.Pass:
			pass++
		case trajectory.Fail:
			fail++
		case trajectory.Unknown:
			out.Unknown++
		}
	}
	if pass <= opt.K || fail == 0 {
		return out, fmt.Errorf("task %s has %d passing and %d failing runs: with %d passing runs merged, at least one of each outcome must be left to judge; take another task, or a smaller k",
			task.ID, pass, fail, opt.K)
	}
	sets := combinations(t, opt)
	out.All = opt.Orders == 0 || opt.Orders >= possible
	orders := possible
	if !out.All {
		orders = opt.Orders
	}
	out.Orders = orders

	scores := make([][][]*float64, len(sets)) // by set, order and run
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(opt.Jobs)
	for s, set := range sets {
		g.Go(func() error {
			lists := make([][]int, 0, orders)
			for _, p := range permutations(opt.K, orders, out.All, opt.Sampling.Seed, uint64(s)) {
				list := make([]int, opt.K)
				for i, from := range p {
					list[i] = set[from]
				}
				lists = append(lists, list)
			}
			var err error
			scores[s], err = paper.Against(ctx, t, opt.Params, lists)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return out, err
	}
	return out, out.sumUp(t, sets, scores)
}

func (m *MergeOrder) sumUp(t *steps.Task, sets [][]int, scores [][][]*float64) error {
	var every, setMeans []float64
	within := 0.0
	var first rows
	var firstScores []float64
	for s, set := range sets {
		var c Combo
		for _, i := range set {
			c.Members = append(c.Members, t.Runs[i].ID)
		}
		var aurocs []float64
		for _, byRun := range scores[s] {
			values, pass := judged(t, byRun)
			a, err := stats.AUROC(values, pass)
			if err != nil {
				return fmt.Errorf("task %s: %w", t.ID, err)
			}
			aurocs = append(aurocs, a)
		}
		c.AUROCMean, c.AUROCSD = mean(aurocs), sampleSD(aurocs)
		c.Low, c.High = slices.Min(aurocs), slices.Max(aurocs)
		if c.Invariant = c.Low == c.High; c.Invariant {
			c.AUROCMean = c.Low // the mean of equal values may be off by rounding
			m.Invariant++
		}
		if c.Low == 1 {
			m.Perfect++
		}
		var sds []float64
		for i, run := range runsOfSteps(t) {
			own := column(scores[s], i)
			if len(own) == 0 || run.Outcome == trajectory.Unknown {
				continue
			}
			sds = append(sds, math.Sqrt(squares(own)/float64(len(own))))
			first.add(i, run)
			firstScores = append(firstScores, own[0])
		}
		c.ScoreSD = mean(sds)
		m.Combos = append(m.Combos, c)
		every = append(every, aurocs...)
		setMeans = append(setMeans, c.AUROCMean)
		within += squares(aurocs)
	}
	m.AUROCMean, m.AUROCSD = mean(every), sampleSD(every)
	m.AUROCSelection, m.AUROCOrder = split(float64(float64(m.Orders)*squares(setMeans)), within)

	between, inside := 0.0, 0.0
	for i := range t.Runs {
		var means []float64
		rest := 0.0
		for s := range sets {
			if own := column(scores[s], i); len(own) > 0 {
				means = append(means, mean(own))
				rest += squares(own)
			}
		}
		if len(means) == len(sets) {
			between += float64(float64(m.Orders) * squares(means))
			inside += rest
		}
	}
	m.ScoreSelection, m.ScoreOrder = split(between, inside)

	var err error
	m.Separation, err = separate(fmt.Sprintf("k = %d", m.K), firstScores, first, stats.Resampling{})
	return err
}

// column gathers the scores of one run over the orders; a run is judged in all or in none.
func column(byOrder [][]*float64, run int) []float64 {
	var out []float64
	for _, scores := range byOrder {
		if scores[run] != nil {
			out = append(out, *scores[run])
		}
	}
	return out
}

func split(a, b float64) (*float64, *float64) {
	if a+b == 0 {
		return nil, nil
	}
	return some(a / (a + b)), some(b / (a + b))
}

// combinations returns different sets of K passing runs: the first K of consecutive draws.
// When there are no more than asked for, all are returned, in lexicographic order.
func combinations(t *steps.Task, opt MergeOrderOptions) [][]int {
	order := drawOrder(t, opt.Sampling.Seed)
	if choose(len(order), opt.K, opt.Combos) <= opt.Combos {
		passing := slices.Sorted(slices.Values(order))
		var out [][]int
		set := make([]int, 0, opt.K)
		var fill func(from int)
		fill = func(from int) {
			if len(set) == opt.K {
				out = append(out, slices.Clone(set))
				return
			}
			for i := from; i < len(passing); i++ {
				set = append(set, passing[i])
				fill(i + 1)
				set = set[:len(set)-1]
			}
		}
		fill(0)
		return out
	}
	var out [][]int
	seen := map[string]bool{}
	for draw := opt.Sampling.Seed; len(out) < opt.Combos; draw++ {
		set := drawOrder(t, draw)[:opt.K]
		if key := fmt.Sprint(slices.Sorted(slices.Values(set))); !seen[key] {
			seen[key] = true
			out = append(out, set)
		}
	}
	return out
}

// permutations returns different orders of 0..k-1, the identity first: all in lexicographic
// order, or n drawn at random.
func permutations(k, n int, all bool, seed, stream uint64) [][]int {
	identity := make([]int, k)
	for i := range identity {
		identity[i] = i
	}
	if all {
		var out [][]int
		for p := identity; p != nil; p = next(p) {
			out = append(out, p)
		}
		return out
	}
	out := [][]int{identity}
	rng := rand.New(rand.NewPCG(seed, stream))
	seen := map[string]bool{fmt.Sprint(identity): true}
	for len(out) < n {
		p := rng.Perm(k)
		if key := fmt.Sprint(p); !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

// next returns the permutation that follows in lexicographic order, nil after the last.
func next(p []int) []int {
	i := len(p) - 2
	for i >= 0 && p[i] > p[i+1] {
		i--
	}
	if i < 0 {
		return nil
	}
	q := slices.Clone(p)
	j := len(q) - 1
	for q[j] < q[i] {
		j--
	}
	q[i], q[j] = q[j], q[i]
	slices.Reverse(q[i+1:])
	return q
}

// factorial returns k!, or some number above limit.
func factorial(k, limit int) int {
	n := 1
	for i := 2; i <= k && n <= limit; i++ {
		n *= i
	}
	return n
}

// choose returns n over k, or some number above limit.
func choose(n, k, limit int) int {
	c := 1
	for i := 1; i <= k; i++ {
		c = c * (n - k + i) / i
		if c > limit {
			return c
		}
	}
	return c
}

// FindTask returns the index of the named task; with an empty name, that of the only one.
func FindTask(ids []string, name string) (int, error) {
	if name == "" && len(ids) == 1 {
		return 0, nil
	}
	for i, id := range ids {
		if id == name {
			return i, nil
		}
	}
	some := slices.Clone(ids[:min(5, len(ids))])
	slices.SortFunc(some, cmp.Compare)
	if name == "" {
		return 0, usage.Errorf("", "name one of the %d tasks with option task, such as %s", len(ids), strings.Join(some, ", "))
	}
	return 0, usage.Errorf("", "the source has no task %q; it has %d, such as %s", name, len(ids), strings.Join(some, ", "))
}

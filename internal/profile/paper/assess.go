package paper

import (
	"context"
	"math"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// AssessSteps emits the references of a task and one row set per run. The params must be valid.
func AssessSteps(ctx context.Context, task *steps.Task, params Params, emit profile.Emitter) error {
	d := newDonors(task, params)
	refs, of := d.plain()
	for _, ref := range refs {
		d.describe(ref)
		if err := emit.Reference(d.rows(ref)); err != nil {
			return err
		}
	}
	var c candidate
	for i := range task.Runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit.Run(assess(&c, d, i, of[i])); err != nil {
			return err
		}
	}
	return nil
}

func assess(c *candidate, d *donors, i int, ref *reference) profile.RunRows {
	run := &d.task.Runs[i]
	switch {
	case len(run.Steps) == 0:
		return unscored(run.ID, "empty")
	case ref == nil:
		return unscored(run.ID, "too_few_references")
	}
	c.use(d, i)
	plain := c.score(ref)
	return c.rows(ref, plain, c.detail(ref, plain),
		Summarise(c.drawScores(), d.params.Cuts, run.Outcome))
}

// DrawScores returns f of every run in draws 1..params.Draws: one slice per run of the task,
// nil for a run that can't be scored. Runs are judged against the references of each draw,
// keyed as in docs/spec/paper.md, section 2.
func DrawScores(ctx context.Context, task *steps.Task, params Params) ([][]float64, error) {
	d := newDonors(task, params)
	out := make([][]float64, len(task.Runs))
	var c candidate
	for i := range task.Runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(task.Runs[i].Steps) > 0 && d.reference(i, 0) != nil {
			c.use(d, i)
			out[i] = c.drawScores()
		}
	}
	return out, nil
}

// drawScores are nil when no draws are asked for. Whether there are enough references does
// not depend on the draw.
func (c *candidate) drawScores() []float64 {
	if c.donors.params.Draws == 0 {
		return nil
	}
	known := map[*reference]float64{}
	scores := make([]float64, c.donors.params.Draws)
	for k := range scores {
		ref := c.donors.reference(c.run, k+1)
		f, ok := known[ref]
		if !ok {
			f = c.score(ref).f
			known[ref] = f
		}
		scores[k] = f
	}
	return scores
}

// Draws summarises the scores of one run against many references.
type Draws struct {
	N     int
	Mean  float64
	SD    float64       // sample standard deviation, 0 for one draw
	Tier  taxonomy.Tier // of the mean, "" when the outcome is unknown
	Share float64       // of the draws whose own tier is Tier
}

// Summarise returns the summary of scores in draw order, nil for no scores.
func Summarise(scores []float64, cuts Cuts, outcome trajectory.Outcome) *Draws {
	n := len(scores)
	if n == 0 {
		return nil
	}
	sum := 0.0
	for _, f := range scores {
		sum += f
	}
	out := &Draws{N: n, Mean: sum / float64(n)}
	out.Tier = taxonomy.Cuts(cuts).Tier(out.Mean, outcome)
	squares, same := 0.0, 0
	for _, f := range scores {
		squares += float64((f - out.Mean) * (f - out.Mean))
		if taxonomy.Cuts(cuts).Tier(f, outcome) == out.Tier {
			same++
		}
	}
	if n > 1 {
		out.SD = math.Sqrt(squares / float64(n-1))
	}
	out.Share = float64(same) / float64(n)
	return out
}

// detail is what is said about a scored run beyond the score, all of it about the best path
// of the plain reference.
type detail struct {
	scanned   []int  // step the forward scan took for each position, -1 for none
	matched   []bool // positions in the first largest matchable set
	hit       []bool // steps that some node matches
	firstStep int    // first step without a hit, -1 when all have one
	firstPos  int    // first position that is not matched, -1 when all are
	matchable int64  // steps with a hit

	events   []event
	waste    wasteSum
	labels   labelSet          // of the run
	path     labelSet          // of the best path
	covered  labelSet          // matched positions of the best path
	lucky    taxonomy.Category // that of a lucky run, whatever the score
	why      string            // the rule behind it
	impl     *float64          // matched implementation positions, 0-1
	explore  float64
	in, out  int64 // tokens of all steps
	win, wou int64 // tokens of the wasted steps
}

func (c *candidate) detail(ref *reference, s score) detail {
	d := c.donors
	run := &d.task.Runs[c.run]
	nodes := c.nodeRows(ref)
	along := c.path(nodes, ref.Paths[s.best])
	walk := ref.walks[s.best]

	out := detail{
		scanned: make([]int, len(along)),
		matched: make([]bool, len(along)),
		hit:     make([]bool, c.m),
		labels:  countLabels(c.walk.label),
		path:    ref.labels[s.best],
	}
	from := 0
	for x, row := range along {
		out.scanned[x] = row.Next(from)
		if out.scanned[x] >= 0 {
			from = out.scanned[x] + 1
		}
	}
	c.matcher.Size(along, c.m)
	for x := range along {
		out.matched[x] = c.matcher.Matched(x)
		if out.matched[x] {
			out.covered[walk.label[x]]++
		}
	}
	for _, row := range nodes {
		for j := row.Next(0); j >= 0; j = row.Next(j + 1) {
			out.hit[j] = true
		}
	}
	for _, h := range out.hit {
		if h {
			out.matchable++
		}
	}
	out.firstStep = slices.Index(out.hit, false)
	out.firstPos = slices.Index(out.matched, false)

	out.events = findWaste(c.walk, walk, ref.files, d.testlike)
	out.waste = sumWaste(out.events, c.m)
	for j := range run.Steps {
		st := &run.Steps[j]
		out.in += st.InputTokens
		out.out += st.OutputTokens
		if out.waste.wasted[j] {
			out.win += st.InputTokens
			out.wou += st.OutputTokens
		}
	}
	if n := out.path[trajectory.Implementation]; n > 0 {
		share := float64(out.covered[trajectory.Implementation]) / float64(n)
		out.impl = &share
	}
	out.explore = float64(out.labels[trajectory.Exploration]) / float64(max(1, out.path[trajectory.Exploration]))
	out.lucky, out.why = categorise(luckyInput{
		steps: c.m, labels: out.labels, waste: out.waste, implCoverage: out.impl, exploreRatio: out.explore,
	})
	return out
}

package release

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance/randomrun"
	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/pta"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

func source(t *rapid.T) randomrun.Source {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
}

// drawRuns draws some runs of one task, mostly passing.
func drawRuns(t *rapid.T) []*trajectory.Trajectory {
	pick := source(t)
	var runs []*trajectory.Trajectory
	for i := range rapid.IntRange(1, 9).Draw(t, "runs") {
		outcome := []trajectory.Outcome{trajectory.Pass, trajectory.Pass, trajectory.Fail, trajectory.Unknown}[pick(4)]
		runs = append(runs, randomrun.New(fmt.Sprintf("run-%d", i), "task", outcome, pick(14), pick))
	}
	return runs
}

func drawPlan(t *rapid.T) profile.Plan {
	return profile.Plan{
		Mode: rapid.SampledFrom([]profile.Mode{profile.LeaveOneOut, profile.Donors}).Draw(t, "mode"),
		K:    rapid.IntRange(2, 4).Draw(t, "k"),
	}
}

func assessAll(t interface{ Fatal(...any) }, task profile.Task, plan profile.Plan) collector {
	var c collector
	if err := Assess(context.Background(), task, plan, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOrderOfRunsChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs, plan := drawRuns(t), drawPlan(t)
		task := newTask("task", runs)
		want := assessAll(t, task, plan)
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range runs {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		shuffled := profile.Task{ID: task.ID, Load: func(i int) (*trajectory.Trajectory, error) { return task.Load(order[i]) }}
		for _, i := range order {
			shuffled.Runs = append(shuffled.Runs, task.Runs[i])
		}
		if got := assessAll(t, shuffled, plan); !reflect.DeepEqual(got, want) {
			t.Fatal("the order of the runs changed the rows")
		}
	})
}

func TestRowsAreConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs, plan := drawRuns(t), drawPlan(t)
		task := newTask("task", runs)
		c := assessAll(t, task, plan)
		references := make(map[string]profile.ReferenceRows)
		last := ""
		for _, r := range c.references {
			if r.PTA.PTAID <= last {
				t.Fatalf("reference %s after %s", r.PTA.PTAID, last)
			}
			last = r.PTA.PTAID
			references[last] = r
			if int(r.PTA.NMembers) != len(r.Members) || r.PTA.NMembers < profile.MinReferences || r.PTA.NMembers > int64(plan.K) {
				t.Fatalf("%d members", r.PTA.NMembers)
			}
		}
		if len(c.runs) != len(runs) {
			t.Fatalf("%d rows for %d runs", len(c.runs), len(runs))
		}
		for i, r := range c.runs {
			if r.Tier.TrajectoryID != task.Runs[i].ID {
				t.Fatalf("row of %s at the place of %s", r.Tier.TrajectoryID, task.Runs[i].ID)
			}
			checkRun(t, r, task.Runs[i], references)
		}
	})
}

// checkRun checks what must hold of one run's rows whatever it did.
func checkRun(t *rapid.T, r profile.RunRows, run profile.Run, references map[string]profile.ReferenceRows) {
	if (r.Tier.Tier == nil) == (r.Tier.Reason == nil) || (r.Tier.Tier == nil) != (r.Tier.Rule == nil) {
		t.Fatalf("tier %v, rule %v, reason %v", r.Tier.Tier, r.Tier.Rule, r.Tier.Reason)
	}
	if r.Features == nil {
		if r.Signals != nil || r.Tier.Tier != nil {
			t.Fatal("an unscored run with signals or tier")
		}
		return
	}
	f, s := r.Features, r.Signals.(*schema.SignalsRelease)
	ref, ok := references[s.PTAID]
	if !ok {
		t.Fatalf("reference %s was not emitted", s.PTAID)
	}
	for _, m := range ref.Members {
		if m.TrajectoryID == run.ID {
			t.Fatal("judged by itself")
		}
	}
	within := func(name string, v, low, high float64) {
		if math.IsNaN(v) || v < low || v > high {
			t.Fatalf("%s = %v, want %v to %v", name, v, low, high)
		}
	}
	for name, v := range map[string]*float64{
		"coverage": f.CoveragePercent, "precision": f.PrecisionPercent, "f1": f.F1Score, "bottleneck": f.BottleneckCoverage,
		"weighted": f.WeightedScore, "E": f.StageCoverageE, "I": f.StageCoverageI, "V": f.StageCoverageV, "O": f.StageCoverageO,
	} {
		within(name, *v, 0, 100)
	}
	for name, v := range map[string]*float64{
		"coherence": f.CoherenceScore, "temporal": f.TemporalProfileScore, "workflow": f.WorkflowSimilarity,
		"completeness": f.StageCompleteness, "severity of the report": &s.SDKSeverityScore,
	} {
		within(name, *v, 0, 1)
	}
	within("score", float64(*f.QualityScore), 0, 100)
	within("score without outcome", s.ScoreWithoutOutcome, 0, 90)
	within("canonical coverage", s.CanonicalCoveragePercent, 0, 100)
	if (f.Passed == nil) != (run.Outcome == trajectory.Unknown) || (f.QualityTier == nil) != (f.Passed == nil) {
		t.Fatal("an unknown outcome is no outcome")
	}
	total := *f.RegressionLoopWaste + *f.BlindRetryWaste + *f.RedundantStepWaste + *f.UnnecessaryExplorationWaste + *f.CyclicPatternWaste
	if total != *f.TotalWastedSteps {
		t.Fatalf("total waste %d, sum %d", *f.TotalWastedSteps, total)
	}
	var in, detected int64
	for i, w := range r.Waste {
		if w.Span != int64(i) || w.FirstStep < 1 || w.LastStep > *f.NStates || w.FirstStep > w.LastStep ||
			w.WastedSteps < 0 || w.WastedSteps > w.LastStep-w.FirstStep+1 {
			t.Fatalf("span %+v of %d steps", w, *f.NStates)
		}
		if w.Report == "detectors" {
			detected += w.WastedSteps
		}
	}
	if detected != total {
		t.Fatalf("spans waste %d steps, columns say %d", detected, total)
	}
	for _, w := range r.ToolWaste {
		if w.Retries+w.Cycles+w.Redundant+w.Unnecessary != w.TotalWasted {
			t.Fatalf("tool %+v", w)
		}
		in += w.TotalWasted
	}
	if in != s.SDKTotalWastedSteps || *f.WastedInputTokens > s.TotalInputTokens {
		t.Fatal("the report's total differs from that of its tools")
	}
	if int64(len(r.Alignments)) != s.CandidateStates || int64(len(r.Divergences)) != s.NDivergenceSegments {
		t.Fatal("rows differ from their counts")
	}
	if s.PerfectMatch != (*f.CoveragePercent == 100) || (f.DivergenceStep == nil) != s.PerfectMatch {
		t.Fatal("perfect match and divergence contradict each other")
	}
}

// slowBest is the matching as the specification tells it: every path, every pair, no memory.
func slowBest(r *reference, candidate []*equiv.ReleaseStep) (int, []int) {
	index, stages := -1, 0
	var matched []int
	for i := range r.paths {
		p := &r.paths[i]
		used := make([]bool, len(candidate))
		var got []int
		for g := range p.nodes {
			for j, c := range candidate {
				if !used[j] && r.step(p, g).Compare(c, g).Equivalent {
					used[j] = true
					got = append(got, g)
					break
				}
			}
		}
		n := r.graph.DistinctStages(p.nodes)
		if index < 0 || n > stages || n == stages && better(got, p, matched, &r.paths[index]) {
			index, matched, stages = i, got, n
		}
	}
	return index, matched
}

func TestMatchingEqualsSlowMatching(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := source(t)
		var traces []*pta.Trace
		for i := range 2 + pick(3) {
			traces = append(traces, pta.NewTrace(randomrun.New(fmt.Sprint(i), "task", trajectory.Pass, 1+pick(12), pick)))
		}
		r := newReference("task", profile.Plan{K: 5}, "id", traces)
		candidate := pta.NewTrace(randomrun.New("c", "task", trajectory.Pass, 1+pick(80), pick)).LongestPath()
		m := newMatcher(r, candidate)
		index, matched := m.best()
		slowIndex, slowMatched := slowBest(r, candidate)
		if index != slowIndex || !slices.Equal(matched, slowMatched) {
			t.Fatalf("path %d %v, want %d %v", index, matched, slowIndex, slowMatched)
		}
	})
}

func slowWorkflow(x, y []trajectory.Stage) float64 {
	x, y = dropUnlabelled(x), dropUnlabelled(y)
	if len(x) == 0 && len(y) == 0 {
		return 1
	}
	table := make([][]int, len(x)+1)
	table[0] = make([]int, len(y)+1)
	for i := range x {
		table[i+1] = make([]int, len(y)+1)
		for j := range y {
			table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			if x[i] == y[j] {
				table[i+1][j+1] = table[i][j] + 1
			}
		}
	}
	return float64(table[len(x)][len(y)]) / float64(max(len(x), len(y)))
}

func TestWorkflowEqualsTable(t *testing.T) {
	stages := rapid.SliceOfN(rapid.SampledFrom([]trajectory.Stage{0, 1, 2, 3, 4}), 0, 150)
	rapid.Check(t, func(t *rapid.T) {
		x, y := stages.Draw(t, "x"), stages.Draw(t, "y")
		if got, want := workflow(x, y), slowWorkflow(x, y); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		if got := workflow(x, x); got != 1 {
			t.Fatalf("a run against itself: %v", got)
		}
		if got := temporal(x, x); len(dropUnlabelled(x)) > 0 && got != 1 {
			t.Fatalf("temporal profile against itself: %v", got)
		}
	})
}

// TestOwnPathIsFullyCovered: a run against the merge of two copies of itself, when that is
// one path.
func TestOwnPathIsFullyCovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := source(t)
		run := randomrun.New("a", "task", trajectory.Pass, 1+pick(20), pick)
		for i := range run.States[1:] { // no two states may be consolidated
			run.States[i+1].ResultingState = fmt.Sprintf("terminal:%d", i)
			run.States[i+1].Observation = fmt.Sprintf("seen by %d", i)
		}
		trace := pta.NewTrace(run)
		r := newReference("task", profile.Plan{K: 2}, "id", []*pta.Trace{trace, trace})
		if len(r.paths) != 1 || len(r.paths[0].nodes) != len(run.States) {
			t.Fatalf("%d paths", len(r.paths))
		}
		a := r.assess(trace, trajectory.Pass)
		if a.parts.Coverage != 100 || a.precision != 100 || a.parts.F1 != 100 || !a.terminal || a.divergence() >= 0 ||
			a.parts.Workflow != 1 || a.parts.Completeness != 1 || a.weighted != 100 {
			t.Fatalf("%+v", a.parts)
		}
		for j, position := range a.aligned {
			if position != j {
				t.Fatalf("state %d aligned with %d", j, position)
			}
		}
	})
}

// generatedTasks makes a corpus of its own for benchmarks.
func generatedTasks(tasks, runs, steps int) []profile.Task {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []profile.Task
	for i := range tasks {
		id := fmt.Sprintf("task-%d", i)
		var all []*trajectory.Trajectory
		for j := range runs {
			outcome := trajectory.Pass
			if j%3 == 2 {
				outcome = trajectory.Fail
			}
			all = append(all, randomrun.New(fmt.Sprintf("%s-%d", id, j), id, outcome, steps/2+rng.IntN(steps), rng.IntN))
		}
		out = append(out, newTask(id, all))
	}
	return out
}

// BenchmarkScoreGenerated scores 1,600 generated runs, leaving one out.
func BenchmarkScoreGenerated(b *testing.B) {
	tasks := generatedTasks(40, 40, 30)
	b.ReportAllocs()
	for b.Loop() {
		for _, task := range tasks {
			if err := Assess(context.Background(), task, profile.Plan{Mode: profile.LeaveOneOut, K: 5}, discard{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

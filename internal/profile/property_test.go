package profile_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/profiletest"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// tool calls that drawn runs are made of
var calls = []trajectory.State{
	{Tool: "read_file", FilePath: "src/a.py", Lines: trajectory.LineRange{Start: 1, End: 40, Valid: true}},
	{Tool: "read_file", FilePath: "src/a.py", Lines: trajectory.LineRange{Start: 20, End: 60, Valid: true}},
	{Tool: "read_file", FilePath: "tests/test_a.py", Lines: trajectory.LineRange{Start: 1, End: 9, Valid: true}},
	{Tool: "replace_string_in_file", FilePath: "src/a.py", ScopePath: "f", ResultingState: "file_modified:src/a.py", Log: edit("x = 1", "y = alpha(1)")},
	{Tool: "replace_string_in_file", FilePath: "src/b.py", ScopePath: "g", ResultingState: "file_modified:src/b.py", Log: edit("", "beta\ngamma")},
	{Tool: "create_file", FilePath: "repro.py", ResultingState: "file_created:repro.py"},
	{Tool: "run_in_terminal", Log: command("grep -rn alpha src")},
	{Tool: "run_in_terminal", Log: command("cd src && pytest tests -q")},
	{Tool: "run_in_terminal", Log: command("python -c 'print(1)'")},
	{Tool: "run_in_terminal", Log: command("sed -i s/x/y/ src/a.py")},
	{Tool: "think"},
	{Tool: "list_dir"},
}

func command(text string) *trajectory.LogEntry {
	return &trajectory.LogEntry{Kind: "toolCall", Args: trajectory.Args{Has: trajectory.HasCommand, Command: text}}
}

func edit(before, after string) *trajectory.LogEntry {
	return &trajectory.LogEntry{Kind: "toolCall", Args: trajectory.Args{
		Has: trajectory.HasOldString | trajectory.HasNewString, OldString: before, NewString: after,
	}}
}

type drawnRun struct {
	profile.Run
	trace *trajectory.Trajectory
}

func drawRuns(t *rapid.T) []drawnRun {
	stages := trajectory.Stages()
	runs := make([]drawnRun, rapid.IntRange(0, 9).Draw(t, "runs"))
	for i := range runs {
		id := fmt.Sprintf("run%d", i)
		trace := &trajectory.Trajectory{ID: id, States: []trajectory.State{{Initial: true, ResultingState: "initial"}}}
		for s := range rapid.IntRange(0, 8).Draw(t, "steps") {
			state := rapid.SampledFrom(calls).Draw(t, "call")
			state.Step = int64(s + 1)
			state.ID = fmt.Sprintf("state_%d", s+1)
			state.Stage = rapid.SampledFrom(stages[:]).Draw(t, "stage")
			state.InputTokens = trajectory.Some(int64(s))
			trace.States = append(trace.States, state)
		}
		runs[i] = drawnRun{profile.Run{
			ID:      id,
			Model:   rapid.SampledFrom([]string{"m1", "m2", "m3"}).Draw(t, "model"),
			Outcome: rapid.SampledFrom([]trajectory.Outcome{trajectory.Pass, trajectory.Pass, trajectory.Fail, trajectory.Unknown}).Draw(t, "outcome"),
		}, trace}
	}
	return runs
}

func asTask(runs []drawnRun) profile.Task {
	task := profile.Task{ID: "task", Load: func(i int) (*trajectory.Trajectory, error) { return runs[i].trace, nil }}
	for _, r := range runs {
		task.Runs = append(task.Runs, r.Run)
	}
	return task
}

// profiles assess a drawn task each in one way.
var profiles = map[string]func(profile.Task, profile.Emitter) error{
	"paper": func(t profile.Task, e profile.Emitter) error {
		p := paper.DefaultParams()
		p.Draws = 3
		return paper.With(p).Assess(context.Background(), &t, profile.Plan{}, e)
	},
	"paper_clean_other_models": func(t profile.Task, e profile.Emitter) error {
		p := paper.DefaultParams()
		p.Labels, p.OtherModels = steps.Clean, true
		return paper.With(p).Assess(context.Background(), &t, profile.Plan{}, e)
	},
	"process": func(t profile.Task, e profile.Emitter) error {
		return process.New().Assess(context.Background(), &t, profile.Plan{}, e)
	},
}

func assess(t *rapid.T, f func(profile.Task, profile.Emitter) error, runs []drawnRun) *profiletest.Collector {
	var out profiletest.Collector
	if err := f(asTask(runs), &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestOrderOfRunsChangesNothing(t *testing.T) {
	for name, f := range profiles {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				runs := drawRuns(t)
				want := assess(t, f, runs)
				if got := assess(t, f, rapid.Permutation(runs).Draw(t, "order")); !reflect.DeepEqual(got, want) {
					t.Fatalf("rows depend on the order of the runs:\n%+v\n%+v", got, want)
				}
			})
		})
	}
}

// signalValues returns the number columns a run's outcome must not enter.
func signalValues(run profile.RunRows) map[string]string {
	switch s := run.Signals.(type) {
	case *schema.SignalsPaper:
		out := profiletest.Columns(s)
		for _, c := range []string{"passed", "tier", "tier_mean", "tier_share", "category"} {
			delete(out, c)
		}
		return out
	case *schema.SignalsProcess:
		out := profiletest.Columns(s)
		for _, c := range []string{"passed", "tier", "borderline"} {
			delete(out, c)
		}
		return out
	}
	return nil
}

func TestOwnOutcomeEntersNoSignal(t *testing.T) {
	for name, f := range profiles {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				runs := drawRuns(t)
				if len(runs) == 0 {
					return
				}
				i := rapid.IntRange(0, len(runs)-1).Draw(t, "run")
				id := runs[i].ID
				var seen []map[string]string
				for _, o := range []trajectory.Outcome{trajectory.Unknown, trajectory.Fail, trajectory.Pass} {
					runs[i].Outcome = o
					v := signalValues(assess(t, f, runs).ByID()[id])
					delete(v, "pta_id") // a pool of the same model lists the run, which does not count there
					seen = append(seen, v)
				}
				if !reflect.DeepEqual(seen[0], seen[1]) || !reflect.DeepEqual(seen[0], seen[2]) {
					t.Fatalf("signals follow the outcome: %v", seen)
				}
			})
		})
	}
}

func TestEveryRunHasATierOrAReason(t *testing.T) {
	for name, f := range profiles {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				runs := drawRuns(t)
				out := assess(t, f, runs)
				if len(out.Runs) != len(runs) {
					t.Fatalf("%d rows of %d runs", len(out.Runs), len(runs))
				}
				references := map[string]bool{"": true}
				for i, ref := range out.References {
					if i > 0 && ref.PTA.PTAID <= out.References[i-1].PTA.PTAID {
						t.Fatalf("reference %s after %s", ref.PTA.PTAID, out.References[i-1].PTA.PTAID)
					}
					references[ref.PTA.PTAID] = true
					checkReference(t, ref, runs)
				}
				for i, row := range out.Runs {
					if i > 0 && row.Tier.TrajectoryID <= out.Runs[i-1].Tier.TrajectoryID {
						t.Fatalf("run %s after %s", row.Tier.TrajectoryID, out.Runs[i-1].Tier.TrajectoryID)
					}
					if (row.Tier.Tier == nil) == (row.Tier.Reason == nil) {
						t.Fatalf("run %s: tier %v, reason %v", row.Tier.TrajectoryID, row.Tier.Tier, row.Tier.Reason)
					}
					if row.Tier.Tier != nil && row.Tier.Rule == nil {
						t.Fatalf("run %s: a tier without its rule", row.Tier.TrajectoryID)
					}
					checkBounds(t, row, references)
				}
			})
		})
	}
}

func checkReference(t *rapid.T, ref profile.ReferenceRows, runs []drawnRun) {
	outcome := map[string]trajectory.Outcome{}
	for _, r := range runs {
		outcome[r.ID] = r.Outcome
	}
	p := ref.PTA
	if int(p.NMembers) != len(ref.Members) || int(p.NNodes) != len(ref.Nodes) || int(p.NEdges) != len(ref.Edges) || int(p.NPaths) != len(ref.Paths) {
		t.Fatalf("counts of %+v differ from its rows", p)
	}
	for _, m := range ref.Members {
		if outcome[m.TrajectoryID] != trajectory.Pass {
			t.Fatalf("%s is a reference and did not pass", m.TrajectoryID)
		}
	}
	type pair struct{ from, to int64 }
	seen := map[pair]bool{}
	for _, e := range ref.Edges {
		if k := (pair{e.FromNode, e.ToNode}); seen[k] || e.FromNode == e.ToNode || max(e.FromNode, e.ToNode) >= p.NNodes {
			t.Fatalf("edge %+v", e)
		} else {
			seen[k] = true
		}
	}
}

func checkBounds(t *rapid.T, run profile.RunRows, references map[string]bool) {
	id := run.Tier.TrajectoryID
	in := func(name string, v, high float64) {
		if !(v >= 0 && v <= high) {
			t.Fatalf("%s: %s is %v", id, name, v)
		}
	}
	optional := func(name string, v *float64, high float64) {
		if v != nil {
			in(name, *v, high)
		}
	}
	switch s := run.Signals.(type) {
	case *schema.SignalsPaper:
		if !references[s.PTAID] {
			t.Fatalf("%s: reference %s was not emitted", id, s.PTAID)
		}
		for _, c := range []struct {
			name    string
			v, high float64
		}{
			{"struct", s.Struct, 100}, {"cov", s.Cov, 100}, {"coh", s.Coh, 1}, {"temp", s.Temp, 1}, {"paper_score", s.PaperScore, 100},
			{"ordered_recall", s.OrderedRecall, 1}, {"precision", s.Precision, 1}, {"wasted_share", s.WastedShare, 1},
			{"first_unmatched_fraction", s.FirstUnmatchedFraction, 1}, {"matched_steps", float64(s.MatchedSteps), float64(s.NSteps)},
		} {
			in(c.name, c.v, c.high)
		}
		if int(s.NSteps) != len(run.Alignments) {
			t.Fatalf("%s: %d alignments of %d steps", id, len(run.Alignments), s.NSteps)
		}
		aligned := 0
		for _, a := range run.Alignments {
			if a.Aligned {
				aligned++
			}
		}
		if s.BestPathLen > 0 && float64(aligned)/float64(s.BestPathLen) != s.OrderedRecall {
			t.Fatalf("%s: %d steps aligned, ordered recall %v of %d", id, aligned, s.OrderedRecall, s.BestPathLen)
		}
	case *schema.SignalsProcess:
		if s.PTAID != nil && !references[*s.PTAID] {
			t.Fatalf("%s: pool %s was not emitted", id, *s.PTAID)
		}
		in("V", s.V, 1)
		optional("A", s.A, 1)
		optional("F", s.F, 1)
		optional("S", s.S, 1)
		optional("process_score", s.ProcessScore, 100)
		if (s.PoolSize == 0) != (s.A == nil) {
			t.Fatalf("%s: A is %v with a pool of %d", id, s.A, s.PoolSize)
		}
	}
}

// A run that does what a run of another model did follows it wholly when no other reference
// comes between.
func TestACopyFollowsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := drawRuns(t)
		if len(runs) == 0 || len(runs[0].trace.States) == 1 {
			return
		}
		original := runs[0]
		original.Model, original.Outcome = "m1", trajectory.Pass
		twin := original
		twin.ID, twin.Model, twin.Outcome = "twin", "m2", trajectory.Fail
		got := assess(t, profiles["process"], []drawnRun{original, twin}).ByID()["twin"]
		s := got.Signals.(*schema.SignalsProcess)
		// Steps that only hashes could make equal match nothing, not even themselves.
		comparable := 0
		for _, state := range original.trace.States[1:] {
			if state.Tool != "think" && state.Tool != "list_dir" && state.Tool != "create_file" {
				comparable++
			}
		}
		if want := float64(comparable) / float64(len(original.trace.States)-1); *s.A != want {
			t.Fatalf("A is %v, want %v", *s.A, want)
		}
	})
}

func TestSingleModelIsFlagged(t *testing.T) {
	var runs []drawnRun
	for i := range 3 {
		id := fmt.Sprint("r", i)
		runs = append(runs, drawnRun{
			profile.Run{ID: id, Model: "only", Outcome: trajectory.Pass},
			&trajectory.Trajectory{ID: id, States: []trajectory.State{{Initial: true}, {Step: 1, Tool: "think"}}},
		})
	}
	var out profiletest.Collector
	if err := profiles["process"](asTask(runs), &out); err != nil {
		t.Fatal(err)
	}
	for _, run := range out.Runs {
		s := run.Signals.(*schema.SignalsProcess)
		if s.PoolKind != "same_model" || s.PoolSize != 2 || *s.Flags != "no_source_edit,small_pool,same_model_pool" {
			t.Errorf("%s: %s, %d, %s", s.TrajectoryID, s.PoolKind, s.PoolSize, *s.Flags)
		}
	}
}

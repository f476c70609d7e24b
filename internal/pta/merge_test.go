package pta_test

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance/randomrun"
	"github.com/agentlens-bench/agentlens/internal/pta"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// drawTraces draws up to five runs; now and then one has no states or jumps in its
// transitions.
func drawTraces(t *rapid.T) []*pta.Trace {
	pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	var out []*pta.Trace
	for i := range 1 + pick(5) {
		run := randomrun.New(fmt.Sprint(i), "task", trajectory.Pass, pick(12), pick)
		switch pick(8) {
		case 0:
			run.States, run.Transitions = nil, nil
		case 1:
			run.Transitions = nil
		case 2:
			for range pick(4) {
				from, to := pick(len(run.States)), pick(len(run.States))
				run.Transitions = append(run.Transitions, trajectory.Transition{
					From: run.States[from].ID, To: run.States[to].ID, ActionType: "jump",
				})
			}
			run.Transitions = append(run.Transitions, trajectory.Transition{From: "state_0", To: "nowhere"})
		}
		out = append(out, pta.NewTrace(run))
	}
	return out
}

func TestMergeInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		traces := drawTraces(t)
		g := pta.Merge(traces)
		states := 0
		for _, tr := range traces {
			states += len(tr.Steps)
		}
		if g.Stats.TracesMerged != len(traces) || g.Stats.StatesAdded+g.Stats.StatesMerged != states {
			t.Fatalf("%d states of %d runs: %+v", states, len(traces), g.Stats)
		}
		counted := 0
		for i, n := range g.Nodes {
			counted += n.TraceCount
			if n.TraceCount != len(n.OriginalIDs) || n.Terminal != slices.Contains(g.Terminals, i) {
				t.Fatalf("node %+v", n)
			}
			if i > 0 && n.MergedID <= g.Nodes[i-1].MergedID {
				t.Fatal("nodes are not in order of creation")
			}
		}
		if counted != states {
			t.Fatalf("%d states in nodes, %d in runs", counted, states)
		}
		if len(traces) > 1 {
			for _, e := range g.Edges {
				if e.From < 0 || e.To < 0 || e.From == e.To || g.Nodes[e.To].State.Step < g.Nodes[e.From].State.Step {
					t.Fatalf("edge %+v", e)
				}
			}
		}
		if again := pta.Merge(traces); !reflect.DeepEqual(again, g) {
			t.Fatal("a second merge differs")
		}
	})
}

// slowPaths enumerates without any pruning.
func slowPaths(g *pta.Graph) (paths [][]int) {
	edges := slices.Clone(g.Edges)
	sort.SliceStable(edges, func(i, j int) bool { return strconv.Itoa(edges[i].ID) < strconv.Itoa(edges[j].ID) })
	var visit func(path []int)
	visit = func(path []int) {
		if len(paths) >= pta.MaxPaths {
			return
		}
		last := path[len(path)-1]
		leaves := false
		for _, e := range edges {
			leaves = leaves || e.From == last && e.To >= 0
		}
		if g.Nodes[last].Terminal || len(g.Terminals) == 0 && !leaves {
			paths = append(paths, slices.Clone(path))
		}
		for _, e := range edges {
			if e.From == last && e.To >= 0 && !slices.Contains(path, e.To) {
				visit(append(path, e.To))
			}
		}
	}
	if g.Initial >= 0 {
		visit([]int{g.Initial})
	}
	return paths
}

func TestPathsEqualPlainSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := pta.Merge(drawTraces(t))
		got, want := g.Paths(), slowPaths(g)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("paths\n got %v\nwant %v", got, want)
		}
	})
}

func TestChainIsItsOwnPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		run := randomrun.New("a", "task", trajectory.Pass, pick(20), pick)
		if len(run.States) > 2 { // a request is passed over
			run.States[1].Log = &trajectory.LogEntry{Kind: "request"}
		}
		var want []string
		for i := range run.States {
			if run.States[i].Actionable() {
				want = append(want, run.States[i].ID)
			}
		}
		long := pta.NewTrace(run).LongestPath()
		paths := pta.Merge([]*pta.Trace{pta.NewTrace(run)}).Paths()
		if len(long) != len(want) || len(paths) != 1 || len(paths[0]) != len(want) {
			t.Fatalf("%d states, longest path %d, paths %v", len(want), len(long), paths)
		}
		for i, s := range long {
			if s.State.ID != want[i] || run.States[paths[0][i]].ID != want[i] {
				t.Fatalf("position %d is %s, want %s", i, s.State.ID, want[i])
			}
		}
	})
}

// TestMergeByHand follows two short runs through merge and consolidation.
func TestMergeByHand(t *testing.T) {
	state := func(id string, step int64, tool, result string) trajectory.State {
		s := trajectory.State{ID: id, Step: step, Tool: tool, ResultingState: result, Observation: id + result}
		if tool != "" {
			s.Log = &trajectory.LogEntry{Kind: "toolCall", Tool: tool, Args: trajectory.Args{Raw: id}}
			s.Stage = trajectory.Exploration
			s.FilePath = result[len("file_read:"):]
		}
		return s
	}
	first := &trajectory.Trajectory{States: []trajectory.State{
		state("a0", 0, "", "initial"), state("a1", 1, "read_file", "file_read:x.py"), state("a2", 2, "read_file", "file_read:y.py"),
	}}
	second := &trajectory.Trajectory{States: []trajectory.State{
		state("b0", 0, "", "initial"), state("b1", 1, "read_file", "file_read:z.py"), state("b2", 2, "read_file", "file_read:y.py"),
	}}
	g := pta.Merge([]*pta.Trace{pta.NewTrace(first), pta.NewTrace(second)})
	var nodes []string
	for _, n := range g.Nodes {
		nodes = append(nodes, fmt.Sprint(n.MergedID, n.OriginalIDs))
	}
	if want := []string{"1 [a0 b0]", "2 [a1]", "3 [a2 b2]", "4 [b1]"}; !slices.Equal(nodes, want) {
		t.Errorf("nodes %v, want %v", nodes, want)
	}
	var edges []string
	for _, e := range g.Edges {
		edges = append(edges, fmt.Sprint(e.ID, ":", e.From, "-", e.To))
	}
	if want := []string{"1:0-1", "2:1-2", "3:0-3", "4:3-2"}; !slices.Equal(edges, want) {
		t.Errorf("edges %v, want %v", edges, want)
	}
	if want := [][]int{{0, 1, 2}, {0, 3, 2}}; !reflect.DeepEqual(g.Paths(), want) {
		t.Errorf("paths %v, want %v", g.Paths(), want)
	}
	if !slices.Equal(g.Terminals, []int{2}) || g.Canonical(g.Paths()) != 0 {
		t.Errorf("terminals %v, canonical path %d", g.Terminals, g.Canonical(g.Paths()))
	}
	want := pta.Stats{TracesMerged: 2, StatesAdded: 5, StatesMerged: 1, TransitionsAdded: 4, BranchesCreated: 2, EquivalenceChecks: 3}
	if g.Stats != want {
		t.Errorf("stats %+v, want %+v", g.Stats, want)
	}
}

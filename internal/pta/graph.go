package pta

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// MaxPaths bounds the paths enumerated in one graph.
const MaxPaths = 50

// Trace is a run prepared for merging and matching.
type Trace struct {
	Run   *trajectory.Trajectory
	Steps []equiv.ReleaseStep // in file order

	ordered []int // indexes of Steps by step number, stable
	edges   []Edge
	chain   bool // edges lead from each ordered step to the next, and nowhere else
}

// NewTrace prepares a run, which must not change afterwards. A run without transitions
// counts as a chain.
func NewTrace(run *trajectory.Trajectory) *Trace {
	t := &Trace{Run: run, Steps: make([]equiv.ReleaseStep, len(run.States)), ordered: make([]int, len(run.States))}
	index := make(map[string]int, len(run.States))
	for i := range run.States {
		t.Steps[i] = equiv.NewReleaseStep(&run.States[i])
		t.ordered[i] = i
		index[run.States[i].ID] = i
	}
	slices.SortStableFunc(t.ordered, func(i, j int) int { return cmp.Compare(run.States[i].Step, run.States[j].Step) })
	if len(run.Transitions) == 0 {
		for n := 1; n < len(t.ordered); n++ {
			to := &run.States[t.ordered[n]]
			t.edges = append(t.edges, Edge{ID: n, From: t.ordered[n-1], To: t.ordered[n], ActionType: to.Tool, Step: to.Step})
		}
		t.chain = true
		return t
	}
	t.chain = len(run.Transitions) == len(t.ordered)-1
	for n, tr := range run.Transitions {
		from, okFrom := index[tr.From]
		to, okTo := index[tr.To]
		if !okFrom || !okTo {
			from, to = -1, -1
		}
		t.edges = append(t.edges, Edge{ID: n + 1, From: from, To: to, ActionType: tr.ActionType, Step: tr.Step})
		t.chain = t.chain && from == t.ordered[n] && to == t.ordered[n+1]
	}
	return t
}

// LongestPath returns the run's own longest path, the first on ties, as pointers into
// Steps. States that are model requests are left out.
func (t *Trace) LongestPath() []*equiv.ReleaseStep {
	path := t.ordered
	if !t.chain {
		path = nil
		for _, p := range Merge([]*Trace{t}).Paths() {
			if len(p) > len(path) {
				path = p
			}
		}
	}
	out := make([]*equiv.ReleaseStep, 0, len(path))
	for _, i := range path {
		if t.Steps[i].State.Actionable() {
			out = append(out, &t.Steps[i])
		}
	}
	return out
}

// initial returns the index of the state paths begin at, -1 without states.
func (t *Trace) initial() int {
	for _, i := range t.ordered {
		if t.Steps[i].State.Initial {
			return i
		}
	}
	if len(t.ordered) == 0 {
		return -1
	}
	return t.ordered[0]
}

// Node is one state of a graph.
type Node struct {
	equiv.ReleaseStep          // the state that made the node; its stage is the graph's own
	MergedID          int      // creation counter, from 1, before consolidation
	TraceCount        int      // states merged into the node
	OriginalIDs       []string // ids of these states, in order
	Terminal          bool     // whether a run ends here
}

// Edge is one transition of a graph.
type Edge struct {
	ID         int // creation counter, from 1
	From, To   int // node indexes; -1 for an end that does not exist
	ActionType string
	Step       int64
}

// Branch lists the nodes added since runs left the graph at Node.
type Branch struct {
	Node    int
	Targets []int
}

// Stats are the counts of a merge, before consolidation.
type Stats struct {
	TracesMerged, StatesAdded, StatesMerged, TransitionsAdded, BranchesCreated, EquivalenceChecks int
}

// Graph is a reference.
type Graph struct {
	Nodes     []Node
	Edges     []Edge
	Initial   int      // node index, -1 for an empty graph
	Terminals []int    // node indexes in order of the runs that end there, distinct
	Branches  []Branch // in order of their first target
	Stats     Stats
}

// Paths enumerates the paths from the initial node to real terminals depth first, at most
// MaxPaths, as node indexes. A graph of one run has no real terminals; its paths end where
// no edge leaves. Edges are followed in the order of their ids as text, so 10 comes before
// 9. Nodes that are model requests are left out of the result.
func (g *Graph) Paths() [][]int {
	if g.Initial < 0 {
		return nil
	}
	out := g.outgoing()
	e := enumeration{g: g, out: out, useful: g.reachTerminal(out), onPath: make([]bool, len(g.Nodes))}
	e.visit(g.Initial)
	return e.paths
}

// outgoing returns the targets of each node's edges in the order they are followed.
func (g *Graph) outgoing() [][]int {
	edges := slices.Clone(g.Edges)
	slices.SortFunc(edges, func(x, y Edge) int { return cmp.Compare(strconv.Itoa(x.ID), strconv.Itoa(y.ID)) })
	out := make([][]int, len(g.Nodes))
	for _, e := range edges {
		if e.From >= 0 && e.To >= 0 {
			out[e.From] = append(out[e.From], e.To)
		}
	}
	return out
}

// reachTerminal marks the nodes from which a path can end, so that the enumeration spends
// no time in dead ends.
func (g *Graph) reachTerminal(out [][]int) []bool {
	in := make([][]int, len(g.Nodes))
	for from, targets := range out {
		for _, to := range targets {
			in[to] = append(in[to], from)
		}
	}
	useful := make([]bool, len(g.Nodes))
	var queue []int
	for i := range g.Nodes {
		if g.ends(i, out) {
			useful[i] = true
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, from := range in[n] {
			if !useful[from] {
				useful[from] = true
				queue = append(queue, from)
			}
		}
	}
	return useful
}

func (g *Graph) ends(node int, out [][]int) bool {
	if len(g.Terminals) > 0 {
		return g.Nodes[node].Terminal
	}
	return len(out[node]) == 0
}

type enumeration struct {
	g      *Graph
	out    [][]int
	useful []bool
	onPath []bool
	path   []int
	paths  [][]int
}

func (e *enumeration) visit(node int) {
	e.onPath[node] = true
	e.path = append(e.path, node)
	if e.g.ends(node, e.out) {
		e.paths = append(e.paths, e.actionable())
	}
	for _, next := range e.out[node] {
		if len(e.paths) >= MaxPaths {
			break
		}
		if e.useful[next] && !e.onPath[next] {
			e.visit(next)
		}
	}
	e.onPath[node] = false
	e.path = e.path[:len(e.path)-1]
}

func (e *enumeration) actionable() []int {
	out := make([]int, 0, len(e.path))
	for _, n := range e.path {
		if e.g.Nodes[n].State.Actionable() {
			out = append(out, n)
		}
	}
	return out
}

// Canonical returns the index of the path with most distinct stages, then the longest, the
// first on ties; -1 without paths.
func (g *Graph) Canonical(paths [][]int) int {
	best, bestStages := -1, 0
	for i, p := range paths {
		stages := g.DistinctStages(p)
		if best < 0 || stages > bestStages || stages == bestStages && len(p) > len(paths[best]) {
			best, bestStages = i, stages
		}
	}
	return best
}

// DistinctStages counts the stages that occur on a path.
func (g *Graph) DistinctStages(path []int) int {
	var seen [5]bool
	n := 0
	for _, i := range path {
		if s := g.Nodes[i].Stage; s != trajectory.NoStage && !seen[s] {
			seen[s] = true
			n++
		}
	}
	return n
}

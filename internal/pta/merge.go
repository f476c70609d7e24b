package pta

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Merge merges runs in order into one graph. A single run is copied as it is: without
// consolidation, new labels and real terminals.
func Merge(traces []*Trace) *Graph {
	g := &Graph{Initial: -1}
	if len(traces) == 0 {
		return g
	}
	m := merger{g: g, edges: make(map[edgeKey]bool)}
	m.copy(traces[0])
	if len(traces) == 1 {
		return g
	}
	for _, t := range traces[1:] {
		m.merge(t)
	}
	m.markTerminals()
	g.consolidate()
	g.Edges = slices.DeleteFunc(g.Edges, g.useless)
	g.relabel()
	return g
}

type edgeKey struct {
	from, to int
	action   string
}

type merger struct {
	g         *Graph
	edges     map[edgeKey]bool
	nextEdge  int
	lastNodes []int // of each merged run
}

func (m *merger) addNode(t *Trace, i int) int {
	step := t.Steps[i]
	m.g.Nodes = append(m.g.Nodes, Node{
		ReleaseStep: step, MergedID: len(m.g.Nodes) + 1, TraceCount: 1, OriginalIDs: []string{step.State.ID},
	})
	m.g.Stats.StatesAdded++
	return len(m.g.Nodes) - 1
}

// copy makes the first run the graph.
func (m *merger) copy(t *Trace) {
	for i := range t.Steps {
		m.addNode(t, i)
	}
	m.g.Initial = t.initial()
	for _, e := range t.edges {
		m.edges[edgeKey{e.From, e.To, e.ActionType}] = true
		m.appendEdge(e)
	}
	m.finish(t, func(i int) int { return i })
}

func (m *merger) appendEdge(e Edge) {
	m.nextEdge++
	e.ID = m.nextEdge
	m.g.Edges = append(m.g.Edges, e)
	m.g.Stats.TransitionsAdded++
}

func (m *merger) finish(t *Trace, node func(int) int) {
	m.g.Stats.TracesMerged++
	if n := len(t.ordered); n > 0 {
		m.lastNodes = append(m.lastNodes, node(t.ordered[n-1]))
	}
}

// merge walks a further run along the nodes as they were before it, sorted by step. A state
// that does not match the node under the cursor becomes a new node, and the cursor stays.
func (m *merger) merge(t *Trace) {
	g := m.g
	snapshot := g.byStep()
	nodeOf := make([]int, len(t.Steps))
	pos, branch := 0, -1
	for idx, i := range t.ordered {
		if pos < len(snapshot) {
			node := &g.Nodes[snapshot[pos]]
			g.Stats.EquivalenceChecks++
			if node.Compare(&t.Steps[i], idx).Equivalent {
				node.TraceCount++
				node.OriginalIDs = append(node.OriginalIDs, t.Steps[i].State.ID)
				g.Stats.StatesMerged++
				nodeOf[i] = snapshot[pos]
				pos++
				continue
			}
			branch = snapshot[pos]
			g.Stats.BranchesCreated++
		}
		nodeOf[i] = m.addNode(t, i)
		if branch >= 0 {
			g.addBranch(branch, nodeOf[i])
		}
	}
	if first := t.initial(); g.Initial < 0 && first >= 0 {
		g.Initial = nodeOf[first]
	}
	for _, e := range t.edges {
		if e.From < 0 || e.To < 0 {
			continue
		}
		e.From, e.To = nodeOf[e.From], nodeOf[e.To]
		key := edgeKey{e.From, e.To, e.ActionType}
		if !m.edges[key] {
			m.edges[key] = true
			m.appendEdge(e)
		}
	}
	m.finish(t, func(i int) int { return nodeOf[i] })
}

func (g *Graph) addBranch(node, target int) {
	for i := range g.Branches {
		if g.Branches[i].Node == node {
			g.Branches[i].Targets = append(g.Branches[i].Targets, target)
			return
		}
	}
	g.Branches = append(g.Branches, Branch{node, []int{target}})
}

// byStep returns the node indexes sorted by step, in order of creation on ties.
func (g *Graph) byStep() []int {
	order := make([]int, len(g.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(g.Nodes[i].State.Step, g.Nodes[j].State.Step) })
	return order
}

func (m *merger) markTerminals() {
	for _, n := range m.lastNodes {
		if !m.g.Nodes[n].Terminal {
			m.g.Nodes[n].Terminal = true
			m.g.Terminals = append(m.g.Terminals, n)
		}
	}
}

// groupKey says which nodes are consolidated into one. Reads and created or patched files
// are the same at any step, everything else only at its own.
type groupKey struct {
	result string
	stage  trajectory.Stage
	step   int64
}

func (n *Node) groupKey() (key groupKey, ok bool) {
	result := n.State.ResultingState
	if result == "" || result == "initial" || result == "llm_response:terminal" {
		return groupKey{}, false
	}
	for _, prefix := range []string{"file_created:", "file_read:", "file_patched:", "files_modified:", "llm_response:confirmed:"} {
		if strings.HasPrefix(result, prefix) {
			return groupKey{result: result, stage: n.Stage, step: -1}, true
		}
	}
	return groupKey{result: result, step: n.State.Step}, true
}

// consolidate merges nodes of the same group into the one with the smallest step.
func (g *Graph) consolidate() {
	groups := make(map[groupKey][]int)
	for i := range g.Nodes {
		if key, ok := g.Nodes[i].groupKey(); ok {
			groups[key] = append(groups[key], i)
		}
	}
	target := make([]int, len(g.Nodes))
	removed := 0
	for i := range target {
		target[i] = i
	}
	for _, members := range groups { // groups are disjoint: their order changes nothing
		slices.SortStableFunc(members, func(i, j int) int { return cmp.Compare(g.Nodes[i].State.Step, g.Nodes[j].State.Step) })
		first := &g.Nodes[members[0]]
		for _, i := range members[1:] {
			first.TraceCount += g.Nodes[i].TraceCount
			first.OriginalIDs = append(first.OriginalIDs, g.Nodes[i].OriginalIDs...)
			first.Terminal = first.Terminal || g.Nodes[i].Terminal
			target[i] = members[0]
			removed++
		}
	}
	if removed == 0 {
		return
	}
	g.remap(g.compact(target))
}

// compact drops the nodes that were merged into others and returns the new index of each
// old one.
func (g *Graph) compact(target []int) []int {
	index := make([]int, len(target))
	kept := g.Nodes[:0]
	for i, t := range target {
		if t == i {
			index[i] = len(kept)
			kept = append(kept, g.Nodes[i])
		}
	}
	for i, t := range target {
		index[i] = index[t]
	}
	g.Nodes = kept
	return index
}

func (g *Graph) remap(index []int) {
	g.Initial = index[g.Initial] // there are nodes, so there is an initial one
	seen := make(map[edgeKey]bool)
	kept := g.Edges[:0]
	for _, e := range g.Edges {
		if e.From >= 0 && e.To >= 0 {
			e.From, e.To = index[e.From], index[e.To]
		}
		key := edgeKey{e.From, e.To, e.ActionType}
		if g.useless(e) || seen[key] {
			continue
		}
		seen[key] = true
		kept = append(kept, e)
	}
	g.Edges = kept
	g.Terminals = remapDistinct(g.Terminals, index)
	branches := g.Branches
	g.Branches = nil
	for _, b := range branches {
		for _, t := range b.Targets {
			g.addBranch(index[b.Node], index[t])
		}
	}
	for i := range g.Branches {
		g.Branches[i].Targets = distinct(g.Branches[i].Targets)
	}
}

func remapDistinct(nodes, index []int) []int {
	for i, n := range nodes {
		nodes[i] = index[n]
	}
	return distinct(nodes)
}

// distinct drops repeated values, the first of each stays.
func distinct(values []int) []int {
	seen := make(map[int]bool, len(values))
	return slices.DeleteFunc(values, func(v int) bool {
		if seen[v] {
			return true
		}
		seen[v] = true
		return false
	})
}

// useless reports edges that are no part of a way forward.
func (g *Graph) useless(e Edge) bool {
	return e.From < 0 || e.To < 0 || e.From == e.To || g.Nodes[e.To].State.Step < g.Nodes[e.From].State.Step
}

// relabel gives the nodes the labels they have as one walk in order of their steps.
func (g *Graph) relabel() {
	order := g.byStep()
	states := make([]*trajectory.State, len(order))
	for i, n := range order {
		states[i] = g.Nodes[n].State
	}
	labels, _ := stage.NewRelease().LabelStates(states)
	for i, n := range order {
		g.Nodes[n].Stage = labels[i]
	}
}

package pta

import (
	"slices"

	"github.com/agentlens-bench/agentlens/internal/matching"
)

// Origin is one step of one of the merged runs.
type Origin struct {
	Ref  int // 0-based position in the merge order
	Step int // 0-based
}

// Aligned is the reference graph of an ordered list of runs, merged by alignment
// (docs/spec/paper.md, section 4). A node is compared through the step that created it, for
// ever. Paths[r] is the whole way of run r through the nodes; its nodes are distinct, and
// paths are never recombined.
type Aligned struct {
	Nodes  []Origin // the creating steps
	Paths  [][]int
	Checks int // pairs of a node and a step of a later run that were compared
	Equal  int // those that are equivalent
}

// Merged returns for every node the steps merged into it, the creator first, in merge order.
func (g *Aligned) Merged() [][]Origin {
	out := make([][]Origin, len(g.Nodes))
	for ref, path := range g.Paths {
		for step, x := range path {
			out[x] = append(out[x], Origin{ref, step})
		}
	}
	return out
}

// Align merges runs of the given lengths in order. matches(o, r) returns the steps of run r
// equivalent to step o; it is asked only for r > o.Ref. Time is one alignment of each run
// with the longest matching earlier path, plus an LCS by bits with every other path.
func Align(lengths []int, matches func(o Origin, ref int) matching.Row) Aligned {
	var g Aligned
	var w workspace
	for ref, n := range lengths {
		path := make([]int, n)
		for i := range path {
			path[i] = -1
		}
		if ref > 0 {
			g.merge(path, ref, matches, &w)
		}
		for step, node := range path {
			if node < 0 {
				path[step] = len(g.Nodes)
				g.Nodes = append(g.Nodes, Origin{ref, step})
			}
		}
		g.Paths = append(g.Paths, path)
	}
	return g
}

// workspace is scratch space that merges of one graph share.
type workspace struct {
	rows, along []matching.Row
	left        []int32
}

// merge writes to path[j] the node that step j of run ref is merged into.
func (g *Aligned) merge(path []int, ref int, matches func(Origin, int) matching.Row, w *workspace) {
	m := len(path)
	rows, along := w.rows[:0], w.along
	for _, o := range g.Nodes {
		row := matches(o, ref)
		rows = append(rows, row)
		g.Checks += m
		g.Equal += row.Count()
	}
	best, most := 0, -1
	for q, nodes := range g.Paths {
		along = along[:0]
		for _, x := range nodes {
			along = append(along, rows[x])
		}
		if l := matching.LCS(along, m); l > most {
			best, most = q, l
		}
	}
	nodes := g.Paths[best]
	n := len(nodes)
	// left[i*(m+1)+j] is the LCS of what follows positions i and j.
	left := slices.Grow(w.left[:0], (n+1)*(m+1))[:(n+1)*(m+1)]
	clear(left[n*(m+1):])
	w.rows, w.along, w.left = rows, along, left
	for i := n - 1; i >= 0; i-- {
		row := rows[nodes[i]]
		at, below := left[i*(m+1):], left[(i+1)*(m+1):]
		at[m] = 0
		for j := m - 1; j >= 0; j-- {
			if row.Has(j) {
				at[j] = below[j+1] + 1
			} else {
				at[j] = max(below[j], at[j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case rows[nodes[i]].Has(j):
			path[j] = nodes[i]
			i++
			j++
		case left[(i+1)*(m+1)+j] >= left[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
}

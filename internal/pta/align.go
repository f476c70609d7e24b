package pta

import "github.com/agentlens-bench/agentlens/internal/matching"

// Origin is one step of one of the merged runs.
type Origin struct {
	Ref  int // 0-based position in the merge order
	Step int // 0-based
}

// AlignedNode is a node of an aligned reference. It is compared through the step that
// created it, for ever.
type AlignedNode struct {
	Origin
	Merged []Origin // every step merged into the node, the creator first, in merge order
}

// Aligned is the reference graph of an ordered list of runs, merged by alignment
// (spec paper_profile section 4). Paths[r] is the whole way of run r through the nodes;
// its nodes are distinct, and paths are never recombined.
type Aligned struct {
	Nodes []AlignedNode
	Paths [][]int
}

// Align merges runs of the given lengths in order. matches(o, r) returns the steps of run r
// equivalent to step o; it is asked only for r > o.Ref. Time is one alignment of each run
// with the longest matching earlier path, plus an LCS by bits with every other path.
func Align(lengths []int, matches func(o Origin, ref int) matching.Row) Aligned {
	var g Aligned
	for ref, n := range lengths {
		path := make([]int, n)
		for i := range path {
			path[i] = -1
		}
		if ref > 0 {
			g.merge(path, ref, matches)
		}
		for step, node := range path {
			o := Origin{ref, step}
			if node < 0 {
				path[step] = len(g.Nodes)
				g.Nodes = append(g.Nodes, AlignedNode{o, []Origin{o}})
			} else {
				g.Nodes[node].Merged = append(g.Nodes[node].Merged, o)
			}
		}
		g.Paths = append(g.Paths, path)
	}
	return g
}

// merge writes to path[j] the node that step j of run ref is merged into.
func (g *Aligned) merge(path []int, ref int, matches func(Origin, int) matching.Row) {
	m := len(path)
	rows := make([]matching.Row, len(g.Nodes))
	for i := range g.Nodes {
		rows[i] = matches(g.Nodes[i].Origin, ref)
	}
	best, most := 0, -1
	along := make([]matching.Row, 0, len(rows))
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
	left := make([]int32, (n+1)*(m+1)) // left[i*(m+1)+j]: LCS of what follows positions i and j
	for i := n - 1; i >= 0; i-- {
		row := rows[nodes[i]]
		at, below := left[i*(m+1):], left[(i+1)*(m+1):]
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

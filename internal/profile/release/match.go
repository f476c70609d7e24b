package release

import (
	"math/bits"

	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/matching"
)

// matcher matches one candidate with the paths of one reference. Whether a node matches a
// state does not depend on the path, apart from the initial node, so it is worked out once.
type matcher struct {
	ref       *reference
	candidate []*equiv.ReleaseStep
	rows      []matching.Row // by node: the candidate's states it matches
	known     []bool         // by node
	used      matching.Row
}

func newMatcher(ref *reference, candidate []*equiv.ReleaseStep) *matcher {
	return &matcher{
		ref: ref, candidate: candidate,
		rows:  matching.NewRows(len(ref.graph.Nodes), len(candidate)),
		known: make([]bool, len(ref.graph.Nodes)),
		used:  make(matching.Row, matching.Words(len(candidate))),
	}
}

// row returns the states a node matches anywhere but at the beginning of a path.
func (m *matcher) row(node int) matching.Row {
	row := m.rows[node]
	if !m.known[node] {
		m.known[node] = true
		step := &m.ref.graph.Nodes[node].ReleaseStep
		for j, c := range m.candidate {
			if step.Compare(c, 1).Equivalent {
				row.Set(j)
			}
		}
	}
	return row
}

// matches reports whether the position of a path matches a state; the first always does.
func (m *matcher) matches(p *path, position, state int) bool {
	return position == 0 || m.row(p.nodes[position]).Has(state)
}

// greedy gives each position of a path, in order, the first state that it matches and that
// is free, and returns the positions that got one.
func (m *matcher) greedy(p *path) []int {
	clear(m.used)
	m.used.Set(0)
	matched := append(make([]int, 0, len(p.nodes)), 0)
	for i, node := range p.nodes[1:] {
		for w, word := range m.row(node) {
			if word &^= m.used[w]; word != 0 {
				m.used.Set(w<<6 + bits.TrailingZeros64(word))
				matched = append(matched, i+1)
				break
			}
		}
	}
	return matched
}

// best returns the index of the path the candidate is judged by and its matched positions:
// most distinct stages, then most matches, then the highest coverage, then the longest, the
// first on ties.
func (m *matcher) best() (index int, matched []int) {
	index = -1
	for _, i := range m.ref.rich {
		p := &m.ref.paths[i]
		got := m.greedy(p)
		if index >= 0 && !better(got, p, matched, &m.ref.paths[index]) {
			continue
		}
		index, matched = i, got
	}
	return index, matched
}

func better(matched []int, p *path, thanMatched []int, than *path) bool {
	if len(matched) != len(thanMatched) {
		return len(matched) > len(thanMatched)
	}
	c, d := percent(len(matched), len(p.nodes)), percent(len(thanMatched), len(than.nodes))
	if c-d > 1e-9 || d-c > 1e-9 {
		return c > d
	}
	return len(p.nodes) > len(than.nodes)
}

// align walks the candidate with a pointer on the matched positions: a state that matches
// the next of them is aligned with it. The result has, for each state, a position or -1.
// This is not the greedy matching: a position that was matched early blocks what follows.
func (m *matcher) align(p *path, matched []int) []int {
	out := make([]int, len(m.candidate))
	next := 0
	for j := range out {
		out[j] = -1
		if next < len(matched) && m.matches(p, matched[next], j) {
			out[j] = matched[next]
			next++
		}
	}
	return out
}

// percent rounds its product on its own: inlined, it would be fused with a sum around it.
func percent(part, whole int) float64 { return float64(float64(part) / float64(whole) * 100) }

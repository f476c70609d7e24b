package pta_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/matching"
	"github.com/agentlens-bench/agentlens/internal/pta"
)

// words builds the matches function for runs written as words; equal letters match.
func words(runs []string) ([]int, func(pta.Origin, int) matching.Row) {
	return relation(runs, func(a, b byte) bool { return a == b })
}

func relation(runs []string, eq func(a, b byte) bool) ([]int, func(pta.Origin, int) matching.Row) {
	lengths := make([]int, len(runs))
	for i, r := range runs {
		lengths[i] = len(r)
	}
	return lengths, func(o pta.Origin, ref int) matching.Row {
		row := matching.NewRows(1, lengths[ref])[0]
		for j := range runs[ref] {
			if eq(runs[o.Ref][o.Step], runs[ref][j]) {
				row.Set(j)
			}
		}
		return row
	}
}

func TestAlign(t *testing.T) {
	for _, c := range []struct {
		name  string
		runs  []string
		nodes int
		paths [][]int
	}{
		{"nothing", nil, 0, nil},
		{"one run", []string{"ab"}, 2, [][]int{{0, 1}}},
		{"same run twice", []string{"ab", "ab"}, 2, [][]int{{0, 1}, {0, 1}}},
		{"an empty run", []string{"ab", "", "b"}, 2, [][]int{{0, 1}, {}, {1}}},
		{"a branch", []string{"abcd", "axd"}, 5, [][]int{{0, 1, 2, 3}, {0, 4, 3}}},
		{"the path with the longest alignment wins", []string{"abc", "xyz", "xyb"}, 7,
			[][]int{{0, 1, 2}, {3, 4, 5}, {3, 4, 6}}},
		{"the first of equal paths wins", []string{"ab", "xb", "b"}, 3, [][]int{{0, 1}, {2, 1}, {1}}},
		{"ties go along the path first", []string{"ab", "ba"}, 3, [][]int{{0, 1}, {1, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := pta.Align(words(c.runs))
			if len(g.Nodes) != c.nodes || !slices.EqualFunc(g.Paths, c.paths, slices.Equal) {
				t.Errorf("%d nodes, paths %v; want %d, %v", len(g.Nodes), g.Paths, c.nodes, c.paths)
			}
		})
	}
}

func TestAlignKeepsEveryRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.StringMatching(`[a-e]{0,7}`), 0, 5).Draw(t, "runs")
		near := func(a, b byte) bool { return a == b || a+1 == b || b+1 == a } // not transitive
		lengths, matches := relation(runs, near)
		g := pta.Align(lengths, matches)
		if len(g.Paths) != len(runs) {
			t.Fatalf("%d paths of %d runs", len(g.Paths), len(runs))
		}
		steps, all := 0, g.Merged()
		for r, path := range g.Paths {
			if len(path) != len(runs[r]) {
				t.Fatalf("run %d has %d steps, its path %d nodes", r, len(runs[r]), len(path))
			}
			seen := map[int]bool{}
			for j, x := range path {
				if seen[x] {
					t.Fatalf("path %d passes node %d twice", r, x)
				}
				seen[x] = true
				if !slices.Contains(all[x], pta.Origin{Ref: r, Step: j}) {
					t.Fatalf("node %d does not know step %d of run %d", x, j, r)
				}
				if o := g.Nodes[x]; !near(runs[o.Ref][o.Step], runs[r][j]) {
					t.Fatalf("node %d was made by a step that step %d of run %d does not match", x, j, r)
				}
			}
			steps += len(path)
		}
		if g.Equal > g.Checks || (len(runs) < 2 && g.Checks > 0) {
			t.Fatalf("%d of %d pairs are equivalent in %d runs", g.Equal, g.Checks, len(runs))
		}
		merged := 0
		for x, n := range g.Nodes {
			merged += len(all[x])
			if all[x][0] != n {
				t.Fatalf("node %v lists %v first", n, all[x][0])
			}
		}
		if merged != steps {
			t.Fatalf("nodes hold %d steps, the runs %d", merged, steps)
		}
		// A run merges exactly its longest alignment with one earlier path.
		for r := 1; r < len(runs); r++ {
			best := 0
			for q := range r {
				rows := make([]matching.Row, len(g.Paths[q]))
				for i, x := range g.Paths[q] {
					rows[i] = matches(g.Nodes[x], r)
				}
				best = max(best, matching.LCS(rows, len(runs[r])))
			}
			shared := 0
			for _, x := range g.Paths[r] {
				if g.Nodes[x].Ref < r {
					shared++
				}
			}
			if shared != best {
				t.Fatalf("run %d merged %d steps, its longest alignment has %d", r, shared, best)
			}
		}
	})
}

func BenchmarkAlign(b *testing.B) {
	runs := []string{"eeeeieivvoeivvv", "eeieivvvvvo", "eivivivivivo", "eeeeeeeeeeeeeeeeivvvo", "eivo"}
	lengths, matches := words(runs)
	for b.Loop() {
		pta.Align(lengths, matches)
	}
}

package matching_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/matching"
)

func drawRows(t *rapid.T, maxRows, maxCols int) ([]matching.Row, int) {
	n := rapid.IntRange(0, maxRows).Draw(t, "rows")
	m := rapid.IntRange(0, maxCols).Draw(t, "columns")
	rows := matching.NewRows(n, m)
	density := rapid.IntRange(1, 9).Draw(t, "density")
	for i := range rows {
		for j := range m {
			if rapid.IntRange(0, 9).Draw(t, "bit") < density {
				rows[i].Set(j)
			}
		}
	}
	return rows, m
}

// lcs is the quadratic table.
func lcs(rows []matching.Row, m int) int {
	prev := make([]int, m+1)
	for _, r := range rows {
		cur := make([]int, m+1)
		for j := range m {
			if r.Has(j) {
				cur[j+1] = prev[j] + 1
			} else {
				cur[j+1] = max(prev[j+1], cur[j])
			}
		}
		prev = cur
	}
	return prev[m]
}

// sequences tries every pair of strictly increasing index sequences.
func sequences(rows []matching.Row, m, row, from int) int {
	if row == len(rows) {
		return 0
	}
	best := sequences(rows, m, row+1, from)
	for j := from; j < m; j++ {
		if rows[row].Has(j) {
			best = max(best, 1+sequences(rows, m, row+1, j+1))
		}
	}
	return best
}

// matchable tries every assignment of the chosen rows to distinct columns.
func matchable(rows []matching.Row, m int, chosen []int, used uint64) bool {
	if len(chosen) == 0 {
		return true
	}
	for j := range m {
		if rows[chosen[0]].Has(j) && used&(1<<j) == 0 && matchable(rows, m, chosen[1:], used|1<<j) {
			return true
		}
	}
	return false
}

func TestLCSIsTheLongestPairOfSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, m := drawRows(t, 5, 6)
		if got, want := matching.LCS(rows, m), sequences(rows, m, 0, 0); got != want {
			t.Fatalf("LCS = %d, brute force %d", got, want)
		}
	})
}

func TestLCSAcrossWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, m := drawRows(t, 4, 200)
		if got, want := matching.LCS(rows, m), lcs(rows, m); got != want {
			t.Fatalf("LCS = %d over %d columns, table %d", got, m, want)
		}
	})
}

func TestMatcherKeepsTheGreedySet(t *testing.T) {
	var matcher matching.Matcher // shared: scratch of one call must not leak into the next
	rapid.Check(t, func(t *rapid.T) {
		rows, m := drawRows(t, 7, 6)
		size := matcher.Size(rows, m)
		var kept []int
		for i := range rows {
			fits := matchable(rows, m, append(kept[:len(kept):len(kept)], i), 0)
			if fits {
				kept = append(kept, i)
			}
			if matcher.Matched(i) != fits {
				t.Fatalf("row %d: matched %v, greedy set says %v", i, matcher.Matched(i), fits)
			}
		}
		if size != len(kept) {
			t.Fatalf("size %d, greedy set has %d", size, len(kept))
		}
		owners := 0
		for j := range m {
			if i := matcher.Owner(j); i >= 0 {
				owners++
				if !rows[i].Has(j) || !matcher.Matched(i) {
					t.Fatalf("column %d belongs to row %d, which does not match it", j, i)
				}
			}
		}
		if owners != size {
			t.Fatalf("%d columns owned, size %d", owners, size)
		}
	})
}

// maximum is the textbook algorithm, one search per row over fresh visited marks.
func maximum(rows []matching.Row, m int) int {
	owner := make([]int, m)
	for j := range owner {
		owner[j] = -1
	}
	var try func(i int, seen []bool) bool
	try = func(i int, seen []bool) bool {
		for j := range m {
			if rows[i].Has(j) && !seen[j] {
				seen[j] = true
				if owner[j] < 0 || try(owner[j], seen) {
					owner[j] = i
					return true
				}
			}
		}
		return false
	}
	n := 0
	for i := range rows {
		if try(i, make([]bool, m)) {
			n++
		}
	}
	return n
}

func TestMatcherAcrossWords(t *testing.T) {
	var matcher matching.Matcher
	rapid.Check(t, func(t *rapid.T) {
		rows, m := drawRows(t, 12, 140)
		for i := range rows { // sparse, so that rows compete
			for w := range rows[i] {
				for range 3 {
					rows[i][w] &= rapid.Uint64().Draw(t, "mask")
				}
			}
		}
		if got, want := matcher.Size(rows, m), maximum(rows, m); got != want {
			t.Fatalf("size %d, textbook %d", got, want)
		}
	})
}

func TestScan(t *testing.T) {
	rows := matching.NewRows(4, 70)
	rows[0].Set(65)
	rows[1].Set(3)
	rows[2].Set(65)
	rows[2].Set(66)
	rows[3].Set(69)
	if got := matching.Scan(rows); got != 3 {
		t.Errorf("Scan = %d, want 3: row 1 lies before what row 0 took", got)
	}
	if got := matching.Scan(nil); got != 0 {
		t.Errorf("Scan of nothing = %d", got)
	}
}

func BenchmarkMatcher(b *testing.B) {
	rows := matching.NewRows(120, 60)
	for i := range rows {
		for k := range 5 {
			rows[i].Set((i*7 + k*k*11) % 60)
		}
	}
	var matcher matching.Matcher
	for b.Loop() {
		matcher.Size(rows, 60)
	}
}

func BenchmarkLCS(b *testing.B) {
	rows := matching.NewRows(60, 60)
	for i := range rows {
		for k := range 5 {
			rows[i].Set((i*7 + k*k*11) % 60)
		}
	}
	for b.Loop() {
		matching.LCS(rows, 60)
	}
}

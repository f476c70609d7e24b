package matching

import "math/bits"

// Matcher finds maximum bipartite matchings between rows and columns. It keeps its scratch
// space between calls; one goroutine at a time may use it.
type Matcher struct {
	rows    []Row
	words   int
	owner   []int32  // row matched to a column, valid where free is clear
	free    []uint64 // unmatched columns
	blocked []uint64 // columns not worth visiting: seen in this search, or dead for good
	dead    []uint64 // columns from which no free column can be reached any more
	matched []bool
}

// Size returns the size of a maximum matching between rows and m columns. Afterwards
// Matched and Owner tell more.
//
// Rows are added one by one along augmenting paths and stay matched once they are, so the
// set of matched rows is the lexicographically first one of maximum size.
func (t *Matcher) Size(rows []Row, m int) int {
	t.rows, t.words = rows, Words(m)
	t.owner = grow(t.owner, m)
	t.matched = grow(t.matched, len(rows))
	t.free, t.blocked, t.dead = grow(t.free, t.words), grow(t.blocked, t.words), grow(t.dead, t.words)
	for i := range t.words {
		t.free[i], t.dead[i] = low(m-64*i), 0
	}
	size := 0
	for i, r := range rows {
		t.matched[i] = false
		if r.Empty() {
			continue
		}
		copy(t.blocked, t.dead)
		if t.augment(int32(i)) {
			t.matched[i] = true
			size++
			if size == m {
				for k := i + 1; k < len(rows); k++ {
					t.matched[k] = false
				}
				break
			}
		} else {
			copy(t.dead, t.blocked)
		}
	}
	return size
}

// Matched reports whether row i is matched.
func (t *Matcher) Matched(i int) bool { return t.matched[i] }

// Owner returns the row matched to column j, -1 when there is none.
func (t *Matcher) Owner(j int) int {
	if t.free[j>>6]&(1<<(j&63)) != 0 {
		return -1
	}
	return int(t.owner[j])
}

func (t *Matcher) augment(row int32) bool {
	r := t.rows[row]
	for i := range t.words {
		if x := r[i] & t.free[i]; x != 0 {
			bit := bits.TrailingZeros64(x)
			t.free[i] &^= 1 << bit
			t.owner[i<<6+bit] = row
			return true
		}
	}
	for i := range t.words {
		for {
			x := r[i] &^ t.blocked[i]
			if x == 0 {
				break
			}
			bit := bits.TrailingZeros64(x)
			t.blocked[i] |= 1 << bit
			j := i<<6 + bit
			if t.augment(t.owner[j]) {
				t.owner[j] = row
				return true
			}
		}
	}
	return false
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}

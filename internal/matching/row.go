package matching

import "math/bits"

// Row is a set of column indexes.
type Row []uint64

// Words returns the words a Row over m columns needs.
func Words(m int) int { return (m + 63) / 64 }

// NewRows returns n empty rows over m columns in one allocation.
func NewRows(n, m int) []Row {
	w := Words(m)
	backing := make([]uint64, n*w)
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = backing[i*w : (i+1)*w : (i+1)*w]
	}
	return rows
}

// Set adds column j.
func (r Row) Set(j int) { r[j>>6] |= 1 << (j & 63) }

// Has reports whether column j is in the row.
func (r Row) Has(j int) bool { return r[j>>6]&(1<<(j&63)) != 0 }

// Next returns the smallest column at or after from, -1 when there is none.
func (r Row) Next(from int) int {
	w := from >> 6
	if w >= len(r) {
		return -1
	}
	word := r[w] &^ (1<<(from&63) - 1)
	for word == 0 {
		w++
		if w == len(r) {
			return -1
		}
		word = r[w]
	}
	return w<<6 + bits.TrailingZeros64(word)
}

// Empty reports whether the row has no column.
func (r Row) Empty() bool {
	for _, word := range r {
		if word != 0 {
			return false
		}
	}
	return true
}

// Or adds the columns of o.
func (r Row) Or(o Row) {
	for i, word := range o {
		r[i] |= word
	}
}

// Count returns the number of columns in the row.
func (r Row) Count() int {
	n := 0
	for _, word := range r {
		n += bits.OnesCount64(word)
	}
	return n
}

// Scan walks the rows in order and takes for each the smallest column after the one taken
// last; rows without such a column are passed over. It returns how many rows took one.
func Scan(rows []Row) int {
	taken, from := 0, 0
	for _, r := range rows {
		if j := r.Next(from); j >= 0 {
			taken++
			from = j + 1
		}
	}
	return taken
}

// LCS returns the length of the longest order-preserving matching between the rows and m
// columns, in time len(rows)*Words(m). Set bits of the running vector are the columns where
// the usual length table does not grow; the carry of the addition moves growth to the
// first matching column of each block (Hyyrö's bit-parallel recurrence, which needs the
// match matrix only).
func LCS(rows []Row, m int) int {
	if m <= 64 {
		v := ^uint64(0)
		for _, r := range rows {
			if len(r) > 0 {
				u := v & r[0]
				v = (v + u) | (v - u)
			}
		}
		return bits.OnesCount64(^v & low(m))
	}
	w := Words(m)
	v := make([]uint64, w)
	for i := range v {
		v[i] = ^uint64(0)
	}
	for _, r := range rows {
		var carry uint64
		for i, x := range v {
			u := x & r[i]
			var sum uint64
			sum, carry = bits.Add64(x, u, carry)
			v[i] = sum | (x &^ u)
		}
	}
	n := 0
	for i, x := range v {
		if i == w-1 {
			x |= ^low(m - 64*i)
		}
		n += bits.OnesCount64(^x)
	}
	return n
}

// low returns a word with the n lowest bits set, n in 0..64.
func low(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

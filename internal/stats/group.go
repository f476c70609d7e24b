package stats

import "slices"

// groupIDs numbers the distinct names in ascending order and returns the number of each row
// together with the names.
func groupIDs(names []string) (ids []int, distinct []string) {
	distinct = slices.Clone(names)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	number := make(map[string]int, len(distinct))
	for i, n := range distinct {
		number[n] = i
	}
	ids = make([]int, len(names))
	for i, n := range names {
		ids[i] = number[n]
	}
	return ids, distinct
}

// cellIDs numbers the combinations of the given keys that occur among n rows; without keys
// all rows are in cell 0. Cells are ordered by the keys, first key first.
func cellIDs(n int, keys ...[]string) (ids []int, cells int, err error) {
	ids = make([]int, n)
	cells = min(n, 1)
	for _, key := range keys {
		if err := checkLength("scores", n, "group names", len(key)); err != nil {
			return nil, 0, err
		}
		sub, names := groupIDs(key)
		for i := range ids {
			ids[i] = ids[i]*len(names) + sub[i]
		}
		ids, cells = denseIDs(ids)
	}
	return ids, cells, nil
}

// denseIDs renumbers ids to 0..cells-1, keeping their order.
func denseIDs(ids []int) (dense []int, cells int) {
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	dense = make([]int, len(ids))
	for i, id := range ids {
		dense[i], _ = slices.BinarySearch(distinct, id)
	}
	return dense, len(distinct)
}

// Crosstab counts the pairs (a[i], b[i]). Rows and columns are the distinct names in
// ascending order; table[r][c] is the number of pairs (rows[r], cols[c]).
func Crosstab(a, b []string) (rows, cols []string, table [][]int, err error) {
	if err := checkLength("row names", len(a), "column names", len(b)); err != nil {
		return nil, nil, nil, err
	}
	r, rows := groupIDs(a)
	c, cols := groupIDs(b)
	table = zeroTable(len(rows), len(cols))
	for i := range r {
		table[r[i]][c[i]]++
	}
	return rows, cols, table, nil
}

func zeroTable(rows, cols int) [][]int {
	cells := make([]int, rows*cols)
	table := make([][]int, rows)
	for i := range table {
		table[i] = cells[i*cols : (i+1)*cols : (i+1)*cols]
	}
	return table
}

// Ranks returns the ranks 1..n of x in ascending order, equal values sharing the mean of
// their ranks (scipy.stats.rankdata, method average).
func Ranks(x []float64) []float64 {
	order := sortedOrder(x)
	ranks := make([]float64, len(x))
	forTies(x, order, func(lo, hi int) {
		r := float64(lo+1+hi) / 2
		for _, i := range order[lo:hi] {
			ranks[i] = r
		}
	})
	return ranks
}

// sortedOrder returns the indices of x in ascending order of value, equal values by index.
// x holds no NaN.
func sortedOrder(x []float64) []int {
	type item struct {
		value float64
		index int
	}
	items := make([]item, len(x))
	for i, v := range x {
		items[i] = item{v, i}
	}
	slices.SortFunc(items, func(a, b item) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		default:
			return a.index - b.index
		}
	})
	order := make([]int, len(x))
	for k, it := range items {
		order[k] = it.index
	}
	return order
}

// forTies calls f for every maximal range [lo, hi) of order whose values are equal.
func forTies(x []float64, order []int, f func(lo, hi int)) {
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && x[order[hi]] == x[order[lo]] {
			hi++
		}
		f(lo, hi)
		lo = hi
	}
}

// tieSizes returns the sizes above 1 of the groups of equal values, by ascending value.
func tieSizes(x []float64) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	var sizes []float64
	for lo := 0; lo < len(sorted); {
		hi := lo + 1
		for hi < len(sorted) && sorted[hi] == sorted[lo] {
			hi++
		}
		if hi-lo > 1 {
			sizes = append(sizes, float64(hi-lo))
		}
		lo = hi
	}
	return sizes
}

// sumOf returns the sum of g over sizes.
func sumOf(sizes []float64, g func(t float64) float64) float64 {
	sum := 0.0
	for _, t := range sizes {
		sum += g(t)
	}
	return sum
}

// cubicTies is the term of a group of t tied values in the variance of rank statistics.
func cubicTies(t float64) float64 { return float64(t*t*t) - t }

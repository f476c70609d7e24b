package stats

import (
	"math"
	"math/rand/v2"
)

// LowExpected is the expected count below which the chi-square approximation is doubtful.
const LowExpected = 5

// ChiSquareResult is a test of independence in a table of counts.
type ChiSquareResult struct {
	Statistic   float64
	DoF         int // (rows-1)*(columns-1)
	P           float64
	LogP        float64 // natural logarithm of P, finite also where P underflows to 0
	N           int
	Expected    [][]float64
	LowCells    int // cells with an expected count below LowExpected: the p-value is doubtful
	MinExpected float64
	Yates       bool // the continuity correction was applied
}

// ChiSquare tests rows against columns by Pearson's chi-square, Σ (O-E)²/E. With yates the
// continuity correction moves every cell by up to 0.5 towards its expectation, in tables
// with one degree of freedom only (scipy's chi2_contingency). A single row or column gives
// statistic 0, p 1. An empty row or column has no expectation and makes the test undefined;
// [DropEmpty] removes it.
func ChiSquare(table [][]int, yates bool) (ChiSquareResult, error) {
	res, err := expect(table)
	if err != nil {
		return ChiSquareResult{}, err
	}
	res.Yates = yates && res.DoF == 1
	for r, row := range table {
		for c, n := range row {
			e := res.Expected[r][c]
			d := math.Abs(float64(n) - e)
			if res.Yates {
				d -= min(0.5, d)
			}
			res.Statistic += float64(d*d) / e
		}
	}
	return res.withP(), nil
}

// GTest tests independence by the likelihood ratio, G = 2 Σ O ln(O/E), empty cells giving 0;
// otherwise like [ChiSquare] without correction.
func GTest(table [][]int) (ChiSquareResult, error) {
	res, err := expect(table)
	if err != nil {
		return ChiSquareResult{}, err
	}
	for r, row := range table {
		for c, n := range row {
			if n > 0 {
				res.Statistic += float64(2 * float64(n) * math.Log(float64(n)/res.Expected[r][c]))
			}
		}
	}
	res.Statistic = max(0, res.Statistic)
	return res.withP(), nil
}

func (r ChiSquareResult) withP() ChiSquareResult {
	r.P = ChiSquareSF(r.Statistic, r.DoF)
	r.LogP = ChiSquareLogSF(r.Statistic, r.DoF)
	return r
}

// expect fills in everything but the statistic and its p-value.
func expect(table [][]int) (ChiSquareResult, error) {
	rows, cols, n, err := margins(table)
	if err != nil {
		return ChiSquareResult{}, err
	}
	res := ChiSquareResult{
		DoF: (len(rows) - 1) * (len(cols) - 1), N: n,
		Expected: make([][]float64, len(rows)), MinExpected: math.Inf(1),
	}
	for r := range rows {
		res.Expected[r] = make([]float64, len(cols))
		for c := range cols {
			e := float64(rows[r]) * float64(cols[c]) / float64(n)
			res.Expected[r][c] = e
			res.MinExpected = min(res.MinExpected, e)
			if e < LowExpected {
				res.LowCells++
			}
		}
	}
	return res, nil
}

// margins checks a table of counts and returns its row, column and grand totals, all
// positive.
func margins(table [][]int) (rows, cols []int, n int, err error) {
	if len(table) == 0 || len(table[0]) == 0 {
		return nil, nil, 0, undefined("the table has no cells")
	}
	rows, cols = make([]int, len(table)), make([]int, len(table[0]))
	for r, row := range table {
		if len(row) != len(cols) {
			return nil, nil, 0, invalid("row %d has %d columns, row 0 has %d", r, len(row), len(cols))
		}
		for c, k := range row {
			if k < 0 {
				return nil, nil, 0, invalid("count %d in row %d, column %d", k, r, c)
			}
			rows[r] += k
			cols[c] += k
			n += k
		}
	}
	for r, k := range rows {
		if k == 0 {
			return nil, nil, 0, undefined("row %d of the table is empty; drop it first", r)
		}
	}
	for c, k := range cols {
		if k == 0 {
			return nil, nil, 0, undefined("column %d of the table is empty; drop it first", c)
		}
	}
	return rows, cols, n, nil
}

// DropEmpty returns the table without its empty rows and columns, and the indices of those
// it kept.
func DropEmpty(table [][]int) (kept [][]int, rows, cols []int) {
	var width int
	for _, row := range table {
		width = max(width, len(row))
	}
	total := make([]int, width)
	for r, row := range table {
		sum := 0
		for c, n := range row {
			sum += n
			total[c] += n
		}
		if sum > 0 {
			rows = append(rows, r)
		}
	}
	for c, n := range total {
		if n > 0 {
			cols = append(cols, c)
		}
	}
	kept = zeroTable(len(rows), len(cols))
	for i, r := range rows {
		for j, c := range cols {
			if c < len(table[r]) {
				kept[i][j] = table[r][c]
			}
		}
	}
	return kept, rows, cols
}

// Association holds measures of association of a table, all from the uncorrected
// chi-square.
type Association struct {
	CramerV          Figure // sqrt(φ²/min(rows-1, columns-1)), φ² = χ²/N
	CramerVCorrected Figure // bias-corrected (Bergsma, J. Korean Stat. Soc. 42, 2013)
	TschuprowT       Figure // sqrt(φ²/sqrt((rows-1)(columns-1)))
	PearsonC         float64
}

// Associate measures the association of rows and columns. With a single row or column only
// Pearson's C = sqrt(χ²/(N+χ²)) exists; it is 0.
func Associate(table [][]int) (Association, error) {
	chi, err := ChiSquare(table, false)
	if err != nil {
		return Association{}, err
	}
	n, r, c := float64(chi.N), float64(len(table)), float64(len(table[0]))
	a := Association{PearsonC: math.Sqrt(chi.Statistic / (n + chi.Statistic))}
	if chi.DoF == 0 {
		none := Figure{Err: undefined("the association of a table with a single row or column")}
		a.CramerV, a.CramerVCorrected, a.TschuprowT = none, none, none
		return a, nil
	}
	phi2 := chi.Statistic / n
	a.CramerV.Value = math.Sqrt(phi2 / min(r-1, c-1))
	a.TschuprowT.Value = math.Sqrt(phi2 / math.Sqrt((r-1)*(c-1)))
	corrected := max(0, phi2-(r-1)*(c-1)/(n-1))
	side := min(r-1-float64((r-1)*(r-1))/(n-1), c-1-float64((c-1)*(c-1))/(n-1))
	if side > 0 {
		a.CramerVCorrected.Value = math.Sqrt(corrected / side)
	} else {
		a.CramerVCorrected.Err = undefined("the bias correction exceeds the table: %d observations in %d by %d cells", chi.N, len(table), len(table[0]))
	}
	return a, nil
}

// PermutationResult is a Monte Carlo p-value.
type PermutationResult struct {
	P            float64 // (Exceed+1)/(Permutations+1), never 0
	Exceed       int     // permutations at least as extreme as the data
	Permutations int
}

// ChiSquarePermutation returns the p-value of independence over random pairings of the
// observations with both margins fixed, by r.Resamples permutations; it holds for any
// expected counts. r.Level is not used.
func ChiSquarePermutation(table [][]int, r Resampling) (PermutationResult, error) {
	rows, cols, n, err := margins(table)
	if err != nil {
		return PermutationResult{}, err
	}
	// With fixed margins χ² orders tables as Σ O²/(R*C) does.
	statistic := func(t []int) float64 {
		sum := 0.0
		for i := range rows {
			for j := range cols {
				o := float64(t[i*len(cols)+j])
				sum += o * o / (float64(rows[i]) * float64(cols[j]))
			}
		}
		return sum
	}
	var flat, rowOf, colOf []int
	for i, row := range table {
		flat = append(flat, row...)
		for j, k := range row {
			for range k {
				rowOf = append(rowOf, i)
				colOf = append(colOf, j)
			}
		}
	}
	bar := statistic(flat) * (1 - 1e-12)
	stats, err := r.replicate(1, func() sampler {
		shuffled := make([]int, n)
		t := make([]int, len(flat))
		return func(rng *rand.Rand, out []float64) error {
			copy(shuffled, colOf)
			rng.Shuffle(n, func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
			clear(t)
			for k, i := range rowOf {
				t[i*len(cols)+shuffled[k]]++
			}
			out[0] = statistic(t)
			return nil
		}
	})
	if err != nil {
		return PermutationResult{}, err
	}
	res := PermutationResult{Permutations: r.Resamples}
	for _, s := range stats[0] {
		if s >= bar {
			res.Exceed++
		}
	}
	res.P = float64(res.Exceed+1) / float64(r.Resamples+1)
	return res, nil
}

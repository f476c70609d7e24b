package stats

import (
	"math"
	"slices"
)

// Correlation is a coefficient in [-1, 1] with its two-sided p-value.
type Correlation struct {
	R float64
	P float64
	N int
}

// Pearson returns the product-moment correlation, p from Student's t with n-2 degrees of
// freedom (p = 1 for two rows). A constant column or fewer than two rows are undefined.
func Pearson(x, y []float64) (Correlation, error) {
	if err := checkFinite("x", x); err != nil {
		return Correlation{}, err
	}
	if err := checkFinite("y", y); err != nil {
		return Correlation{}, err
	}
	return pearson(x, y)
}

// Spearman returns the rank correlation: [Pearson] of the average ranks. Infinite values are
// ranked like any other.
func Spearman(x, y []float64) (Correlation, error) {
	if err := checkNaN("x", x); err != nil {
		return Correlation{}, err
	}
	if err := checkNaN("y", y); err != nil {
		return Correlation{}, err
	}
	return pearson(Ranks(x), Ranks(y))
}

func pearson(x, y []float64) (Correlation, error) {
	if err := checkColumns(x, y); err != nil {
		return Correlation{}, err
	}
	mx, my := mean(x), mean(y)
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += float64(dx * dx)
		yy += float64(dy * dy)
		xy += float64(dx * dy)
	}
	if _, err := inRange(xx + yy); err != nil {
		return Correlation{}, err
	}
	r, err := inRange(xy / math.Sqrt(xx) / math.Sqrt(yy))
	if err != nil {
		return Correlation{}, err
	}
	r = min(1, max(-1, r))
	if len(x) == 2 {
		r = math.Copysign(1, xy)
	}
	c := Correlation{R: r, P: 1, N: len(x)}
	if dof := float64(len(x) - 2); dof > 0 {
		c.P = studentTwoSided(r*math.Sqrt(dof/((1-r)*(1+r))), dof)
	}
	return c, nil
}

func checkColumns(x, y []float64) error {
	if err := checkLength("x values", len(x), "y values", len(y)); err != nil {
		return err
	}
	if len(x) < 2 {
		return undefined("a correlation needs two rows, got %d", len(x))
	}
	if constant(x) || constant(y) {
		return undefined("a column is constant")
	}
	return nil
}

const kendallExactMax = 33

// Kendall returns tau-b, (concordant - discordant)/sqrt((pairs - ties in x)(pairs - ties in
// y)), in O(n log n) (Knight, JASA 61, 1966). Without ties and up to 33 rows, or with at most
// one pair out of order, p is exact; otherwise it is normal with the variance corrected for
// ties (scipy's rule).
func Kendall(x, y []float64) (Correlation, error) {
	if err := checkNaN("x", x); err != nil {
		return Correlation{}, err
	}
	if err := checkNaN("y", y); err != nil {
		return Correlation{}, err
	}
	if err := checkColumns(x, y); err != nil {
		return Correlation{}, err
	}
	n := len(x)
	pair := func(t float64) float64 { return t * (t - 1) / 2 }
	order := sortedOrder(x)
	byX := make([]float64, n)
	for k, i := range order {
		byX[k] = y[i]
	}
	joint := 0.0
	forTies(x, order, func(lo, hi int) {
		joint += sumOf(tieSizes(byX[lo:hi]), pair)
		slices.Sort(byX[lo:hi])
	})
	discordant := float64(countInversions(byX, make([]float64, n)))

	xTies, yTies := tieSizes(x), tieSizes(y)
	tx, ty := sumOf(xTies, pair), sumOf(yTies, pair)
	total := pair(float64(n))
	diff := total - tx - ty + joint - 2*discordant
	c := Correlation{N: n, R: min(1, max(-1, diff/math.Sqrt(total-tx)/math.Sqrt(total-ty)))}

	least := min(discordant, total-discordant)
	if tx == 0 && ty == 0 && (n <= kendallExactMax || least <= 1) {
		c.P = kendallExactP(n, int(least))
		return c, nil
	}
	triple := func(t float64) float64 { return t * (t - 1) * (t - 2) }
	spread := func(t float64) float64 { return t * (t - 1) * (2*t + 5) }
	nf := float64(n)
	m := nf * (nf - 1)
	variance := (float64(m*(2*nf+5))-sumOf(xTies, spread)-sumOf(yTies, spread))/18 + 2*tx*ty/m
	if n > 2 {
		variance += sumOf(xTies, triple) * sumOf(yTies, triple) / (9 * m * (nf - 2))
	}
	c.P = min(1, 2*NormalSF(math.Abs(diff)/math.Sqrt(variance)))
	return c, nil
}

// countInversions sorts x and returns the number of pairs i < j with x[i] > x[j].
func countInversions(x, buf []float64) int64 {
	if len(x) < 2 {
		return 0
	}
	mid := len(x) / 2
	n := countInversions(x[:mid], buf[:mid]) + countInversions(x[mid:], buf[mid:])
	copy(buf, x)
	i, j := 0, mid
	for k := range x {
		if j == len(x) || i < mid && buf[i] <= buf[j] {
			x[k] = buf[i]
			i++
		} else {
			x[k] = buf[j]
			j++
			n += int64(mid - i)
		}
	}
	return n
}

// kendallExactP returns twice the probability of at most c inversions in a random order of n
// distinct values. The distribution is built by inserting one value at a time.
func kendallExactP(n, c int) float64 {
	p := make([]float64, c+1)
	p[0] = 1
	next := make([]float64, c+1)
	for k := 2; k <= n; k++ {
		for j := range next {
			window := 0.0
			for i := max(0, j-k+1); i <= j; i++ {
				window += p[i]
			}
			next[j] = window / float64(k)
		}
		p, next = next, p
	}
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	return min(1, 2*sum)
}

package stats

import (
	"math"
	"slices"
)

// Quantile returns the p-quantile of x, 0 <= p <= 1, by linear interpolation at position
// (n-1)*p of the sorted values: numpy's default, Hyndman and Fan's type 7. No values are
// undefined.
func Quantile(x []float64, p float64) (float64, error) {
	if !(p >= 0 && p <= 1) {
		return 0, invalid("quantile %v is not between 0 and 1", p)
	}
	if err := checkFinite("value", x); err != nil {
		return 0, err
	}
	if len(x) == 0 {
		return 0, undefined("no values")
	}
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return inRange(sortedQuantile(sorted, p))
}

func sortedQuantile(sorted []float64, p float64) float64 {
	at := float64(float64(len(sorted)-1) * p)
	i := int(math.Floor(at))
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	a, b, t := sorted[i], sorted[i+1], at-float64(i)
	// Interpolating from the nearer end is what numpy does, and hits both ends exactly.
	if t < 0.5 {
		return a + float64((b-a)*t)
	}
	return b - float64((b-a)*(1-t))
}

// Mean returns the arithmetic mean, summed in order. No values are undefined.
func Mean(x []float64) (float64, error) {
	if err := checkFinite("value", x); err != nil {
		return 0, err
	}
	if len(x) == 0 {
		return 0, undefined("no values")
	}
	return inRange(mean(x))
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// centralMoments returns the mean and the central moments Σ(x-mean)^k/n for k = 2, 3, 4.
func centralMoments(x []float64) (m, m2, m3, m4 float64) {
	m = mean(x)
	for _, v := range x {
		d := v - m
		d2 := float64(d * d)
		m2 += d2
		m3 += float64(d2 * d)
		m4 += float64(d2 * d2)
	}
	n := float64(len(x))
	return m, m2 / n, m3 / n, m4 / n
}

// Description summarises one column.
type Description struct {
	N        int
	Mean     float64
	SD       Figure // divisor n-1
	Min      float64
	Q25      float64
	Median   float64
	Q75      float64
	Max      float64
	Skew     Figure // m3/m2^1.5, not bias-corrected (scipy's default)
	Kurtosis Figure // excess, m4/m2²-3, not bias-corrected
}

// Describe summarises x. No values are undefined; one value has no SD, equal values have
// neither skew nor kurtosis.
func Describe(x []float64) (Description, error) {
	if err := checkFinite("value", x); err != nil {
		return Description{}, err
	}
	if len(x) == 0 {
		return Description{}, undefined("no values")
	}
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	m, m2, m3, m4 := centralMoments(x)
	n := float64(len(x))
	d := Description{
		N: len(x), Mean: m,
		Min: sorted[0], Max: sorted[len(sorted)-1],
		Q25: sortedQuantile(sorted, 0.25), Median: sortedQuantile(sorted, 0.5), Q75: sortedQuantile(sorted, 0.75),
	}
	for _, v := range []float64{d.Mean, d.Q25, d.Median, d.Q75} {
		if _, err := inRange(v); err != nil {
			return Description{}, err
		}
	}
	if len(x) > 1 {
		d.SD = figure(inRange(math.Sqrt(m2 * n / (n - 1))))
	} else {
		d.SD.Err = undefined("the standard deviation of one value")
	}
	if sorted[0] != sorted[len(sorted)-1] {
		d.Skew = figure(inRange(m3 / math.Pow(m2, 1.5)))
		d.Kurtosis = figure(inRange(m4/float64(m2*m2) - 3))
	} else {
		none := Figure{Err: undefined("all values are equal")}
		d.Skew, d.Kurtosis = none, none
	}
	return d, nil
}

// PopulationSD returns the standard deviation with divisor n.
func PopulationSD(x []float64) (float64, error) {
	if _, err := Mean(x); err != nil {
		return 0, err
	}
	_, m2, _, _ := centralMoments(x)
	return inRange(math.Sqrt(m2))
}

// EtaSquared returns the share of the variation of x that lies between groups: the
// between-group over the total sum of squares. Equal values are undefined.
func EtaSquared(x []float64, group []string) (float64, error) {
	if err := checkLength("values", len(x), "group names", len(group)); err != nil {
		return 0, err
	}
	grand, err := Mean(x)
	if err != nil {
		return 0, err
	}
	ids, names := groupIDs(group)
	sum, n := make([]float64, len(names)), make([]float64, len(names))
	total := 0.0
	for i, v := range x {
		sum[ids[i]] += v
		n[ids[i]]++
		total += float64((v - grand) * (v - grand))
	}
	if total == 0 || constant(x) {
		return 0, undefined("all values are equal")
	}
	between := 0.0
	for g := range names {
		d := sum[g]/n[g] - grand
		between += float64(n[g] * d * d)
	}
	if _, err := inRange(total); err != nil {
		return 0, err
	}
	return inRange(between / total)
}

func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

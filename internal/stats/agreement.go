package stats

import "math"

// Agreement holds the ratings of subjects by raters as counts: counts[i][k] raters put
// subject i into category k. Fleiss' kappa needs the same number of raters, at least two,
// for every subject.
type Agreement struct {
	counts [][]int
	raters int
	share  []float64 // of all ratings, per category
	pa     float64   // share of agreeing pairs of raters
	pe     float64   // Σ share²
}

// NewAgreement checks a table of subjects by categories. No subjects are undefined; rows with
// different totals are refused ([Krippendorff] takes them).
func NewAgreement(counts [][]int) (*Agreement, error) {
	cats, err := checkRatings(counts)
	if err != nil {
		return nil, err
	}
	a := &Agreement{counts: counts, share: make([]float64, cats)}
	for i, row := range counts {
		n := sum(row)
		if i == 0 {
			a.raters = n
		}
		if n != a.raters {
			return nil, invalid("subject %d has %d ratings, subject 0 has %d; use Krippendorff's alpha for incomplete ratings", i, n, a.raters)
		}
		for k, c := range row {
			a.share[k] += float64(c)
		}
	}
	if a.raters < 2 {
		return nil, undefined("agreement needs two raters, got %d", a.raters)
	}
	ratings := float64(len(counts)) * float64(a.raters)
	agree := 0
	for _, row := range counts {
		agree += agreeing(row)
	}
	a.pa = float64(agree) / (ratings * float64(a.raters-1))
	for k := range a.share {
		a.share[k] /= ratings
		a.pe += float64(a.share[k] * a.share[k])
	}
	return a, nil
}

func checkRatings(counts [][]int) (categories int, err error) {
	if len(counts) == 0 || len(counts[0]) == 0 {
		return 0, undefined("no ratings")
	}
	for i, row := range counts {
		if len(row) != len(counts[0]) {
			return 0, invalid("subject %d has %d categories, subject 0 has %d", i, len(row), len(counts[0]))
		}
		for k, c := range row {
			if c < 0 {
				return 0, invalid("count %d for subject %d, category %d", c, i, k)
			}
		}
	}
	return len(counts[0]), nil
}

func sum(row []int) int {
	n := 0
	for _, c := range row {
		n += c
	}
	return n
}

// agreeing returns the ordered pairs of raters that agree on a subject.
func agreeing(row []int) int {
	n := 0
	for _, c := range row {
		n += c * (c - 1)
	}
	return n
}

// Subjects returns the number of subjects.
func (a *Agreement) Subjects() int { return len(a.counts) }

// Raters returns the number of ratings per subject.
func (a *Agreement) Raters() int { return a.raters }

// Raw returns the share of pairs of raters that agree, over all subjects.
func (a *Agreement) Raw() float64 { return a.pa }

// Chance returns the agreement expected from the category shares alone, Σ share².
func (a *Agreement) Chance() float64 { return a.pe }

// Unanimous returns the share of subjects on which all raters agree.
func (a *Agreement) Unanimous() float64 {
	n := 0
	for _, row := range a.counts {
		if agreeing(row) == a.raters*(a.raters-1) {
			n++
		}
	}
	return float64(n) / float64(len(a.counts))
}

// FleissKappa returns (Raw - Chance)/(1 - Chance) (Fleiss 1971). All ratings in one category
// are undefined.
func (a *Agreement) FleissKappa() (float64, error) {
	if a.oneCategory() {
		return 0, undefined("all ratings are in one category")
	}
	return (a.pa - a.pe) / (1 - a.pe), nil
}

func (a *Agreement) oneCategory() bool {
	used := 0
	for _, s := range a.share {
		if s > 0 {
			used++
		}
	}
	return used == 1
}

// RandolphKappa returns the free-marginal kappa, with chance agreement 1/categories
// (Randolph 2005). A single category is undefined.
func (a *Agreement) RandolphKappa() (float64, error) {
	q := float64(len(a.share))
	if q < 2 {
		return 0, undefined("free-marginal kappa of a single category")
	}
	return (a.pa - 1/q) / (1 - 1/q), nil
}

// FleissSE returns the standard error of Fleiss' kappa over subjects (Gwet, Handbook of
// Inter-Rater Reliability, 2014, without finite population correction): the standard
// deviation of k_i - 2(1-kappa)(e_i-pe)/(1-pe) around kappa, over sqrt(n(n-1)), where k_i is
// the kappa of subject i and e_i its mean category share. One subject is undefined.
func (a *Agreement) FleissSE() (float64, error) {
	kappa, err := a.FleissKappa()
	if err != nil {
		return 0, err
	}
	n := float64(len(a.counts))
	if n < 2 {
		return 0, undefined("the standard error of kappa from one subject")
	}
	ss := 0.0
	for _, row := range a.counts {
		agree := float64(agreeing(row)) / float64(a.raters*(a.raters-1))
		e := 0.0
		for k, c := range row {
			e += float64(a.share[k] * float64(c) / float64(a.raters))
		}
		d := (agree-a.pe)/(1-a.pe) - float64(2*(1-kappa)*(e-a.pe)/(1-a.pe)) - kappa
		ss += float64(d * d)
	}
	return math.Sqrt(ss / (n * (n - 1))), nil
}

// FleissInterval returns kappa ± z*[Agreement.FleissSE]. The upper end may exceed 1.
func (a *Agreement) FleissInterval(level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	se, err := a.FleissSE()
	if err != nil {
		return Interval{}, err
	}
	kappa, err := a.FleissKappa()
	if err != nil {
		return Interval{}, err
	}
	half := float64(normalQuantile(level) * se)
	return Interval{kappa - half, kappa + half, level}, nil
}

// FleissJackknifeSE returns the standard error of Fleiss' kappa from leaving out one subject
// at a time. It is undefined when a kappa without one subject is.
func (a *Agreement) FleissJackknifeSE() (float64, error) {
	n := len(a.counts)
	if n < 2 {
		return 0, undefined("the standard error of kappa from one subject")
	}
	leave := make([]float64, n)
	for i := range a.counts {
		rest := make([][]int, 0, n-1)
		rest = append(append(rest, a.counts[:i]...), a.counts[i+1:]...)
		b, err := NewAgreement(rest)
		if err != nil {
			return 0, err
		}
		if leave[i], err = b.FleissKappa(); err != nil {
			return 0, err
		}
	}
	_, m2, _, _ := centralMoments(leave)
	return math.Sqrt(float64(n-1) * m2), nil
}

// NullTest is a test of no agreement beyond chance.
type NullTest struct {
	SE float64 // standard error under the hypothesis
	Z  float64
	P  float64 // two-sided
}

// FleissNull tests kappa = 0 with the standard error of Fleiss, Nee and Landis, Psychol.
// Bull. 86 (1979).
func (a *Agreement) FleissNull() (NullTest, error) {
	kappa, err := a.FleissKappa()
	if err != nil {
		return NullTest{}, err
	}
	var pq, skew float64
	for _, p := range a.share {
		pq += float64(p * (1 - p))
		skew += float64(p * (1 - p) * (1 - 2*p))
	}
	n, m := float64(len(a.counts)), float64(a.raters)
	return nullTest(kappa, math.Sqrt(2*(float64(pq*pq)-skew)/(n*m*(m-1)))/pq), nil
}

func nullTest(kappa, se float64) NullTest {
	z := kappa / se
	return NullTest{se, z, 2 * NormalSF(math.Abs(z))}
}

// CategoryKappa is the agreement on one category against all others.
type CategoryKappa struct {
	Share float64   // of all ratings
	Kappa Figure    // undefined for a category never or always used
	Null  *NullTest // of kappa = 0; nil when Kappa is undefined
}

// FleissCategories returns the kappa of every category, 1 - Σ c(m-c)/(n m (m-1) p (1-p)) with
// c ratings of m per subject and share p; their null standard error is sqrt(2/(n m (m-1)))
// (Fleiss, Nee and Landis 1979). Their mean weighted by p(1-p) is Fleiss' kappa.
func (a *Agreement) FleissCategories() []CategoryKappa {
	n, m := float64(len(a.counts)), float64(a.raters)
	out := make([]CategoryKappa, len(a.share))
	for k, p := range a.share {
		used, split := 0, 0
		for _, row := range a.counts {
			used += row[k]
			split += row[k] * (a.raters - row[k])
		}
		out[k].Share = p
		if used == 0 || used == a.raters*len(a.counts) {
			out[k].Kappa.Err = undefined("category %d has %d of %d ratings", k, used, a.raters*len(a.counts))
			continue
		}
		out[k].Kappa.Value = 1 - float64(split)/(n*m*(m-1)*p*(1-p))
		null := nullTest(out[k].Kappa.Value, math.Sqrt(2/(n*m*(m-1))))
		out[k].Null = &null
	}
	return out
}

// Krippendorff returns Krippendorff's alpha for nominal categories, 1 - Do/De. counts are
// subjects by categories; subjects may have different numbers of ratings, and those with
// fewer than two are left out. No pair of ratings, or all in one category, is undefined.
func Krippendorff(counts [][]int) (float64, error) {
	cats, err := checkRatings(counts)
	if err != nil {
		return 0, err
	}
	total := make([]int, cats)
	n := 0
	observed := 0.0
	for _, row := range counts {
		m := sum(row)
		if m < 2 {
			continue
		}
		n += m
		for k, c := range row {
			total[k] += c
		}
		observed += float64(m*(m-1)-agreeing(row)) / float64(m-1)
	}
	if n == 0 {
		return 0, undefined("no subject has two ratings")
	}
	expected := 0.0
	for _, t := range total {
		expected += float64(t) * float64(n-t)
	}
	if expected == 0 {
		return 0, undefined("all ratings are in one category")
	}
	return 1 - float64(n-1)*observed/expected, nil
}

// Weights say how much a disagreement of two ordered categories counts in Cohen's kappa.
type Weights int

const (
	// Unweighted counts every disagreement alike.
	Unweighted Weights = iota
	// Linear counts a disagreement by the distance of the categories.
	Linear
	// Quadratic counts it by the squared distance.
	Quadratic
)

// credit returns the agreement weight of categories i and j of k.
func (w Weights) credit(i, j, k int) float64 {
	d := float64(i-j) / float64(k-1)
	switch {
	case i == j:
		return 1
	case w == Linear:
		return 1 - math.Abs(d)
	case w == Quadratic:
		return 1 - float64(d*d)
	default:
		return 0
	}
}

// CohenResult is the agreement of two raters.
type CohenResult struct {
	Kappa  float64
	SE     float64   // large-sample (Fleiss, Cohen and Everitt, Psychol. Bull. 72, 1969)
	Null   *NullTest // of kappa = 0; nil when a rater used one category only
	Raw    float64   // weighted observed agreement
	Chance float64   // weighted agreement expected from the margins
	N      int
}

// Interval returns kappa ± z*SE.
func (c CohenResult) Interval(level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	half := float64(normalQuantile(level) * c.SE)
	return Interval{c.Kappa - half, c.Kappa + half, level}, nil
}

// CohenKappa returns the agreement of two raters beyond chance from a square table: table[i][j]
// subjects were put into category i by the first and j by the second. All ratings of both in
// one category are undefined.
func CohenKappa(table [][]int, w Weights) (CohenResult, error) {
	k, err := checkRatings(table)
	if err != nil {
		return CohenResult{}, err
	}
	if k != len(table) {
		return CohenResult{}, invalid("%d rows but %d columns; both raters need the same categories", len(table), k)
	}
	first, second := make([]float64, k), make([]float64, k)
	n := 0
	for i, row := range table {
		for j, c := range row {
			first[i] += float64(c)
			second[j] += float64(c)
			n += c
		}
	}
	if n == 0 {
		return CohenResult{}, undefined("no ratings")
	}
	nf := float64(n)
	same := -1
	for i := range k {
		first[i] /= nf
		second[i] /= nf
		if table[i][i] == n {
			same = i
		}
	}
	if same >= 0 {
		return CohenResult{}, undefined("all ratings are in category %d", same)
	}
	res := CohenResult{N: n}
	rowMean, colMean := make([]float64, k), make([]float64, k)
	for i, row := range table {
		for j, c := range row {
			credit := w.credit(i, j, k)
			res.Raw += float64(credit * float64(c) / nf)
			res.Chance += float64(credit * first[i] * second[j])
			rowMean[i] += float64(credit * second[j])
			colMean[j] += float64(credit * first[i])
		}
	}
	po, pe := res.Raw, res.Chance
	res.Kappa = (po - pe) / (1 - pe)
	var moment, null float64
	for i, row := range table {
		for j, c := range row {
			credit := w.credit(i, j, k)
			margin := rowMean[i] + colMean[j]
			d := float64(credit*(1-pe)) - float64(margin*(1-po))
			moment += float64(float64(c) / nf * d * d)
			e := credit - margin
			null += float64(first[i] * second[j] * e * e)
		}
	}
	centre := float64(po*pe) - 2*pe + po
	res.SE = math.Sqrt(max(0, moment-float64(centre*centre))/nf) / float64((1-pe)*(1-pe))
	if v := null - float64(pe*pe); v > 1e-15 {
		null := nullTest(res.Kappa, math.Sqrt(v/nf)/(1-pe))
		res.Null = &null
	}
	return res, nil
}

// CohenLabels is [CohenKappa] of two columns of labels over their common categories in
// ascending order of name.
func CohenLabels(a, b []string, w Weights) (CohenResult, error) {
	if err := checkLength("labels", len(a), "labels", len(b)); err != nil {
		return CohenResult{}, err
	}
	ids, names := groupIDs(append(append(make([]string, 0, 2*len(a)), a...), b...))
	table := zeroTable(len(names), len(names))
	for i := range a {
		table[ids[i]][ids[len(a)+i]]++
	}
	return CohenKappa(table, w)
}

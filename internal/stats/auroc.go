package stats

import (
	"cmp"
	"math"
	"slices"
)

// tieBlock is one distinct score with the number of positives and negatives that have it.
type tieBlock struct {
	score    float64
	pos, neg int
}

// tieBlocks returns the distinct scores in ascending order, the rows in that order and the
// class totals. Both classes must be present.
func tieBlocks(scores []float64, positive []bool) (blocks []tieBlock, order []int, npos, nneg int, err error) {
	if err := checkLength("scores", len(scores), "labels", len(positive)); err != nil {
		return nil, nil, 0, 0, err
	}
	if err := checkNaN("score", scores); err != nil {
		return nil, nil, 0, 0, err
	}
	order = sortedOrder(scores)
	for _, i := range order {
		if len(blocks) == 0 || blocks[len(blocks)-1].score != scores[i] {
			blocks = append(blocks, tieBlock{score: scores[i]})
		}
		last := &blocks[len(blocks)-1]
		if positive[i] {
			last.pos++
			npos++
		} else {
			last.neg++
			nneg++
		}
	}
	if npos == 0 || nneg == 0 {
		return nil, nil, 0, 0, oneClass(npos, nneg)
	}
	return blocks, order, npos, nneg, nil
}

func oneClass(npos, nneg int) error {
	return undefined("both classes are needed, the data have %d positive and %d negative", npos, nneg)
}

// twiceWins returns twice the Mann-Whitney U of the positives: 2 per pair in which the
// positive scores higher, 1 per tied pair.
func twiceWins(blocks []tieBlock) int64 {
	var wins, below int64
	for _, b := range blocks {
		wins += int64(b.pos) * (2*below + int64(b.neg))
		below += int64(b.neg)
	}
	return wins
}

// AUROC returns the area under the ROC curve: the share of (positive, negative) pairs in
// which the positive has the higher score, ties counting one half,
//
//	(wins + ties/2) / (npos*nneg),
//
// which equals scikit-learn's roc_auc_score. It is computed from integer counts, so it is
// exact up to the final division. One class only is undefined. Infinite scores are ordered
// like any other; NaN is refused.
func AUROC(scores []float64, positive []bool) (float64, error) {
	blocks, _, npos, nneg, err := tieBlocks(scores, positive)
	if err != nil {
		return 0, err
	}
	return share(twiceWins(blocks), int64(npos)*int64(nneg)), nil
}

// share returns wins/2 over pairs.
func share(twice, pairs int64) float64 { return float64(twice) / float64(2*pairs) }

// DeLongResult is an AUROC with the DeLong estimate of its sampling variance.
type DeLongResult struct {
	AUROC      float64
	Variance   float64
	NPos, NNeg int
}

// DeLong returns the AUROC and its variance after DeLong, DeLong and Clarke-Pearson,
// Biometrics 44 (1988), in O(n log n) from placements (Sun and Xu, IEEE SPL 21, 2014):
// var = S10/npos + S01/nneg, with S10 and S01 the sample variances of the placements of the
// positives and of the negatives. Rows are taken as independent; for runs that share a task
// use [AUROCBootstrap]. Fewer than two rows in a class leave the variance undefined.
func DeLong(scores []float64, positive []bool) (DeLongResult, error) {
	p, err := place(scores, positive)
	if err != nil {
		return DeLongResult{}, err
	}
	return DeLongResult{p.auroc, p.covariance(p, positive), p.npos, p.nneg}, nil
}

// SE returns the standard error.
func (d DeLongResult) SE() float64 { return math.Sqrt(d.Variance) }

// Interval returns AUROC ± z*SE, cut to [0, 1]. A variance of 0 (perfect separation, or all
// scores equal) says nothing about the uncertainty: the interval is undefined.
func (d DeLongResult) Interval(level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	if d.Variance == 0 {
		return Interval{}, undefined("the DeLong variance is 0 at AUROC %v, so there is no interval", d.AUROC)
	}
	half := float64(normalQuantile(level) * d.SE())
	return Interval{max(0, d.AUROC-half), min(1, d.AUROC+half), level}, nil
}

// placements holds, for each row, the share of the other class on its right side: of the
// negatives below a positive, of the positives above a negative, ties counting one half.
type placements struct {
	auroc      float64
	v          []float64
	npos, nneg int
}

func place(scores []float64, positive []bool) (placements, error) {
	blocks, order, npos, nneg, err := tieBlocks(scores, positive)
	if err != nil {
		return placements{}, err
	}
	if npos < 2 || nneg < 2 {
		return placements{}, undefined("the DeLong variance needs two rows of each class, the data have %d positive and %d negative", npos, nneg)
	}
	p := placements{share(twiceWins(blocks), int64(npos)*int64(nneg)), make([]float64, len(scores)), npos, nneg}
	var negBelow, posBelow int
	row := 0
	for _, b := range blocks {
		vpos := float64(2*negBelow+b.neg) / float64(2*nneg)
		vneg := float64(2*(npos-posBelow-b.pos)+b.pos) / float64(2*npos)
		for range b.pos + b.neg {
			i := order[row]
			if positive[i] {
				p.v[i] = vpos
			} else {
				p.v[i] = vneg
			}
			row++
		}
		negBelow += b.neg
		posBelow += b.pos
	}
	return p, nil
}

// covariance returns the DeLong covariance of two AUROCs over the same rows.
func (p placements) covariance(q placements, positive []bool) float64 {
	var s10, s01 float64
	for i, pos := range positive {
		d := float64((p.v[i] - p.auroc) * (q.v[i] - q.auroc))
		if pos {
			s10 += d
		} else {
			s01 += d
		}
	}
	return s10/float64(p.npos-1)/float64(p.npos) + s01/float64(p.nneg-1)/float64(p.nneg)
}

// DeLongComparison compares the AUROCs of two scores over the same rows.
type DeLongComparison struct {
	A, B       DeLongResult
	Covariance float64
	Difference float64 // A - B
	Variance   float64 // of the difference
	Z          float64
	P          float64 // two-sided
}

// DeLongTest tests whether two correlated AUROCs differ (DeLong et al. 1988): z is the
// difference over the square root of var(a) + var(b) - 2 cov(a, b), p from the normal
// distribution. A difference without variance, as between a score and a monotone transform
// of itself, is undefined.
func DeLongTest(a, b []float64, positive []bool) (DeLongComparison, error) {
	p, err := place(a, positive)
	if err != nil {
		return DeLongComparison{}, err
	}
	q, err := place(b, positive)
	if err != nil {
		return DeLongComparison{}, err
	}
	c := DeLongComparison{
		A:          DeLongResult{p.auroc, p.covariance(p, positive), p.npos, p.nneg},
		B:          DeLongResult{q.auroc, q.covariance(q, positive), q.npos, q.nneg},
		Covariance: p.covariance(q, positive),
	}
	c.Difference = c.A.AUROC - c.B.AUROC
	scale := c.A.Variance + c.B.Variance
	c.Variance = scale - float64(2*c.Covariance)
	if c.Variance <= 1e-15*scale {
		return DeLongComparison{}, undefined("the two scores order the rows alike: the difference of their AUROCs has no variance")
	}
	c.Z = c.Difference / math.Sqrt(c.Variance)
	c.P = 2 * NormalSF(math.Abs(c.Z))
	return c, nil
}

// Pairs is a stratified AUROC.
type Pairs struct {
	AUROC float64
	Pairs int64 // (positive, negative) pairs inside cells
	Cells int   // cells that have both classes
}

// AUROCWithin pools the (positive, negative) pairs inside cells: (wins + ties/2)/pairs over
// all cells, a cell being a combination of the given keys. Within tasks it is free of task
// difficulty, within (task, model) also of the model. Cells with one class contribute
// nothing; no cell with both is undefined. Without keys it is the plain AUROC.
func AUROCWithin(scores []float64, positive []bool, keys ...[]string) (Pairs, error) {
	cells, err := cellCounts(scores, positive, keys...)
	if err != nil {
		return Pairs{}, err
	}
	var p Pairs
	var twice int64
	for _, c := range cells {
		if c.pairs() > 0 {
			twice += c.twice
			p.Pairs += c.pairs()
			p.Cells++
		}
	}
	if p.Pairs == 0 {
		return Pairs{}, undefined("none of %d cells has both classes", len(cells))
	}
	p.AUROC = share(twice, p.Pairs)
	return p, nil
}

// Macro is a mean of AUROCs over groups.
type Macro struct {
	AUROC  float64
	Groups int // groups that have both classes
	Left   int // groups left out because they have one class
}

// AUROCMacro returns the unweighted mean, over the groups that have both classes, of the
// AUROC inside the group. No such group is undefined.
func AUROCMacro(scores []float64, positive []bool, group []string) (Macro, error) {
	cells, err := cellCounts(scores, positive, group)
	if err != nil {
		return Macro{}, err
	}
	var m Macro
	sum := 0.0
	for _, c := range cells {
		if c.pairs() > 0 {
			sum += c.auroc()
			m.Groups++
		} else {
			m.Left++
		}
	}
	if m.Groups == 0 {
		return Macro{}, undefined("none of %d groups has both classes", len(cells))
	}
	m.AUROC = sum / float64(m.Groups)
	return m, nil
}

// cellCount is what a cell contributes to pooled and macro figures.
type cellCount struct {
	npos, nneg int
	twice      int64
}

func (c cellCount) pairs() int64   { return int64(c.npos) * int64(c.nneg) }
func (c cellCount) auroc() float64 { return share(c.twice, c.pairs()) }

func cellCounts(scores []float64, positive []bool, keys ...[]string) ([]cellCount, error) {
	if err := checkLength("scores", len(scores), "labels", len(positive)); err != nil {
		return nil, err
	}
	if err := checkNaN("score", scores); err != nil {
		return nil, err
	}
	ids, n, err := cellIDs(len(scores), keys...)
	if err != nil {
		return nil, err
	}
	counts := make([]cellCount, n)
	order := cellOrder(ids, scores)
	for lo := 0; lo < len(order); {
		hi, npos := lo, 0
		for hi < len(order) && ids[order[hi]] == ids[order[lo]] && scores[order[hi]] == scores[order[lo]] {
			if positive[order[hi]] {
				npos++
			}
			hi++
		}
		c := &counts[ids[order[lo]]]
		nneg := hi - lo - npos
		c.twice += int64(npos) * int64(2*c.nneg+nneg)
		c.npos += npos
		c.nneg += nneg
		lo = hi
	}
	return counts, nil
}

// cellOrder sorts the rows by cell, then by score.
func cellOrder(cell []int, scores []float64) []int {
	order := make([]int, len(cell))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(cell[i], cell[j]), cmp.Compare(scores[i], scores[j]), cmp.Compare(i, j))
	})
	return order
}

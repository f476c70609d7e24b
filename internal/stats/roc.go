package stats

import (
	"math"
	"slices"
)

// ROCPoint is one point of a ROC curve: the rates when score >= Threshold predicts positive.
type ROCPoint struct {
	Threshold float64 `json:"threshold"`
	FPR       float64 `json:"fpr"`
	TPR       float64 `json:"tpr"`
	TP        int     `json:"tp"`
	FP        int     `json:"fp"`
}

// ROC returns the points of the ROC curve by descending threshold: first +Inf (nothing
// predicted positive), then every distinct score. No point is dropped, unlike
// scikit-learn's default; its first threshold is +Inf from version 1.3 on and max+1 before.
// One class only is undefined.
func ROC(scores []float64, positive []bool) ([]ROCPoint, error) {
	blocks, _, npos, nneg, err := tieBlocks(scores, positive)
	if err != nil {
		return nil, err
	}
	curve := make([]ROCPoint, 1, len(blocks)+1)
	curve[0].Threshold = math.Inf(1)
	var tp, fp int
	for _, b := range slices.Backward(blocks) {
		tp += b.pos
		fp += b.neg
		curve = append(curve, ROCPoint{b.score, float64(fp) / float64(nneg), float64(tp) / float64(npos), tp, fp})
	}
	return curve, nil
}

// PRPoint is one point of a precision-recall curve.
type PRPoint struct {
	Threshold float64 `json:"threshold"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// PrecisionRecall returns precision and recall at every distinct score, by descending
// threshold, so recall never falls. The artificial point (recall 0, precision 1) that
// scikit-learn appends is not data and is left out. One class only is undefined.
func PrecisionRecall(scores []float64, positive []bool) ([]PRPoint, error) {
	curve, err := ROC(scores, positive)
	if err != nil {
		return nil, err
	}
	points := make([]PRPoint, 0, len(curve)-1)
	for _, p := range curve[1:] {
		points = append(points, PRPoint{p.Threshold, float64(p.TP) / float64(p.TP+p.FP), p.TPR})
	}
	return points, nil
}

// AveragePrecision returns the sum over the points of the precision-recall curve of
// (recall - previous recall)*precision, as scikit-learn's average_precision_score.
func AveragePrecision(scores []float64, positive []bool) (float64, error) {
	points, err := PrecisionRecall(scores, positive)
	if err != nil {
		return 0, err
	}
	sum, recall := 0.0, 0.0
	for _, p := range points {
		sum += float64((p.Recall - recall) * p.Precision)
		recall = p.Recall
	}
	return sum, nil
}

// YoudenRule says which threshold stands for several with the same J.
type YoudenRule int

const (
	// HighestThreshold takes the highest finite threshold that reaches the maximum.
	HighestThreshold YoudenRule = iota
	// LowestThreshold goes over the distinct scores ascending and takes the first that
	// reaches the maximum.
	LowestThreshold
)

// YoudenPoint is the cut that maximises J = TPR - FPR.
type YoudenPoint struct {
	Threshold float64 `json:"threshold"` // predict positive if score >= Threshold; always an observed score
	J         float64 `json:"j"`
	Ties      int     `json:"ties"` // points of the ROC curve that reach J, the +Inf point included
}

// Youden returns the threshold with the largest J = TPR - FPR (Youden 1950). J is compared
// as the integer TP*nneg - FP*npos, so ties are exact. Any number between two neighbouring
// scores cuts alike; the result is always an observed score. When the score is no better
// than chance everywhere, J is 0 at the lowest score: everything predicted positive.
func Youden(scores []float64, positive []bool, rule YoudenRule) (YoudenPoint, error) {
	curve, err := ROC(scores, positive)
	if err != nil {
		return YoudenPoint{}, err
	}
	all := curve[len(curve)-1]
	npos, nneg := int64(all.TP), int64(all.FP)
	j := func(p ROCPoint) int64 { return int64(p.TP)*nneg - int64(p.FP)*npos }
	best, ties := curve[1], 1
	for _, p := range curve[2:] {
		switch d := j(p) - j(best); {
		case d > 0:
			best, ties = p, 1
		case d == 0:
			ties++
			if rule == LowestThreshold {
				best = p
			}
		}
	}
	if j(best) == 0 {
		ties++
	}
	return YoudenPoint{best.Threshold, best.TPR - best.FPR, ties}, nil
}

// KSRange returns the smallest and the largest two-sample Kolmogorov-Smirnov distance D that
// scores with the given AUROC can have. A ROC curve that rises D above the diagonal has an
// area of at most 1 - (1-D)²/2 and at least D, and likewise below it; a reported pair outside
// the range cannot come from the same rows.
func KSRange(auroc float64) (low, high float64, err error) {
	if !(auroc >= 0 && auroc <= 1) {
		return 0, 0, invalid("AUROC %v is not between 0 and 1", auroc)
	}
	a := max(auroc, 1-auroc)
	return max(0, 1-math.Sqrt(2*(1-a))), a, nil
}

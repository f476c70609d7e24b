package stats

// Confusion counts predictions against labels. The predicted class is positive when
// score >= Threshold.
type Confusion struct {
	Threshold float64 `json:"threshold"`
	TP        int     `json:"tp"`
	FP        int     `json:"fp"`
	TN        int     `json:"tn"`
	FN        int     `json:"fn"`
}

// Confuse counts the predictions of a threshold. No rows are undefined.
func Confuse(scores []float64, positive []bool, threshold float64) (Confusion, error) {
	if err := checkLength("scores", len(scores), "labels", len(positive)); err != nil {
		return Confusion{}, err
	}
	if err := checkNaN("score", scores); err != nil {
		return Confusion{}, err
	}
	if err := checkNaN("threshold", []float64{threshold}); err != nil {
		return Confusion{}, err
	}
	if len(scores) == 0 {
		return Confusion{}, undefined("no rows")
	}
	c := Confusion{Threshold: threshold}
	for i, s := range scores {
		switch {
		case s >= threshold && positive[i]:
			c.TP++
		case s >= threshold:
			c.FP++
		case positive[i]:
			c.FN++
		default:
			c.TN++
		}
	}
	return c, nil
}

// Swap exchanges the classes: the figures of the result are those of the negative class.
func (c Confusion) Swap() Confusion {
	c.TP, c.FP, c.TN, c.FN = c.TN, c.FN, c.TP, c.FP
	return c
}

// N returns the number of rows.
func (c Confusion) N() int { return c.TP + c.FP + c.TN + c.FN }

func ratio(num, den int, reason string) (float64, error) {
	if den == 0 {
		return 0, undefined("%s", reason)
	}
	return float64(num) / float64(den), nil
}

// Accuracy returns (TP+TN)/N.
func (c Confusion) Accuracy() (float64, error) { return ratio(c.TP+c.TN, c.N(), "no rows") }

// Precision returns TP/(TP+FP) of the positive class; undefined, not 0 as in scikit-learn,
// when nothing is predicted positive.
func (c Confusion) Precision() (float64, error) {
	return ratio(c.TP, c.TP+c.FP, "precision of a class that is never predicted")
}

// Recall returns TP/(TP+FN) of the positive class; undefined when the class has no row.
func (c Confusion) Recall() (float64, error) {
	return ratio(c.TP, c.TP+c.FN, "recall of a class that does not occur")
}

// F1 returns 2TP/(2TP+FP+FN) of the positive class; undefined when the class neither occurs
// nor is predicted.
func (c Confusion) F1() (float64, error) {
	return ratio(2*c.TP, 2*c.TP+c.FP+c.FN, "F1 of a class that neither occurs nor is predicted")
}

// MacroF1 returns the mean of the F1 of both classes; undefined when one of them is.
func (c Confusion) MacroF1() (float64, error) {
	pos, err := c.F1()
	if err != nil {
		return 0, err
	}
	neg, err := c.Swap().F1()
	if err != nil {
		return 0, err
	}
	return (pos + neg) / 2, nil
}

// WeightedF1 returns the mean of the F1 of the classes weighted by their number of rows. A
// class without rows has weight 0.
func (c Confusion) WeightedF1() (float64, error) {
	sum := 0.0
	for _, class := range []Confusion{c, c.Swap()} {
		rows := class.TP + class.FN
		if rows == 0 {
			continue
		}
		f1, err := class.F1()
		if err != nil {
			return 0, err
		}
		sum += float64(float64(rows) * f1)
	}
	if c.N() == 0 {
		return 0, undefined("no rows")
	}
	return sum / float64(c.N()), nil
}

// J returns Youden's TPR - FPR; undefined when a class does not occur.
func (c Confusion) J() (float64, error) {
	tpr, err := c.Recall()
	if err != nil {
		return 0, err
	}
	tnr, err := c.Swap().Recall()
	if err != nil {
		return 0, err
	}
	return tpr + tnr - 1, nil
}

package analysis

import (
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
)

// AUROC computes the area under the ROC curve with DeLong's interval. With one or two group
// columns it adds the AUROC of pairs inside groups, the mean over the first column's groups,
// and intervals from drawing those groups with replacement.
func AUROC(f *tabular.Frame, b Binary, groups []string, r stats.Resampling) (Result, error) {
	s, err := b.rows(f, groups...)
	if err != nil {
		return Result{}, err
	}
	res := s.result()
	delong, derr := stats.DeLong(s.scores, s.positive)
	auroc, err := delong.AUROC, derr
	if derr != nil { // the AUROC needs fewer rows than its variance
		auroc, err = stats.AUROC(s.scores, s.positive)
	}
	if err := res.figure("auroc", auroc, err, ""); err != nil {
		return Result{}, err
	}
	if err != nil {
		return res, nil
	}
	var iv stats.Interval
	if derr == nil {
		iv, derr = delong.Interval(r.Level)
	}
	if err := res.interval(iv, derr); err != nil {
		return Result{}, err
	}
	if derr == nil {
		res.Figures[len(res.Figures)-1].Note = "DeLong, rows taken as independent"
		if err := res.figure("delong_se", delong.SE(), nil, ""); err != nil {
			return Result{}, err
		}
	}
	if auroc < 0.5 {
		res.warn("the score ranks negative rows above positive ones; a score that falls with quality has AUROC %s when its sign is turned", short(1-auroc))
	}
	if len(groups) == 0 {
		return res, nil
	}
	return res, res.groups(s, groups, r)
}

// groups adds the figures inside groups.
func (res *Result) groups(s scored, names []string, r stats.Resampling) error {
	second := make([]string, len(s.scores))
	if len(names) > 1 {
		second = s.groups[1]
	}
	sep, err := stats.Separate(s.scores, s.positive, s.groups[0], second, r)
	if err != nil {
		return err
	}
	type row struct {
		name string
		fig  stats.Separated
		note string
	}
	rows := []row{
		{"auroc_bootstrap", sep.Micro, "groups of " + names[0] + " drawn with replacement"},
		{"macro", sep.Macro, fmt.Sprintf("mean over %d groups of %s", sep.Macro.Cells, names[0])},
		{"within_" + names[0], sep.WithinTask, pairsNote(sep.WithinTask)},
	}
	if len(names) > 1 {
		rows = append(rows,
			row{"within_" + names[1], sep.WithinModel, pairsNote(sep.WithinModel)},
			row{"within_" + names[0] + "_" + names[1], sep.WithinTaskModel, pairsNote(sep.WithinTaskModel)})
	}
	for _, row := range rows {
		if err := res.figure(row.name, row.fig.AUROC.Value, row.fig.AUROC.Err, row.note); err != nil {
			return err
		}
		res.Figures[len(res.Figures)-1].Interval = row.fig.Interval
		if row.fig.Undefined > 0 {
			res.warn("%s: %d of %d resamples lack the figure and are left out of its interval", row.name, row.fig.Undefined, r.Resamples)
		}
	}
	return nil
}

func pairsNote(s stats.Separated) string {
	return fmt.Sprintf("%d pairs in %d groups with both classes", s.Pairs, s.Cells)
}

// ROC computes the points of the ROC curve, or of the precision-recall curve.
func ROC(f *tabular.Frame, b Binary, precisionRecall bool) (Result, error) {
	s, err := b.rows(f)
	if err != nil {
		return Result{}, err
	}
	res := s.result()
	auroc, err := stats.AUROC(s.scores, s.positive)
	if err := res.figure("auroc", auroc, err, ""); err != nil {
		return Result{}, err
	}
	ap, err := stats.AveragePrecision(s.scores, s.positive)
	if err := res.figure("average_precision", ap, err, ""); err != nil {
		return Result{}, err
	}
	if err != nil {
		return res, nil
	}
	if precisionRecall {
		points, err := stats.PrecisionRecall(s.scores, s.positive)
		if err != nil {
			return Result{}, err
		}
		t := Table{Name: "points", Columns: []string{"threshold", "precision", "recall"}, Main: true}
		for _, p := range points {
			t.Rows = append(t.Rows, []any{p.Threshold, p.Precision, p.Recall})
		}
		res.Tables = []Table{t}
		return res, nil
	}
	points, err := stats.ROC(s.scores, s.positive)
	if err != nil {
		return Result{}, err
	}
	t := Table{Name: "points", Columns: []string{"threshold", "fpr", "tpr", "fp", "tp"}, Main: true}
	for _, p := range points {
		t.Rows = append(t.Rows, []any{p.Threshold, p.FPR, p.TPR, p.FP, p.TP})
	}
	res.Tables = []Table{t}
	return res, nil
}

// Youden computes the threshold with the largest TPR - FPR and what it does.
func Youden(f *tabular.Frame, b Binary, rule stats.YoudenRule, level float64) (Result, error) {
	s, err := b.rows(f)
	if err != nil {
		return Result{}, err
	}
	res := s.result()
	y, err := stats.Youden(s.scores, s.positive, rule)
	note := "highest score that reaches the maximum"
	if rule == stats.LowestThreshold {
		note = "lowest score that reaches the maximum"
	}
	if err := res.figure("threshold", y.Threshold, err, note); err != nil {
		return Result{}, err
	}
	if err != nil {
		return res, nil
	}
	if err := res.figure("j", y.J, nil, ""); err != nil {
		return Result{}, err
	}
	res.count("ties", y.Ties)
	switch {
	case y.J == 0:
		res.warn("no threshold does better than chance; the one printed predicts every row positive")
	case y.Ties > 1:
		res.warn("%d points of the curve reach the same J; option rule says which is printed", y.Ties)
	}
	return res, res.confusion(s, y.Threshold, level)
}

// Confusion computes accuracy, precision, recall and F1 at a threshold: a row is predicted
// positive when its score is at least the threshold.
func Confusion(f *tabular.Frame, b Binary, threshold, level float64) (Result, error) {
	s, err := b.rows(f)
	if err != nil {
		return Result{}, err
	}
	res := s.result()
	if err := res.figure("threshold", threshold, nil, "positive when "+b.Score+" >= threshold"); err != nil {
		return Result{}, err
	}
	res.Figures[len(res.Figures)-1].count = true
	return res, res.confusion(s, threshold, level)
}

func (res *Result) confusion(s scored, threshold, level float64) error {
	c, err := stats.Confuse(s.scores, s.positive, threshold)
	if err != nil {
		return res.figure("accuracy", 0.0, err, "")
	}
	for _, n := range []struct {
		name string
		n    int
	}{{"tp", c.TP}, {"fp", c.FP}, {"fn", c.FN}, {"tn", c.TN}} {
		res.count(n.name, n.n)
	}
	accuracy, err := c.Accuracy()
	if err := res.figure("accuracy", accuracy, err, "Wilson interval"); err != nil {
		return err
	}
	iv, err := stats.Wilson(c.TP+c.TN, c.N(), level)
	if err := res.interval(iv, err); err != nil {
		return err
	}
	for _, m := range []struct {
		name string
		of   func() (float64, error)
	}{
		{"precision_positive", c.Precision}, {"recall_positive", c.Recall}, {"f1_positive", c.F1},
		{"precision_negative", c.Swap().Precision}, {"recall_negative", c.Swap().Recall}, {"f1_negative", c.Swap().F1},
		{"f1_macro", c.MacroF1}, {"f1_weighted", c.WeightedF1}, {"j", c.J},
	} {
		if m.name == "j" && res.has("j") {
			continue
		}
		v, err := m.of()
		if err := res.figure(m.name, v, err, ""); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) has(name string) bool {
	for _, f := range r.Figures {
		if f.Name == name {
			return true
		}
	}
	return false
}

// KS compares the scores of the positive rows (the first sample) and the negative ones by the
// Kolmogorov-Smirnov distance of their distributions.
func KS(f *tabular.Frame, b Binary, alternative stats.Alternative, method stats.KSMethod) (Result, error) {
	s, err := b.rows(f)
	if err != nil {
		return Result{}, err
	}
	res := s.result()
	positive, negative := s.split()
	ks, err := stats.KS(positive, negative, alternative, method)
	if err := res.figure("d", ks.D, err, ""); err != nil {
		return Result{}, err
	}
	if err != nil {
		return res, nil
	}
	if err := res.figure("p", ks.P, nil, ks.Method.String()+", "+ks.Alternative.String()); err != nil {
		return Result{}, err
	}
	res.word("method", ks.Method.String())
	res.word("alternative", ks.Alternative.String())
	if err := res.figure("location", ks.Location, nil, "score at which the distance is reached first"); err != nil {
		return Result{}, err
	}
	res.count("sign", ks.Sign)
	auroc, err := stats.AUROC(s.scores, s.positive)
	if err := res.figure("auroc", auroc, err, ""); err != nil {
		return Result{}, err
	}
	if tied(s.scores) && ks.Method == stats.KSExact {
		res.warn("scores tie, so the exact p-value is conservative")
	}
	if ks.Method != stats.KSExact && min(ks.N1, ks.N2) < 50 {
		res.warn("the smaller sample has %d values: take the exact method", min(ks.N1, ks.N2))
	}
	if ks.P == 0 {
		res.warn("the p-value is below the smallest number; it is not 0")
	}
	return res, nil
}

// MannWhitney tests whether the positive rows tend to have larger scores than the negative.
func MannWhitney(f *tabular.Frame, b Binary, alternative stats.Alternative, method stats.RankMethod, continuity bool) (Result, error) {
	s, err := b.rows(f)
	if err != nil {
		return Result{}, err
	}
	res := s.result()
	positive, negative := s.split()
	m, err := stats.MannWhitney(positive, negative, alternative, method, continuity)
	if err := res.figure("u", m.U, err, "pairs the positive row wins, ties counting one half"); err != nil {
		return Result{}, err
	}
	if err != nil {
		return res, nil
	}
	note := m.Method.String() + ", " + m.Alternative.String()
	if m.Method == stats.RankAsymptotic && continuity {
		note += ", continuity correction"
	}
	for _, v := range []struct {
		name  string
		value float64
		note  string
	}{
		{"p", m.P, note},
		{"common_language", m.CommonLang, "chance that the positive row of a pair has the larger score; equals AUROC"},
		{"rank_biserial", m.RankBiserial, ""},
	} {
		if err := res.figure(v.name, v.value, nil, v.note); err != nil {
			return Result{}, err
		}
	}
	res.word("method", m.Method.String())
	res.word("alternative", m.Alternative.String())
	if m.Ties && m.Method == stats.RankExact {
		res.warn("scores tie, so the exact p-value is approximate; take the asymptotic method")
	}
	if m.P == 0 {
		res.warn("the p-value is below the smallest number; it is not 0")
	}
	return res, nil
}

func tied(x []float64) bool {
	seen := make(map[float64]bool, len(x))
	for _, v := range x {
		if seen[v] {
			return true
		}
		seen[v] = true
	}
	return false
}

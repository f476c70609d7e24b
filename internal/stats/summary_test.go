package stats

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
)

// frame is a TSV file of the oracle by column.
type frame struct {
	cols map[string][]string
	n    int
}

func readFrame(t testing.TB, name string) frame {
	t.Helper()
	data := conformance.Read(t, "oracle", "profiles", name)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	header := strings.Split(lines[0], "\t")
	f := frame{cols: map[string][]string{}, n: len(lines) - 1}
	for _, line := range lines[1:] {
		for i, v := range strings.Split(line, "\t") {
			f.cols[header[i]] = append(f.cols[header[i]], v)
		}
	}
	return f
}

// where keeps the rows with the given value in a column.
func (f frame) where(col, value string) frame {
	out := frame{cols: map[string][]string{}}
	for i, v := range f.cols[col] {
		if v != value {
			continue
		}
		out.n++
		for name, column := range f.cols {
			out.cols[name] = append(out.cols[name], column[i])
		}
	}
	return out
}

// num returns a column of numbers; an empty cell is null.
func (f frame) num(col string, null float64) []float64 {
	column, ok := f.cols[col]
	if !ok {
		panic("no column " + col)
	}
	out := make([]float64, f.n)
	for i, v := range column {
		if v == "" {
			out[i] = null
			continue
		}
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			panic(err)
		}
		out[i] = x
	}
	return out
}

var idPattern = regexp.MustCompile(`^(.*)-logs-(.*)-(pass|fail)-\d+_pta$`)

// runs are the identities behind the rows of a frame.
type runs struct {
	task, model []string
	pass        []bool
	eligible    []bool // runs of tasks with six passing runs
}

func (f frame) runs() runs {
	var r runs
	passes := map[string]int{}
	for _, id := range f.cols["trajectory_id"] {
		m := idPattern.FindStringSubmatch(id)
		r.task, r.model, r.pass = append(r.task, m[1]), append(r.model, m[2]), append(r.pass, m[3] == "pass")
		if m[3] == "pass" {
			passes[m[1]]++
		}
	}
	for _, t := range r.task {
		r.eligible = append(r.eligible, passes[t] >= 6)
	}
	return r
}

// tally collects recomputed figures by path and compares them with the expected file.
type tally map[string]float64

func (g tally) add(path, key string, v float64) {
	if path != "" {
		path += "/"
	}
	g[path+key] = v
}

func (g tally) compare(t *testing.T, path string, n node) (compared int) {
	t.Helper()
	for _, key := range n.keys() {
		full := key
		if path != "" {
			full = path + "/" + key
		}
		v := n.at(key)
		switch v.v.(type) {
		case map[string]any:
			compared += g.compare(t, full, v)
		case float64:
			if strings.HasPrefix(key, "info_") {
				continue
			}
			got, ok := g[full]
			if !ok {
				t.Errorf("%s is not recomputed", full)
				continue
			}
			want(t, full, got, v.num(), 1e-9)
			compared++
		case []any:
			if strings.HasPrefix(key, "info_") {
				continue
			}
			for i, row := range v.table() {
				for j, x := range row {
					want(t, full, g[fmt.Sprintf("%s/%d/%d", full, i, j)], float64(x), 1e-9)
					compared++
				}
			}
		}
	}
	return compared
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// addBlock adds the standard block of a score.
func (g tally) addBlock(path string, score []float64, r runs) Separation {
	s := must(Separate(score, r.pass, r.task, r.model, Resampling{}))
	g.add(path, "mic", s.Micro.AUROC.Value)
	g.add(path, "mac", s.Macro.AUROC.Value)
	g.add(path, "wt", s.WithinTask.AUROC.Value)
	g.add(path, "wm", s.WithinModel.AUROC.Value)
	g.add(path, "wtm", s.WithinTaskModel.AUROC.Value)
	g.add(path, "youden_threshold", s.Youden.Threshold)
	g.add(path, "youden_acc", s.YoudenAccuracy)
	g.add(path, "youden_f1", s.YoudenF1)
	g.add(path, "ks_D", s.KS)
	g.add(path, "mean_pass", s.MeanPass)
	g.add(path, "mean_fail", s.MeanFail)
	passing, failing := split(score, r.pass)
	g.add(path, "ks_p_asymptotic", must(KS(passing, failing, TwoSided, KSLimit)).P)
	var es []float64
	var ep []bool
	for i, ok := range r.eligible {
		if ok {
			es, ep = append(es, score[i]), append(ep, r.pass[i])
		}
	}
	g.add(path, "mic_eligible", must(AUROC(es, ep)))
	return s
}

func (g tally) addCut(path, cut string, score []float64, r runs) {
	c := must(Confuse(score, r.pass, must(strconv.ParseFloat(cut, 64))))
	g.add(path, "acc_at_"+cut, must(c.Accuracy()))
	g.add(path, "f1_at_"+cut, must(c.F1()))
}

func split(score []float64, pass []bool) (passing, failing []float64) {
	for i, p := range pass {
		if p {
			passing = append(passing, score[i])
		} else {
			failing = append(failing, score[i])
		}
	}
	return passing, failing
}

// tier names the tier of a score under two cuts.
func tier(score float64, pass bool, low, high float64) string {
	switch {
	case pass && score >= high:
		return "ideal"
	case pass && score >= low:
		return "solid"
	case pass:
		return "lucky"
	case score >= low:
		return "partial_fail"
	default:
		return "off_track"
	}
}

func tiers(score []float64, pass []bool, low, high float64) []string {
	out := make([]string, len(score))
	for i, s := range score {
		out[i] = tier(s, pass[i], low, high)
	}
	return out
}

func (g tally) addTiers(path string, names []string, counts bool) {
	n := map[string]float64{}
	for _, t := range names {
		n[t]++
	}
	pass := n["ideal"] + n["solid"] + n["lucky"]
	for _, t := range []string{"ideal", "solid", "lucky", "partial_fail", "off_track"} {
		if counts {
			g.add(path, t, n[t])
		}
	}
	for _, t := range []string{"ideal", "solid", "lucky"} {
		g.add(path, t+"_pct", 100*n[t]/pass)
	}
	g.add(path, "partial_fail_pct", 100*n["partial_fail"]/(n["partial_fail"]+n["off_track"]))
}

func (g tally) addModels(path string, score []float64, r runs, low, high float64) {
	_, names := groupIDs(r.model)
	rate, means := make([]float64, len(names)), make([]float64, len(names))
	for k, m := range names {
		p := path + "/" + m
		var own []float64
		var tier []string
		n := 0
		for i := range r.model {
			if r.model[i] != m {
				continue
			}
			n++
			if r.pass[i] {
				own = append(own, score[i])
				tier = append(tier, tiers(score[i:i+1], []bool{true}, low, high)...)
			}
		}
		rate[k], means[k] = float64(len(own))/float64(n), must(Mean(own))
		g.add(p, "n", float64(n))
		g.add(p, "n_pass", float64(len(own)))
		g.add(p, "pass_rate", rate[k])
		g.add(p, "mean_pass_score", means[k])
		g.add(p, "ideal_pct", 100*shareOf(tier, "ideal"))
		g.add(p, "lucky_pct", 100*shareOf(tier, "lucky"))
	}
	for k, m := range names {
		g.add(path+"/"+m, "pass_rank", float64(len(names))+1-Ranks(rate)[k])
		g.add(path+"/"+m, "score_rank", float64(len(names))+1-Ranks(means)[k])
	}
}

func shareOf(names []string, name string) float64 {
	n := 0
	for _, t := range names {
		if t == name {
			n++
		}
	}
	return float64(n) / float64(len(names))
}

func TestConformanceSummary(t *testing.T) {
	expected := readNode(t, "oracle", "profiles", "summary.json")
	g := tally{}
	addData(g, readFrame(t, "clean_labels.tsv"))
	scores, draws := readFrame(t, "paper_scores.tsv"), readFrame(t, "paper_draws.tsv")
	for _, labels := range []string{"release", "clean"} {
		addPaper(g, "paper/"+labels, scores.where("labels", labels), draws.where("labels", labels))
	}
	for block, labels := range map[string]string{"clean": "clean", "release": "release", "clean_other_model_donors": "clean_x"} {
		addStability(g, "stability_paper/"+block, draws.where("labels", labels))
	}
	process := readFrame(t, "process_scores.tsv")
	steps := scores.where("labels", "clean")
	if !slices.Equal(process.cols["trajectory_id"], steps.cols["trajectory_id"]) {
		t.Fatal("the score files list different runs")
	}
	addProcess(g, process, steps.num("n_steps", 0), readFrame(t, "process_halves.tsv"))
	base := readFrame(t, "baselines.tsv")
	for _, col := range []string{"individual_release", "individual_clean", "tfidf"} {
		g.addBlock("baselines/"+col, base.num(col, 0), base.runs())
	}
	addOracles(g, base.runs())

	compared := 0
	for _, key := range expected.keys() {
		if key != "definitions" {
			compared += g.compare(t, key, expected.at(key))
		}
	}
	if compared < 1028 {
		t.Errorf("only %d figures compared", compared)
	}
	t.Logf("%d figures compared", compared)
}

func addData(g tally, labels frame) {
	r := labels.runs()
	_, tasks := groupIDs(r.task)
	_, models := groupIDs(r.model)
	cells, n := must2(cellIDs(labels.n, r.task, r.model))
	within := must(AUROCWithin(make([]float64, len(cells)), r.pass, r.task, r.model))
	var eligibleTasks []string
	nPass := 0
	for i, t := range r.task {
		if r.pass[i] {
			nPass++
		}
		if r.eligible[i] {
			eligibleTasks = append(eligibleTasks, t)
		}
	}
	_, distinct := groupIDs(eligibleTasks)
	states := 0.0
	for _, s := range labels.num("n_steps", 0) {
		states += s
	}
	for key, v := range map[string]float64{
		"n": float64(labels.n), "n_pass": float64(nPass), "n_fail": float64(labels.n - nPass),
		"tasks": float64(len(tasks)), "models": float64(len(models)), "states": states,
		"n_eligible": float64(len(eligibleTasks)), "eligible_tasks": float64(len(distinct)),
		"cells": float64(n), "cells_with_both": float64(within.Cells), "wtm_pairs": float64(within.Pairs),
	} {
		g.add("data", key, v)
	}

	table := zeroTable(4, 4)
	runsDiffer := 0
	for i, rel := range labels.cols["release"] {
		clean := labels.cols["clean"][i]
		if rel != clean {
			runsDiffer++
		}
		for k := range len(rel) {
			table[strings.IndexByte("EIVO", rel[k])][strings.IndexByte("EIVO", clean[k])]++
		}
	}
	for i, row := range table {
		for j, c := range row {
			g[fmt.Sprintf("labels/confusion_rows_release_cols_clean_EIVO/%d/%d", i, j)] = float64(c)
		}
	}
	kappa := must(CohenKappa(table, Unweighted))
	g.add("labels", "agreement", kappa.Raw)
	g.add("labels", "kappa", kappa.Kappa)
	g.add("labels", "states_differ", math.Round((1-kappa.Raw)*float64(kappa.N)))
	g.add("labels", "runs_differ", float64(runsDiffer))
}

func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

func addPaper(g tally, path string, f, draws frame) {
	r := f.runs()
	score, steps := f.num("f", 0), f.num("n_steps", 0)
	g.addBlock(path+"/score", score, r)
	g.addCut(path+"/score", "46.4", score, r)
	g.addCut(path+"/score", "47", score, r)
	for _, signal := range []string{"struct", "cov", "coh", "temp"} {
		g.addBlock(path+"/signals/"+signal, f.num(signal, 0), r)
	}
	for _, col := range []string{"f", "struct", "cov", "coh", "temp"} {
		g.add(path+"/spearman_with_n_steps", col, must(Spearman(f.num(col, 0), steps)).R)
		g.add(path+"/eta2_model", col, must(EtaSquared(f.num(col, 0), r.model)))
		g.add(path+"/eta2_task", col, must(EtaSquared(f.num(col, 0), r.task)))
	}
	tier := tiers(score, r.pass, 47, 70)
	g.addTiers(path+"/tiers_47_70", tier, true)
	g.addModels(path+"/models", score, r, 47, 70)
	g.add(path, "mean_n_nodes", must(Mean(f.num("n_nodes", 0))))
	addWaste(g, path+"/waste", f, r, steps)
	addDivergence(g, path+"/divergence", f, r, steps)

	tokens := sums(f.num("input_tokens", 0), f.num("output_tokens", 0))
	for _, c := range []string{"C1", "C2", "C3", "C4", "C5"} {
		var own []float64
		for i, name := range f.cols["category"] {
			if name == c {
				own = append(own, tokens[i])
			}
		}
		g.add(path+"/lucky_categories/"+c, "n", float64(len(own)))
		g.add(path+"/lucky_categories/"+c, "mean_tokens", must(Mean(own)))
	}

	r = draws.runs()
	score = draws.num("f_mean12", 0)
	path += "/mean12"
	g.addBlock(path+"/score", score, r)
	g.addCut(path+"/score", "46.4", score, r)
	g.addCut(path+"/score", "47", score, r)
	g.addTiers(path+"/tiers_47_70", tiers(score, r.pass, 47, 70), true)
	g.addModels(path+"/models", score, r, 47, 70)
}

func sums(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}

func quotients(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

func addWaste(g tally, path string, f frame, r runs, steps []float64) {
	wasted := f.num("wasted_steps", 0)
	wastedOut, out := f.num("wasted_output_tokens", 0), f.num("output_tokens", 0)
	wastedAll := sums(f.num("wasted_input_tokens", 0), wastedOut)
	all := sums(f.num("input_tokens", 0), out)
	shareOfSums := func(key string, part, whole []float64) {
		pp, pf := split(part, r.pass)
		wp, wf := split(whole, r.pass)
		g.add(path, key+"_pass", total(pp)/total(wp))
		g.add(path, key+"_fail", total(pf)/total(wf))
	}
	shareOfSums("step_share", wasted, steps)
	shareOfSums("token_share", wastedAll, all)
	shareOfSums("output_token_share", wastedOut, out)
	negative := quotients(wasted, steps)
	for i := range negative {
		negative[i] = -negative[i]
	}
	g.add(path, "neg_severity_auroc", must(AUROC(negative, r.pass)))
	g.add(path, "neg_severity_wt", must(AUROCWithin(negative, r.pass, r.task)).AUROC)
	for _, d := range []string{"regress", "blind", "redund", "unnec", "cyclic"} {
		var prevalence [2]float64
		passing, failing := split(f.num(d+"_steps", 0), r.pass)
		for side, part := range [2][]float64{passing, failing} {
			present := slices.DeleteFunc(slices.Clone(part), func(v float64) bool { return v == 0 })
			outcome := [2]string{"pass", "fail"}[side]
			prevalence[side] = 100 * float64(len(present)) / float64(len(part))
			g.add(path+"/"+d, "prevalence_"+outcome+"_pct", prevalence[side])
			g.add(path+"/"+d, "mean_steps_if_present_"+outcome, must(Mean(present)))
		}
		g.add(path+"/"+d, "fail_over_pass", prevalence[1]/prevalence[0])
	}
}

func addDivergence(g tally, path string, f frame, r runs, steps []float64) {
	first := f.num("first_unmatched_step", -1)
	fraction := quotients(first, steps)
	none := 0.0
	for i, v := range first {
		if v < 0 {
			fraction[i] = 1
			none++
		}
	}
	p, q := split(fraction, r.pass)
	g.add(path, "first_unmatched_fraction_pass", must(Mean(p)))
	g.add(path, "first_unmatched_fraction_fail", must(Mean(q)))
	g.add(path, "first_unmatched_auroc", must(AUROC(fraction, r.pass)))
	g.add(path, "first_unmatched_wt", must(AUROCWithin(fraction, r.pass, r.task)).AUROC)
	matched := quotients(f.num("matched_steps", 0), steps)
	g.add(path, "matched_share_auroc", must(AUROC(matched, r.pass)))
	g.add(path, "matched_share_wt", must(AUROCWithin(matched, r.pass, r.task)).AUROC)
	g.add(path, "runs_without_unmatched_step", none)
}

// stability compares two columns of passing runs' scores.
type stability struct{ kappa, flip, jaccard, diff float64 }

func compareTiers(a, b []float64, pass []bool, low, high float64) stability {
	pa, _ := split(a, pass)
	pb, _ := split(b, pass)
	all := make([]bool, len(pa))
	for i := range all {
		all[i] = true
	}
	ta, tb := tiers(pa, all, low, high), tiers(pb, all, low, high)
	var both, either, flips float64
	diff := 0.0
	for i := range ta {
		diff += math.Abs(pa[i] - pb[i])
		if ta[i] != tb[i] {
			flips++
		}
		la, lb := ta[i] == "lucky", tb[i] == "lucky"
		if la && lb {
			both++
		}
		if la || lb {
			either++
		}
	}
	n := float64(len(ta))
	return stability{must(CohenLabels(ta, tb, Unweighted)).Kappa, 100 * flips / n, both / either, diff / n}
}

func meanOfDraws(columns [][]float64, from, to int) []float64 {
	out := make([]float64, len(columns[0]))
	for i := range out {
		for d := from; d < to; d++ {
			out[i] += columns[d][i]
		}
		out[i] /= float64(to - from)
	}
	return out
}

func addStability(g tally, path string, f frame) {
	r := f.runs()
	columns := make([][]float64, 24)
	var mics []float64
	var ideal, solid, lucky, partial []float64
	for d := range columns {
		columns[d] = f.num(fmt.Sprintf("f_draw%d", d+1), 0)
		mics = append(mics, must(AUROC(columns[d], r.pass)))
		one := tally{}
		one.addTiers("", tiers(columns[d], r.pass, 47, 70), false)
		ideal, solid = append(ideal, one["ideal_pct"]), append(solid, one["solid_pct"])
		lucky, partial = append(lucky, one["lucky_pct"]), append(partial, one["partial_fail_pct"])
	}
	g.add(path, "mic_mean", must(Mean(mics)))
	g.add(path, "mic_sd", must(PopulationSD(mics)))
	single := path + "/single_draw_tiers_mean"
	g.add(single, "ideal_pct", must(Mean(ideal)))
	g.add(single, "solid_pct", must(Mean(solid)))
	g.add(single, "lucky_pct", must(Mean(lucky)))
	g.add(single, "partial_fail_pct", must(Mean(partial)))

	var kappa, flip, jaccard []float64
	for i := range columns {
		for j := range i {
			s := compareTiers(columns[j], columns[i], r.pass, 47, 70)
			kappa, flip, jaccard = append(kappa, s.kappa), append(flip, s.flip), append(jaccard, s.jaccard)
		}
	}
	g.add(path, "kappa_two_draws", must(Mean(kappa)))
	g.add(path, "flip_pct_two_draws", must(Mean(flip)))
	g.add(path, "lucky_jaccard", must(Mean(jaccard)))

	var sds []float64
	flipping, passing := 0.0, 0.0
	for i, p := range r.pass {
		if !p {
			continue
		}
		passing++
		own := make([]float64, 24)
		changed := false
		for d := range columns {
			own[d] = columns[d][i]
			changed = changed || tier(own[d], true, 47, 70) != tier(own[0], true, 47, 70)
		}
		if changed {
			flipping++
		}
		sds = append(sds, must(PopulationSD(own)))
	}
	g.add(path, "pass_flipping_at_least_once_pct", 100*flipping/passing)
	g.add(path, "score_sd", must(Mean(sds)))

	for m, pairs := range map[int][][2]int{4: {{0, 4}, {8, 12}, {16, 20}}, 8: {{0, 8}}, 12: {{0, 12}}} {
		var kappa, flip []float64
		for _, p := range pairs {
			s := compareTiers(meanOfDraws(columns, p[0], p[0]+m), meanOfDraws(columns, p[1], p[1]+m), r.pass, 47, 70)
			kappa, flip = append(kappa, s.kappa), append(flip, s.flip)
		}
		g.add(fmt.Sprintf("%s/mean_of_%d", path, m), "kappa", must(Mean(kappa)))
		g.add(fmt.Sprintf("%s/mean_of_%d", path, m), "flip_pct", must(Mean(flip)))
	}
	all := meanOfDraws(columns, 0, 24)
	g.addBlock(path+"/mean_of_all_24", all, r)
	g.addTiers(path+"/mean_of_all_24/tiers", tiers(all, r.pass, 47, 70), true)
}

func addProcess(g tally, f frame, steps []float64, halves frame) {
	r := f.runs()
	mix := func(a, fw, v, s, scale float64) []float64 {
		A, F, V, S := f.num("A", 0), f.num("F", 0), f.num("V", 0), f.num("S", 0)
		out := make([]float64, f.n)
		for i := range out {
			out[i] = scale * (a*A[i] + fw*F[i] + v*V[i] + s*S[i])
		}
		return out
	}
	p3 := f.num("P3", 0)
	for _, col := range []string{"P3", "A", "F", "V", "S"} {
		g.addBlock("process/"+col, f.num(col, 0), r)
	}
	g.addBlock("process/ablation/no_A", mix(0, 0.25, 0.20, 0, 1), r)
	g.addBlock("process/ablation/no_F", mix(0.55, 0, 0.20, 0, 1), r)
	g.addBlock("process/ablation/no_V", mix(0.55, 0.25, 0, 0, 1), r)
	g.addBlock("process/S3_40A_40S_20V", mix(0.40, 0, 0.20, 0.40, 100), r)
	g.addTiers("process/tiers_41.8_68.1", tiers(p3, r.pass, 41.8, 68.1), true)
	g.addModels("process/models", p3, r, 41.8, 68.1)
	passing, failing := split(p3, r.pass)
	g.add("process/percentiles_of_passes", "p10.74", must(Quantile(passing, 0.1074)))
	g.add("process/percentiles_of_passes", "p79.84", must(Quantile(passing, 0.7984)))
	borderPass, borderFail := split(f.num("borderline", 0), r.pass)
	g.add("process", "borderline_pct_pass", 100*total(borderPass)/float64(len(passing)))
	g.add("process", "borderline_pct_fail", 100*total(borderFail)/float64(len(failing)))
	g.add("process", "spearman_with_n_steps", must(Spearman(p3, steps)).R)
	g.add("process", "eta2_model", must(EtaSquared(p3, r.model)))
	g.add("process", "eta2_task", must(EtaSquared(p3, r.task)))
	for _, flag := range []string{"small_pool", "no_source_edit"} {
		n := 0.0
		for _, flags := range f.cols["flags"] {
			if strings.Contains(flags, flag) {
				n++
			}
		}
		g.add("process/flags", flag, n)
	}

	passes := map[string]int{}
	for i, t := range r.task {
		if r.pass[i] {
			passes[t]++
		}
	}
	var keep []bool
	kept := 0.0
	for i, t := range r.task {
		keep = append(keep, r.pass[i] && passes[t] >= 11)
		if keep[i] {
			kept++
		}
	}
	var disjoint, full [4][]float64
	push := func(to *[4][]float64, s stability) {
		for k, v := range []float64{s.kappa, s.flip, s.jaccard, s.diff} {
			to[k] = append(to[k], v)
		}
	}
	for seed := 1; seed <= 6; seed++ {
		h0 := halves.num(fmt.Sprintf("P3_seed%d_half0", seed), math.NaN())
		h1 := halves.num(fmt.Sprintf("P3_seed%d_half1", seed), math.NaN())
		push(&disjoint, compareTiers(h0, h1, keep, 41.8, 68.1))
		// Half 0 alone is compared with the full pool.
		push(&full, compareTiers(h0, p3, keep, 41.8, 68.1))
	}
	path := "process/stability_halves_seeds_1_6"
	g.add(path, "kappa_disjoint", must(Mean(disjoint[0])))
	g.add(path, "flip_pct_disjoint", must(Mean(disjoint[1])))
	g.add(path, "lucky_jaccard_disjoint", must(Mean(disjoint[2])))
	g.add(path, "mean_abs_diff_disjoint", must(Mean(disjoint[3])))
	g.add(path, "kappa_half_vs_full", must(Mean(full[0])))
	g.add(path, "flip_pct_half_vs_full", must(Mean(full[1])))
	g.add(path, "n_runs", kept)
}

func addOracles(g tally, r runs) {
	rates := must(LeaveOneOut(r.pass, r.task, r.model))
	both := make([]float64, len(r.pass))
	for i := range both {
		both[i] = OracleLogit(rates.Model[i]) + OracleLogit(rates.Task[i])
	}
	g.addBlock("oracles/model_pass_rate_on_other_tasks", rates.Model, r)
	g.addBlock("oracles/task_pass_rate_of_other_runs", rates.Task, r)
	g.addBlock("oracles/sum_of_logits_0.02", both, r)
}

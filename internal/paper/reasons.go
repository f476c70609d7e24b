package paper

// Reason says why a figure is not a plain match.
type Reason struct {
	Code  string
	Title string // one line
	Text  string // one paragraph
}

const (
	unexpected    = "unexpected"
	drawVariation = "draw_variation"
)

// reasons in the order they are printed: differences, then what is missing.
var reasons = [...]Reason{
	{"score_outcome_term", "the released score contains the outcome",
		"The paper defines its score by Eq. 1, four signals of the process. The released column quality_score, on which all tiers and tables rest, " +
			"is another formula: 0.25 coverage, 0.25 coherence, 0.18 stage completeness, 0.12 workflow similarity, 0.10 f1 and 0.10 outcome, each on 0-100. " +
			"A pass adds 10 points, so any figure of how well this column separates passes from failures is inflated by what it should predict. " +
			"Without these points, or with Eq. 1 over the nearest columns, the separation is lower than printed; the printed figures fit neither."},
	{"cut_40", "the released tiers cut failing runs at 40, not 47",
		"The paper calls a failing run partial-fail from a score of 47 on. The printed split of 373 to 306 arises from the released scores only with " +
			"a cut at 40; with 47 it would be 211 to 468."},
	{"other_sample", "the released columns give another figure",
		"The AUROCs of the single signals were computed on signals, and perhaps on runs, that are not in the release: its columns are variants of the four " +
			"signals (coverage and f1 of one greedy order-free matching, for instance), and every one of them separates worse than printed."},
	{"ks_p_sample", "the printed p belongs to a smaller sample",
		"With 1,136 passing and 679 failing runs, an AUROC of 0.766 forces a Kolmogorov-Smirnov distance of at least 0.316, and with it a p below 1e-37; " +
			"even the pilot's 278 runs would give about 3e-6. A p of 0.0017, or of 0.2 to 0.6 for single signals, needs far fewer runs than either. " +
			"The p and the AUROC next to it cannot come from the same rows."},
	{"waste_columns", "severity and zero-waste shares do not follow from the released waste columns",
		"Mean wasted steps and mean lengths of Table 13 arise exactly from the released columns with the categories of Table 14. The columns for severity and for runs without " +
			"waste do not, by the mean or median of waste_severity, by the ratio of sums, or by the analysis reports' own waste. They must come from another version of the detectors."},
	{"verification_table", "verification by category does not follow from the released coverage",
		"With stage_coverage_V = 0 as the meaning of no verification, C1 and C2 are as printed, and so is the sum of all five categories (57 runs). C3, C4 and C5 are not: " +
			"the sum is spread differently among them. The statement that most C5 runs verify rests on this table; by the released columns most do not."},
	{"sum_of_rows", "the rows of the table do not add up to the caption",
		"The six tasks of Table 15 are printed with 16, 10, 8, 7, 7 and 6 Lucky passes. These make 54 of 122, 44.3 %, not the 53 and 43.4 % of the caption. The rows are right."},
	{"token_total", "the categories' tokens do not add up to the total in the text",
		"The means of Table 21 times their numbers of runs make 53.6 million tokens, as do the states of the 122 runs. The text says about 58.3 million, and its excess, " +
			"share and factor follow from that."},
	{"truncated", "cut off instead of rounded",
		"122 runs at the mean of C1 make 4.15 million tokens. The paper prints 4.1."},
	{"text_and_table", "text and table disagree",
		"The text counts eight combinations whose result does not depend on the order of merging. The table marks seven, and its standard deviations agree with the marks."},
	{"orders_sampled", "six orders are a sample, not all",
		"Four runs can be merged in 24 orders. The released script tries at most six of them."},
	{"illustrative", "an illustration that its formula does not give",
		"Figure 5 explains the four signals with made-up runs. Some of its values do not follow from the formulas or from the sequences drawn: a chaotic coherence of 0.51 " +
			"instead of 0.50, two deepenings instead of one, temporal signals of 0.92 and 0.38 instead of 0.98 and 0.64. They are no test vectors."},
	{"alignment_rows", "the alignment lists fewer matches than the percentages hold",
		"Coverage and precision count matches in any order. The alignment of the analysis report, one row per step, keeps only some of them; it is not among the 40 columns."},
	{drawVariation, "within the range that redrawn references give",
		"The five reference runs of every task are a random choice that the release does not disclose. The dataset was rebuilt with the score of Eq. 1 and the release's stage labels over several draws, " +
			"and what was printed lies in the range these give: three standard deviations around the mean of 100 simulated sets of scores, each run drawn independently by its own mean and deviation. " +
			"Runs of a task share references, so the true range is wider, by about half."},
	{unexpected, "the data are not those the paper describes",
		"No reason is known for this difference: on the authors' release the figure matches. The dataset was built from other, fewer or changed data, or a reader is at fault."},
	{"pilot_runs", "needs the pilot runs, which are not released",
		"The weights, the ablation and the study of the number of merged runs rest on a pilot of 278 runs on 10 tasks with 5 agent configurations. Neither the runs nor the list of tasks is released."},
	{"annotation_study", "needs the annotators' ratings, which are not released",
		"The reliability study has 200 states rated by five people and two language models. Ratings and states are not released. agentlens annotate runs such a study on any dataset."},
	{"merge_order_runs", "needs the merged runs, which are not released",
		"The study of the merging order uses runs of astropy__astropy-12907, a task that is not in the release."},
	{"excluded_tasks", "needs the 13 excluded tasks, which are not released",
		"Of 60 tasks, 13 had fewer than five passing runs and no reference. The release holds the other 47 without the reference runs."},
	{"references_missing", "needs the references of five runs, which are not shipped",
		"Scores were computed against references merged from five held-out runs per task. The graphs in the release merge all passing runs instead, and the 235 held-out runs are absent."},
	{"no_rule", "no rule assigns runs to these profiles",
		"The behavioural profiles are described by ranges of the signals, which overlap; no rule says which run has which profile. The mean coherence of all released passes is " +
			"below what the ranges suggest, so they cannot describe the released columns."},
	{"other_work", "a statement about other work",
		"The comparison with other datasets and frameworks states their sizes and reliabilities. It takes their own data to check."},
	{"baseline_scores", "needs the baseline's scores, which are not released",
		"The release holds no scores of the baselines, and not the passing runs they compare with."},
	{"embedding_model", "needs a hosted embedding model",
		"The dense baseline embeds runs with a hosted model. Its vectors are not released, and this tool calls no services."},
	{"illustration", "part of an illustration",
		"A made-up count or value that an illustration starts from; there is nothing to recompute it from."},
	{"machine", "a statement about the authors' machine", "The hardware the authors used leaves no trace in the data."},
	{"missing_states", "this dataset holds no states of the run",
		"Tokens, stages and calls are summed over a run's states. The dataset has the release's annotations but not its trajectories: build it from the whole release."},
	{"missing_tasks", "this dataset lacks the release's task table", "Build it from the whole release, which has annotations/tasks.csv."},
	{"missing_references", "this dataset lacks the release's merged references", "Build it from the whole release, which has the folder ground_truth."},
	{"undefined", "the figure does not exist for these data",
		"A mean of no runs, a separation with one outcome only, a test with an empty row: the data leave the figure undefined."},
}

// Reasons lists every reason: first those of differences, then those of figures that cannot
// be recomputed.
func Reasons() []Reason { return append([]Reason(nil), reasons[:]...) }

// Explain returns the reason with a code.
func Explain(code string) (Reason, bool) {
	for _, r := range reasons {
		if r.Code == code {
			return r, true
		}
	}
	return Reason{}, false
}

package schema

// SignalsPaper is what the paper profile computes beyond the 40 columns.
// All columns but those of the draws belong to the reference of the plain hash order.
type SignalsPaper struct {
	TrajectoryID           string   `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	Labels                 string   `parquet:"labels,plain" sql:"enum=release|clean" doc:"Stage labels the profile used; never mix the two in one comparison."`
	Passed                 *bool    `parquet:"passed,optional" doc:"Outcome; null when unknown. It enters no signal and not paper_score."`
	PTAID                  string   `parquet:"pta_id,plain" sql:"ref=pta,index" doc:"Reference the run was judged by."`
	NRefs                  int64    `parquet:"n_refs" doc:"Runs merged into the reference."`
	Refs                   string   `parquet:"refs,plain" doc:"Ids of the merged runs, comma separated, in merge order."`
	NNodes                 int64    `parquet:"n_nodes" doc:"Nodes of the reference."`
	NSteps                 int64    `parquet:"n_steps" doc:"Steps of the run, the initial state not counted."`
	Struct                 float64  `parquet:"struct" doc:"0-100: harmonic mean of ordered recall and precision on the best path."`
	Cov                    float64  `parquet:"cov" doc:"0-100: nodes of the whole reference in a maximum matching with the run."`
	Coh                    float64  `parquet:"coh" doc:"0-1: forward share of the stage transitions, less blind retries."`
	Temp                   float64  `parquet:"temp" doc:"0-1: 1 - mean Jensen-Shannon divergence (base 2) of the stage mix in three thirds."`
	PaperScore             float64  `parquet:"paper_score" doc:"0-100: the score f of the paper's Eq. 1, unrounded, without the outcome."`
	Tier                   *string  `parquet:"tier,optional,plain" sql:"enum=ideal|solid|lucky|partial_fail|off_track" doc:"Tier of paper_score; null when the outcome is unknown. With draws, the table of tiers has the tier of score_mean instead."`
	OrderedRecall          float64  `parquet:"ordered_recall" doc:"0-1: positions of the best path a forward scan of the run finds."`
	Precision              float64  `parquet:"precision" doc:"0-1: steps of the run in a maximum matching with the best path."`
	BestPath               int64    `parquet:"best_path" doc:"0-based index of the best path in refs and pta_paths."`
	BestPathLen            int64    `parquet:"best_path_len" doc:"Nodes of the best path."`
	FirstUnmatchedStep     *int64   `parquet:"first_unmatched_step,optional" doc:"0-based first step of the run that no node of the reference matches: the point of divergence; null when all match."`
	FirstUnmatchedFraction float64  `parquet:"first_unmatched_fraction" doc:"first_unmatched_step / n_steps; 1 when null."`
	FirstUnmatchedPathPos  *int64   `parquet:"first_unmatched_path_pos,optional" doc:"0-based first position of the best path outside the first largest matchable set: what the reference did and the run never did."`
	MatchedSteps           int64    `parquet:"matched_steps" doc:"Steps of the run that some node of the reference matches."`
	RegressEvents          int64    `parquet:"regress_events" doc:"Regression loops."`
	RegressSteps           int64    `parquet:"regress_steps" doc:"Steps in regression loops; may overlap with other detectors."`
	RegressAttributed      int64    `parquet:"regress_attributed" doc:"Wasted steps counted once, for this detector."`
	BlindEvents            int64    `parquet:"blind_events" doc:"Blind retries."`
	BlindSteps             int64    `parquet:"blind_steps" doc:"Steps from the third on."`
	BlindAttributed        int64    `parquet:"blind_attributed" doc:"Wasted steps counted once, for this detector."`
	RedundEvents           int64    `parquet:"redund_events" doc:"Redundant reads."`
	RedundSteps            int64    `parquet:"redund_steps" doc:"Steps."`
	RedundAttributed       int64    `parquet:"redund_attributed" doc:"Wasted steps counted once, for this detector."`
	UnnecEvents            int64    `parquet:"unnec_events" doc:"Unnecessary explorations."`
	UnnecSteps             int64    `parquet:"unnec_steps" doc:"Steps."`
	UnnecAttributed        int64    `parquet:"unnec_attributed" doc:"Wasted steps counted once, for this detector."`
	CyclicEvents           int64    `parquet:"cyclic_events" doc:"Cyclic patterns of 2 to 4 steps."`
	CyclicSteps            int64    `parquet:"cyclic_steps" doc:"Steps after the first copy."`
	CyclicAttributed       int64    `parquet:"cyclic_attributed" doc:"Wasted steps counted once, for this detector."`
	WastedSteps            int64    `parquet:"wasted_steps" doc:"Union of the five detectors: every step counts once."`
	WastedShare            float64  `parquet:"wasted_share" doc:"wasted_steps / n_steps, 0-1."`
	WastedInputTokens      int64    `parquet:"wasted_input_tokens" doc:"Tokens of the wasted steps."`
	WastedOutputTokens     int64    `parquet:"wasted_output_tokens" doc:"Tokens of the wasted steps."`
	InputTokens            int64    `parquet:"input_tokens" doc:"Tokens of all steps, missing counted as 0."`
	OutputTokens           int64    `parquet:"output_tokens" doc:"Tokens of all steps, missing counted as 0."`
	ImplCoverage           *float64 `parquet:"impl_coverage,optional" doc:"0-1: matched implementation positions of the best path; null when it has none."`
	ExploreRatio           float64  `parquet:"explore_ratio" doc:"Exploration steps of the run per exploration position of the best path, at least 1."`
	Category               *string  `parquet:"category,optional,plain" sql:"enum=C1|C2|C3|C4|C5" doc:"Lucky category of a passing run with a lucky paper_score; null otherwise."`
	Draws                  int64    `parquet:"draws" doc:"Reference draws behind the next columns; 0 when none were asked for."`
	ScoreMean              *float64 `parquet:"score_mean,optional" doc:"0-100: mean score over the draws."`
	ScoreSD                *float64 `parquet:"score_sd,optional" doc:"Sample standard deviation over the draws; null for fewer than two."`
	TierMean               *string  `parquet:"tier_mean,optional,plain" sql:"enum=ideal|solid|lucky|partial_fail|off_track" doc:"Tier of score_mean."`
	TierShare              *float64 `parquet:"tier_share,optional" doc:"0-1: draws whose own tier is tier_mean."`
	Flags                  *string  `parquet:"flags,optional,plain" doc:"Comma separated: refs<k when the reference has fewer runs than asked for, other_models when it was limited to other models; null when none."`
}

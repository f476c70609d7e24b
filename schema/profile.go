package schema

// Features are the release's 40 columns, in its order.
type Features struct {
	TaskID                      string   `parquet:"task_id,plain" sql:"index" doc:"Task."`
	Model                       string   `parquet:"model,plain" sql:"index" doc:"Model."`
	TrajectoryID                string   `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	Passed                      *bool    `parquet:"passed,optional" doc:"Outcome; null when unknown."`
	NStates                     *int64   `parquet:"n_states,optional" doc:"Labelled states, the initial state not counted."`
	QualityScore                *int64   `parquet:"quality_score,optional" doc:"0-100, rounded half to even. In the release profile it contains the outcome: +10 for a pass."`
	QualityTier                 *string  `parquet:"quality_tier,optional,plain" sql:"enum=ideal|solid|lucky|partial_fail|off_track" doc:"Tier."`
	Verdict                     *string  `parquet:"verdict,optional,plain" doc:"Five-level verdict from the match, not the outcome."`
	CoveragePercent             *float64 `parquet:"coverage_percent,optional" doc:"Matched states of the best reference path, 0-100."`
	PrecisionPercent            *float64 `parquet:"precision_percent,optional" doc:"Matched states of the run, 0-100."`
	F1Score                     *float64 `parquet:"f1_score,optional" doc:"Harmonic mean of coverage and precision, 0-100."`
	CoherenceScore              *float64 `parquet:"coherence_score,optional" doc:"0-1."`
	TemporalProfileScore        *float64 `parquet:"temporal_profile_score,optional" doc:"0-1."`
	WorkflowSimilarity          *float64 `parquet:"workflow_similarity,optional" doc:"0-1."`
	StageCompleteness           *float64 `parquet:"stage_completeness,optional" doc:"0-1."`
	BottleneckCoverage          *float64 `parquet:"bottleneck_coverage,optional" doc:"0-100."`
	WeightedScore               *float64 `parquet:"weighted_score,optional" doc:"0-100."`
	StageCoverageE              *float64 `parquet:"stage_coverage_E,optional" doc:"0-100; 0 when the reference has no such stage."`
	StageCoverageI              *float64 `parquet:"stage_coverage_I,optional" doc:"0-100."`
	StageCoverageV              *float64 `parquet:"stage_coverage_V,optional" doc:"0-100."`
	StageCoverageO              *float64 `parquet:"stage_coverage_O,optional" doc:"0-100."`
	RegressionLoopCount         *int64   `parquet:"regression_loop_count,optional" doc:"Spans."`
	RegressionLoopWaste         *int64   `parquet:"regression_loop_waste,optional" doc:"Steps."`
	BlindRetryCount             *int64   `parquet:"blind_retry_count,optional" doc:"Runs of equal steps."`
	BlindRetryWaste             *int64   `parquet:"blind_retry_waste,optional" doc:"Steps."`
	RedundantStepCount          *int64   `parquet:"redundant_step_count,optional" doc:"Steps."`
	RedundantStepWaste          *int64   `parquet:"redundant_step_waste,optional" doc:"Steps."`
	UnnecessaryExplorationCount *int64   `parquet:"unnecessary_exploration_count,optional" doc:"Steps."`
	UnnecessaryExplorationWaste *int64   `parquet:"unnecessary_exploration_waste,optional" doc:"Steps."`
	CyclicPatternCount          *int64   `parquet:"cyclic_pattern_count,optional" doc:"Patterns."`
	CyclicPatternWaste          *int64   `parquet:"cyclic_pattern_waste,optional" doc:"Steps."`
	TotalWastedSteps            *int64   `parquet:"total_wasted_steps,optional" doc:"Sum of the five wastes; spans may overlap."`
	WasteSeverity               *float64 `parquet:"waste_severity,optional" doc:"total_wasted_steps / n_states, 4 decimals; may exceed 1."`
	WastedInputTokens           *int64   `parquet:"wasted_input_tokens,optional" doc:"Tokens, from the inefficiency report."`
	WastedOutputTokens          *int64   `parquet:"wasted_output_tokens,optional" doc:"Tokens, from the inefficiency report."`
	DivergenceStep              *int64   `parquet:"divergence_step,optional" doc:"1-based index on the reference path; null when everything matched."`
	DivergenceFraction          *float64 `parquet:"divergence_fraction,optional" doc:"divergence_step / n_states, 4 decimals; may exceed 1."`
	StageOrderMatch             *bool    `parquet:"stage_order_match,optional" doc:"Whether the reference path has every stage that the run has, orchestration apart; the order is not compared. True in every row that the release published."`
	FailureReasons              *string  `parquet:"failure_reasons,optional,plain" doc:"JSON array of {reason, detail, severity}; null when empty."`
	Strengths                   *string  `parquet:"strengths,optional,plain" doc:"JSON array of strings; null when empty."`
}

// SignalsRelease is what the release profile computes beyond the 40 columns.
type SignalsRelease struct {
	TrajectoryID              string  `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	PTAID                     string  `parquet:"pta_id,plain" sql:"ref=pta,index" doc:"Reference the run was judged by."`
	NReferences               int64   `parquet:"n_references" doc:"Runs merged into the reference."`
	FewReferences             bool    `parquet:"few_references" doc:"Whether the reference has fewer than the k runs asked for."`
	ScoreWithoutOutcome       float64 `parquet:"score_without_outcome" doc:"0-90: the release's score without its outcome term, unrounded."`
	ScoreWithOutcomeUnrounded float64 `parquet:"score_with_outcome_unrounded" doc:"0-100: the release's score before rounding."`
	SDKTier                   string  `parquet:"sdk_tier,plain" doc:"Tier by the verdict rule of the analysis reports."`
	MatchedCount              int64   `parquet:"matched_count" doc:"Matched states of the best path."`
	GTPathLen                 int64   `parquet:"gt_path_len" doc:"States of the best path, the initial one included."`
	CandidateStates           int64   `parquet:"candidate_states" doc:"States of the run, the initial one included."`
	BestPathIndex             int64   `parquet:"best_path_index" doc:"Index of the best path in pta_paths."`
	TotalPaths                int64   `parquet:"total_paths" doc:"Enumerated paths, at most 50."`
	TerminalStateMatch        bool    `parquet:"terminal_state_match" doc:"Whether the last states match."`
	PerfectMatch              bool    `parquet:"perfect_match" doc:"Whether every state of the path matched."`
	StageMatchedE             int64   `parquet:"stage_matched_E" doc:"Matched states of the path."`
	StageTotalE               int64   `parquet:"stage_total_E" doc:"States of the path."`
	StageExtraE               int64   `parquet:"stage_extra_E" doc:"States of the run that are not aligned."`
	StageMatchedI             int64   `parquet:"stage_matched_I" doc:"Matched states of the path."`
	StageTotalI               int64   `parquet:"stage_total_I" doc:"States of the path."`
	StageExtraI               int64   `parquet:"stage_extra_I" doc:"States of the run that are not aligned."`
	StageMatchedV             int64   `parquet:"stage_matched_V" doc:"Matched states of the path."`
	StageTotalV               int64   `parquet:"stage_total_V" doc:"States of the path."`
	StageExtraV               int64   `parquet:"stage_extra_V" doc:"States of the run that are not aligned."`
	StageMatchedO             int64   `parquet:"stage_matched_O" doc:"Matched states of the path."`
	StageTotalO               int64   `parquet:"stage_total_O" doc:"States of the path."`
	StageExtraO               int64   `parquet:"stage_extra_O" doc:"States of the run that are not aligned."`
	EffortRatioE              float64 `parquet:"effort_ratio_E" doc:"States of the run per state of the path; 0 when the path has none."`
	EffortRatioI              float64 `parquet:"effort_ratio_I" doc:"States of the run per state of the path."`
	EffortRatioV              float64 `parquet:"effort_ratio_V" doc:"States of the run per state of the path."`
	EffortRatioO              float64 `parquet:"effort_ratio_O" doc:"States of the run per state of the path."`
	DivergenceIndex           *int64  `parquet:"divergence_index,optional" doc:"0-based index of the first unmatched path state."`
	DivergenceDescription     *string `parquet:"divergence_description,optional,plain" doc:"First unaligned step of the run: tool, or tool on file."`
	DivergenceExpected        *string `parquet:"divergence_expected,optional,plain" doc:"What the reference did there."`
	NDivergenceSegments       int64   `parquet:"n_divergence_segments" doc:"Maximal runs of unmatched path states."`
	FailureReasonNames        *string `parquet:"failure_reason_names,optional,plain" doc:"name:severity, comma separated, in order."`
	Signals                   *string `parquet:"signals,optional,plain" doc:"Quality signals as name:severity, comma separated, in order."`
	Deepen                    int64   `parquet:"deepen" doc:"Transitions inside a stage."`
	Pivot                     int64   `parquet:"pivot" doc:"Forward transitions, not into orchestration."`
	Backtrack                 int64   `parquet:"backtrack" doc:"Backward transitions."`
	Confirm                   int64   `parquet:"confirm" doc:"Transitions into orchestration."`
	BlindRetries              int64   `parquet:"blind_retries" doc:"Steps from the third on in runs of equal steps, as coherence counts them."`
	SDKTotalWastedSteps       int64   `parquet:"sdk_total_wasted_steps" doc:"Steps in the inefficiency report, each counted once."`
	SDKSeverityScore          float64 `parquet:"sdk_severity_score" doc:"sdk_total_wasted_steps / n_states, 0-1."`
	SDKBacktrackCount         int64   `parquet:"sdk_backtrack_count" doc:"Backward transitions the reference never makes."`
	SDKRedundantStepCount     int64   `parquet:"sdk_redundant_step_count" doc:"Steps."`
	SDKUnnecessaryExploration int64   `parquet:"sdk_unnecessary_exploration_count" doc:"Steps."`
	TotalInputTokens          int64   `parquet:"total_input_tokens" doc:"Tokens over the labelled states."`
	TotalOutputTokens         int64   `parquet:"total_output_tokens" doc:"Tokens over the labelled states."`
	MatchedGTIndices          string  `parquet:"matched_gt_indices,plain" doc:"JSON array: matched positions of the best path, ascending."`
	CanonicalPathIndex        int64   `parquet:"canonical_path_index" doc:"Path of the candidate-independent strategy."`
	CanonicalCoveragePercent  float64 `parquet:"canonical_coverage_percent" doc:"Coverage of that path, 0-100."`
	CanonicalF1Score          float64 `parquet:"canonical_f1_score" doc:"F1 on that path, 0-100."`
	CanonicalWeightedScore    float64 `parquet:"canonical_weighted_score" doc:"Weighted score on that path, 0-100."`
}

// PTA is one reference: the merge of an ordered list of passing runs.
type PTA struct {
	PTAID             string `parquet:"pta_id,plain" sql:"pk" doc:"<task>#<first 12 hex digits of the SHA-256 of the ordered member ids>."`
	TaskID            string `parquet:"task_id,plain" sql:"ref=tasks,index" doc:"Task."`
	Mode              string `parquet:"mode,plain" doc:"loo, donors or pool: how the members were chosen."`
	KRequested        int64  `parquet:"k_requested" doc:"Runs asked for; 0 means all."`
	NMembers          int64  `parquet:"n_members" doc:"Runs merged."`
	NNodes            int64  `parquet:"n_nodes" doc:"Nodes after consolidation."`
	NEdges            int64  `parquet:"n_edges" doc:"Edges after consolidation."`
	NTerminals        int64  `parquet:"n_terminals" doc:"Nodes that end a member."`
	NPaths            int64  `parquet:"n_paths" doc:"Enumerated paths, at most 50."`
	CanonicalPath     int64  `parquet:"canonical_path" doc:"Index of the path with most stages, then longest."`
	TracesMerged      int64  `parquet:"traces_merged" doc:"Merge statistic."`
	StatesAdded       int64  `parquet:"states_added" doc:"Merge statistic, before consolidation."`
	StatesMerged      int64  `parquet:"states_merged" doc:"Merge statistic."`
	TransitionsAdded  int64  `parquet:"transitions_added" doc:"Merge statistic."`
	BranchesCreated   int64  `parquet:"branches_created" doc:"Merge statistic: failed checks."`
	EquivalenceChecks int64  `parquet:"equivalence_checks" doc:"Merge statistic."`
}

// PTAMember says which run, in which order, made a reference.
type PTAMember struct {
	PTAID        string `parquet:"pta_id,plain" sql:"pk,ref=pta" doc:"Reference."`
	Position     int64  `parquet:"position" sql:"pk" doc:"0-based merge order."`
	TrajectoryID string `parquet:"trajectory_id,plain" sql:"ref=trajectories,index" doc:"Merged run."`
}

// PTANode is one state of a reference.
type PTANode struct {
	PTAID          string  `parquet:"pta_id,plain" sql:"pk,ref=pta" doc:"Reference."`
	NodeIndex      int64   `parquet:"node_index" sql:"pk" doc:"0-based, in order of creation."`
	MergedID       int64   `parquet:"merged_id" doc:"Creation counter before consolidation."`
	Step           int64   `parquet:"step" doc:"Step of the state that made the node."`
	ResultingState string  `parquet:"resulting_state,plain" doc:"State string."`
	Stage          *string `parquet:"stage,optional,plain" sql:"enum=exploration|implementation|verification|orchestration" doc:"Label on the merged graph; null for the initial node."`
	Tool           *string `parquet:"tool,optional,plain" doc:"Canonical tool."`
	FilePath       *string `parquet:"file_path,optional,plain" doc:"File."`
	TraceCount     int64   `parquet:"trace_count" doc:"States merged into the node."`
	IsInitial      bool    `parquet:"is_initial" doc:"Whether paths begin here."`
	IsTerminal     bool    `parquet:"is_terminal" doc:"Whether a member ends here."`
	OriginalIDs    string  `parquet:"original_ids,plain" doc:"JSON array of the merged states' ids."`
}

// PTAEdge is one transition of a reference.
type PTAEdge struct {
	PTAID        string `parquet:"pta_id,plain" sql:"pk,ref=pta" doc:"Reference."`
	TransitionID int64  `parquet:"transition_id" sql:"pk" doc:"Creation counter; paths are enumerated in its order as text."`
	FromNode     int64  `parquet:"from_node" doc:"Node index."`
	ToNode       int64  `parquet:"to_node" doc:"Node index."`
	ActionType   string `parquet:"action_type,plain" doc:"Tool of the transition."`
	Step         int64  `parquet:"step" doc:"Step of the transition in its run."`
}

// PTAPath is one enumerated path of a reference.
type PTAPath struct {
	PTAID     string `parquet:"pta_id,plain" sql:"pk,ref=pta" doc:"Reference."`
	PathIndex int64  `parquet:"path_index" sql:"pk" doc:"0-based, in order of enumeration."`
	Length    int64  `parquet:"length" doc:"Nodes, the initial one included."`
	Nodes     string `parquet:"nodes,plain" doc:"JSON array of node indexes."`
}

// Alignment is one step of a run against its best reference path.
type Alignment struct {
	TrajectoryID  string `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	CandidateStep int64  `parquet:"candidate_step" sql:"pk" doc:"0-based index of the run's state, 0 is the initial one."`
	Aligned       bool   `parquet:"aligned" doc:"Whether the step is aligned in order."`
	NodeIndex     *int64 `parquet:"node_index,optional" doc:"Node of the reference; null when not aligned."`
	PathPosition  *int64 `parquet:"path_position,optional" doc:"0-based position on the best path; null when not aligned."`
}

// Divergence is one maximal run of reference states that the run never matched.
type Divergence struct {
	TrajectoryID string  `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	Segment      int64   `parquet:"segment" sql:"pk" doc:"0-based, in order; segment 0 begins at the point of divergence."`
	StartStep    int64   `parquet:"start_step" doc:"1-based first position on the reference path."`
	EndStep      int64   `parquet:"end_step" doc:"1-based last position."`
	Stage        *string `parquet:"stage,optional,plain" doc:"Most frequent stage of the missed states."`
	Activity     int64   `parquet:"activity" doc:"Unaligned steps of the run in the proportional range."`
}

// Waste is one detected span.
type Waste struct {
	TrajectoryID string  `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	Span         int64   `parquet:"span" sql:"pk" doc:"0-based, by report, category, first step."`
	Report       string  `parquet:"report,plain" sql:"enum=detectors|inefficiency" doc:"detectors: the five behind the waste columns; inefficiency: the report behind the token columns."`
	Category     string  `parquet:"category,plain" sql:"index" doc:"regression_loop, blind_retry, redundant_step, unnecessary_exploration, cyclic_pattern, or backtrack."`
	FirstStep    int64   `parquet:"first_step" doc:"1-based first labelled step of the span."`
	LastStep     int64   `parquet:"last_step" doc:"1-based last labelled step of the span."`
	WastedSteps  int64   `parquet:"wasted_steps" doc:"Steps of the span that count as waste; 0 for a backtrack."`
	InputTokens  int64   `parquet:"input_tokens" doc:"Tokens of the wasted steps."`
	OutputTokens int64   `parquet:"output_tokens" doc:"Tokens of the wasted steps."`
	Repetitions  *int64  `parquet:"repetitions,optional" doc:"Run length of a retry, repetitions of a cycle."`
	PatternLen   *int64  `parquet:"pattern_len,optional" doc:"Steps of a cycle's pattern, 2-4."`
	Tool         *string `parquet:"tool,optional,plain" doc:"Tool of the first step."`
	FilePath     *string `parquet:"file_path,optional,plain" doc:"File of the first step."`
	Detail       *string `parquet:"detail,optional,plain" doc:"Stage letters, such as VE for a backtrack."`
}

// ToolWaste attributes the inefficiency report's waste to tools; each step counts once.
type ToolWaste struct {
	TrajectoryID string `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	Tool         string `parquet:"tool,plain" sql:"pk" doc:"Canonical tool."`
	Retries      int64  `parquet:"retries" doc:"Steps."`
	Backtracks   int64  `parquet:"backtracks" doc:"Transitions; not waste."`
	Cycles       int64  `parquet:"cycles" doc:"Steps."`
	Redundant    int64  `parquet:"redundant" doc:"Steps."`
	Unnecessary  int64  `parquet:"unnecessary" doc:"Steps."`
	TotalWasted  int64  `parquet:"total_wasted" doc:"Steps; backtracks not included."`
}

// Tier is the verdict on one run. Every run of the dataset has a row in every profile.
type Tier struct {
	TrajectoryID string  `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	Tier         *string `parquet:"tier,optional,plain" sql:"enum=ideal|solid|lucky|partial_fail|off_track,index" doc:"Null when the run could not be judged."`
	Category     *string `parquet:"category,optional,plain" sql:"enum=C1|C2|C3|C4|C5" doc:"Lucky category; null unless the tier is lucky."`
	CategoryName *string `parquet:"category_name,optional,plain" doc:"Name of the category."`
	Rule         *string `parquet:"rule,optional,plain" doc:"The rule that decided, with the numbers it saw."`
	Borderline   *bool   `parquet:"borderline,optional" doc:"Whether the score is close to a cut; null where the profile has no such notion."`
	Reason       *string `parquet:"reason,optional,plain" doc:"Why there is no tier: reference_donor, no_reference, too_few_references, outcome_unknown, empty."`
}

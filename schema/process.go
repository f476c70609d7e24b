package schema

// SignalsProcess is what the process profile computes beyond the 40 columns.
// The run's own outcome enters none of them but tier and borderline.
type SignalsProcess struct {
	TrajectoryID      string   `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run."`
	Passed            *bool    `parquet:"passed,optional" doc:"Outcome; null when unknown."`
	PTAID             *string  `parquet:"pta_id,optional,plain" sql:"ref=pta,index" doc:"Pool the run was compared with, a row of pta with mode pool; the run itself never counts. Null without a pool."`
	PoolKind          string   `parquet:"pool_kind,plain" sql:"enum=cross_model|same_model|none" doc:"cross_model: passing runs of other models; same_model: of the same model, as there are no others."`
	PoolSize          int64    `parquet:"pool_size" doc:"Runs in the pool, the run itself not counted."`
	A                 *float64 `parquet:"A,optional" doc:"0-1: steps of a reference found in the run in its order, expected best of 5 references of the pool; null without a pool."`
	F                 *float64 `parquet:"F,optional" doc:"0-1: Jaccard of the edited source files, expected best of 5; null without a pool."`
	V                 float64  `parquet:"V" doc:"0-1: 1 - 0.5^verifications."`
	S                 *float64 `parquet:"S,optional" doc:"0-1: similarity of the added tokens, expected best of 5. It compares solutions and does not enter process_score."`
	ProcessScore      *float64 `parquet:"process_score,optional" doc:"0-100: 100*(0.55*A + 0.25*F + 0.20*V) with the default weights; null when A and F are, or the run is empty."`
	Tier              *string  `parquet:"tier,optional,plain" sql:"enum=ideal|solid|lucky|partial_fail|off_track" doc:"Null when the outcome or the score is unknown."`
	Borderline        *bool    `parquet:"borderline,optional" doc:"Whether the score is less than 4 away from a cut that applies; null without a tier."`
	Verifications     int64    `parquet:"verifications" doc:"Test, run and code actions after the last source edit; 0 without a source edit."`
	AddedTokens       int64    `parquet:"added_tokens" doc:"Tokens in the lines the run added to source files, with multiplicity."`
	NEdited           int64    `parquet:"n_edited" doc:"Source files edited."`
	EditedSourceFiles *string  `parquet:"edited_source_files,optional,plain" doc:"Those files, sorted, comma separated; null when none."`
	Flags             *string  `parquet:"flags,optional,plain" doc:"Comma separated: no_source_edit, small_pool, same_model_pool; null when none."`
}

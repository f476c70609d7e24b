package schema

// Task is one benchmark instance.
type Task struct {
	TaskID        string  `parquet:"task_id,plain" sql:"pk" doc:"Benchmark instance, such as psf__requests-1724."`
	Repo          *string `parquet:"repo,optional,plain" doc:"Repository as owner/name, derived from the instance id or the log; null when neither says."`
	NTrajectories int64   `parquet:"n_trajectories" doc:"Runs of the task in this dataset."`
	NPass         int64   `parquet:"n_pass" doc:"Runs whose outcome is pass."`
	NFail         int64   `parquet:"n_fail" doc:"Runs whose outcome is fail."`
	NUnknown      int64   `parquet:"n_unknown" doc:"Runs whose outcome is unknown; they enter no pass/fail statistic."`
	Description   *string `parquet:"description,optional,plain" sql:"logtext" doc:"Task text given to the agent, at most 2,000 code points; null when the log has none."`
}

// Model is one language model.
type Model struct {
	Model         string   `parquet:"model,plain" sql:"pk" doc:"Model name as the source gives it; 'unknown' when it does not."`
	NTrajectories int64    `parquet:"n_trajectories" doc:"Runs by the model."`
	NPass         int64    `parquet:"n_pass" doc:"Runs whose outcome is pass."`
	NFail         int64    `parquet:"n_fail" doc:"Runs whose outcome is fail."`
	NUnknown      int64    `parquet:"n_unknown" doc:"Runs whose outcome is unknown."`
	PassRate      *float64 `parquet:"pass_rate,optional" doc:"n_pass / (n_pass + n_fail), 0-1; null when both are 0."`
}

// Trajectory is one run: identity, outcome, totals.
type Trajectory struct {
	TrajectoryID  string  `parquet:"trajectory_id,plain" sql:"pk" doc:"Unique id of the run; for the release its file name without extension."`
	TaskID        string  `parquet:"task_id,plain" sql:"ref=tasks,index" doc:"Task of the run."`
	Model         string  `parquet:"model,plain" sql:"ref=models,index" doc:"Model of the run."`
	Agent         *string `parquet:"agent,optional,plain" doc:"Scaffold, such as OpenHands; null when the log does not say."`
	AgentVersion  *string `parquet:"agent_version,optional,plain" doc:"Version of the scaffold."`
	Format        string  `parquet:"format,plain" doc:"Reader that read the run, such as agentlens-release or openhands-v0."`
	FormatVersion *string `parquet:"format_version,optional,plain" doc:"Shape or version of the format, as the reader saw it."`
	Outcome       string  `parquet:"outcome,plain" sql:"enum=pass|fail|unknown" doc:"Verdict of the hidden tests."`
	Passed        *bool   `parquet:"passed,optional" doc:"True for pass, false for fail, null for unknown."`
	OutcomeSource *string `parquet:"outcome_source,optional,plain" doc:"Evidence that decided the outcome, by the precedence labels, report.json, report, summary, column, metadata, file name."`
	OutcomeDetail *string `parquet:"outcome_detail,optional,plain" doc:"Why, where more is known: empty_patch, infrastructure, conflict, ..."`
	ExitStatus    *string `parquet:"exit_status,optional,plain" doc:"How the run ended, as the log states it."`
	SourceFile    string  `parquet:"source_file,plain" doc:"File inside the source; never a path of the machine the log came from."`
	SourceRecord  *int64  `parquet:"source_record,optional" doc:"1-based line in a JSON Lines file; null when the file is the record."`
	SourceSHA256  string  `parquet:"source_sha256,plain" doc:"SHA-256 of the record's bytes, hex."`
	NStates       int64   `parquet:"n_states" doc:"Labelled states; the initial state does not count."`
	NTransitions  int64   `parquet:"n_transitions" doc:"Transitions between states."`
	Condensations int64   `parquet:"condensations" doc:"Context condensations the log records."`
	InputTokens   int64   `parquet:"input_tokens" doc:"Sum over the states, missing counted as 0; tokens."`
	OutputTokens  int64   `parquet:"output_tokens" doc:"Sum over the states, missing counted as 0; tokens."`
	CachedTokens  int64   `parquet:"cached_tokens" doc:"Cached part of input_tokens, missing counted as 0; tokens."`
	StagesRelease string  `parquet:"stages_release,plain" doc:"Stage strip by the release labeler: one letter E, I, V or O per state in order, - for the initial state."`
	StagesClean   string  `parquet:"stages_clean,plain" doc:"Stage strip by the clean labeler."`
	Warnings      *string `parquet:"warnings,optional,plain" doc:"JSON array of {code, detail}: what the reader had to guess; null when nothing."`
}

// State is one step of a run.
type State struct {
	TrajectoryID     string  `parquet:"trajectory_id,plain" sql:"pk,ref=trajectories" doc:"Run of the state."`
	Step             int64   `parquet:"step" sql:"pk" doc:"Order in the run, 0 is the initial state."`
	StateID          string  `parquet:"state_id,plain" doc:"Id in the source, or state_<step>."`
	Tool             *string `parquet:"tool,optional,plain" doc:"Canonical tool; null for the initial state."`
	RawTool          *string `parquet:"raw_tool,optional,plain" doc:"Tool name in the log."`
	Command          *string `parquet:"command,optional,plain" sql:"logtext" doc:"Shell command of a terminal step; null for other tools."`
	FilePath         *string `parquet:"file_path,optional,plain" doc:"File of the step, workspace-relative, lower case."`
	LineStart        *int64  `parquet:"line_start,optional" doc:"First line of the range, 1-based, inclusive."`
	LineEnd          *int64  `parquet:"line_end,optional" doc:"Last line of the range, inclusive; -1 for the end of the file."`
	ScopePath        *string `parquet:"scope_path,optional,plain" doc:"Python scope of an edit, such as Class.method."`
	FunctionName     *string `parquet:"function_name,optional,plain" doc:"Function of the scope."`
	ClassName        *string `parquet:"class_name,optional,plain" doc:"Class of the scope."`
	OperationType    *string `parquet:"operation_type,optional,plain" doc:"read, modify, create, delete, search, terminal, other."`
	EditType         *string `parquet:"edit_type,optional,plain" doc:"create, replace, insert, ... for edits."`
	ResultingState   string  `parquet:"resulting_state,plain" doc:"What the step led to, as kind:subject, such as file_modified:src/a.py, file_modify_failed:src/a.py, terminal:pytest or tool_result:think:success; initial for the first state."`
	ContentHash      *string `parquet:"content_hash,optional,plain" sql:"logtext" doc:"First 12 hex digits of the MD5 of the edited text, created content, patch or command."`
	StageSource      *string `parquet:"stage_source,optional,plain" sql:"enum=exploration|implementation|verification|orchestration" doc:"Label stored in the source; null when the source has none."`
	StageRelease     *string `parquet:"stage_release,optional,plain" sql:"enum=exploration|implementation|verification|orchestration" doc:"Label of the release labeler; null for the initial state."`
	RuleRelease      *string `parquet:"rule_release,optional,plain" doc:"The rule that gave stage_release, the first of the labeler that applies. orchestration: llm_response, orchestration_tool, edit_summary_file, cleanup_command. exploration: search_tool, read_file, inspection_command, cat_command, other_command. implementation: edit_file, code_writing_command. verification: validation_tool, read_edited_file, test_command, run_command_after_edit, git_review_after_edit, command_near_end (in the last fifth of the run). verification after an edit, exploration before: edit_test_file, read_test_file. The stage that the tool is known for: tool_hint. No label: initial."`
	StageClean       *string `parquet:"stage_clean,optional,plain" sql:"enum=exploration|implementation|verification|orchestration" doc:"Label of the clean labeler, over parsed shell commands; null for the initial state."`
	RuleClean        *string `parquet:"rule_clean,optional,plain" doc:"The rule that gave stage_clean. orchestration: orchestration_tool, edit_summary_file, shell_housekeeping, shell_no_action. exploration: search_tool, read_file, shell_inspect. implementation: edit_source, shell_writes_source. verification: validation_tool, read_edited_file, read_test_file (both after a source edit), shell_test, shell_reads_edited_file. verification after a source edit, exploration before: edit_not_source, shell_execute, shell_other. Null for the initial state."`
	InputTokens      *int64  `parquet:"input_tokens,optional" doc:"Prompt tokens of the response that issued the call, on its first call only."`
	OutputTokens     *int64  `parquet:"output_tokens,optional" doc:"Completion tokens, on the first call of the response only."`
	CachedTokens     *int64  `parquet:"cached_tokens,optional" doc:"Cached part of input_tokens."`
	Timestamp        *string `parquet:"timestamp,optional,plain" doc:"As written in the log; naive times stay naive."`
	ExitCode         *int64  `parquet:"exit_code,optional" doc:"Exit code of a command; null when unknown or not finished."`
	IsError          *bool   `parquet:"is_error,optional" doc:"Whether the step failed; null when the log does not say."`
	ErrorSource      *string `parquet:"error_source,optional,plain" doc:"Where is_error comes from: exit_code, flag, text."`
	ObservationChars int64   `parquet:"observation_chars" doc:"Code points of the observation in the source, before any cut of ours."`
	ObservationHash  string  `parquet:"observation_hash,plain" sql:"logtext" doc:"First 16 hex digits of the MD5 of the observation as the source has it. The AgentLens release has no more than the first 500 characters of each answer."`
	Observation      *string `parquet:"observation,optional,plain" sql:"logtext" doc:"First 1,000 code points (--observations preview), all of it (full), or null (none)."`
}

// IngestError is one refused record.
type IngestError struct {
	ErrorID int64   `parquet:"error_id" sql:"pk" doc:"1-based, in order of file, line, record."`
	File    string  `parquet:"file,plain" doc:"File inside the source."`
	Line    *int64  `parquet:"line,optional" doc:"1-based line, where the format has lines."`
	Record  *string `parquet:"record,optional,plain" doc:"Id of the record, where it could be read."`
	Code    string  `parquet:"code,plain" doc:"Stable code, such as bad_json or duplicate_id."`
	Message string  `parquet:"message,plain" doc:"What was wrong and what was expected."`
	Hint    *string `parquet:"hint,optional,plain" doc:"The way out."`
}

// Published are the release's own 40 annotation columns, verbatim.
type Published = Features

// PublishedTask is a row of the release's tasks table, verbatim.
type PublishedTask struct {
	TaskID               string   `parquet:"task_id,plain" sql:"pk" doc:"Task."`
	NTrajectories        *int64   `parquet:"n_trajectories,optional" doc:"Runs with an outcome, donors included."`
	NPassing             *int64   `parquet:"n_passing,optional" doc:"Passing runs."`
	NFailing             *int64   `parquet:"n_failing,optional" doc:"Failing runs."`
	NDonors              *int64   `parquet:"n_donors,optional" doc:"Donors held out for the k = 5 reference; not part of the release."`
	NAssessed            *int64   `parquet:"n_assessed,optional" doc:"Runs the release scored."`
	NErrors              *int64   `parquet:"n_errors,optional" doc:"Errors the release counted."`
	MergedPTAStates      *int64   `parquet:"merged_pta_states,optional" doc:"States of the k = 5 reference, which is not shipped."`
	MergedPTATransitions *int64   `parquet:"merged_pta_transitions,optional" doc:"Transitions of the k = 5 reference."`
	ElapsedS             *float64 `parquet:"elapsed_s,optional" doc:"Seconds the authors' script took."`
}

// PublishedReference summarises a merged PTA that the release ships. It merges every passing
// run, so it is not the k = 5 reference the published scores used.
type PublishedReference struct {
	TaskID       string `parquet:"task_id,plain" sql:"pk" doc:"Task."`
	SourceFile   string `parquet:"source_file,plain" doc:"File inside the source."`
	NTraces      int64  `parquet:"n_traces" doc:"Traces merged."`
	NStates      int64  `parquet:"n_states" doc:"States of the graph."`
	NTransitions int64  `parquet:"n_transitions" doc:"Transitions of the graph."`
	NTerminals   int64  `parquet:"n_terminals" doc:"Distinct states that end a trace."`
	NMultiParent int64  `parquet:"n_multi_parent" doc:"States with more than one incoming transition: the graph is no tree."`
	HasCycle     bool   `parquet:"has_cycle" doc:"Whether the graph has a directed cycle."`
}

package convert

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/atif"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// finished is the exit status of a run that ended with the call to finish.
const finished = tools.Finish

// ToATIF returns a run as a valid document. Tools and arguments have their canonical names.
func ToATIF(t *trajectory.Trajectory, losses *Losses) *atif.Document {
	d := &atif.Document{
		SchemaVersion: atif.Version,
		SessionID:     t.ID,
		Agent:         atif.Agent{Name: t.Agent, Version: t.Version, ModelName: t.Model},
		Extra:         rootExtra(t, losses),
	}
	if d.Agent.Name == "" {
		d.Agent.Name = "unknown"
		losses.add(Changed, "trajectory.agent", "the format wants a name; written as unknown")
	}
	if d.Agent.Version == "" {
		d.Agent.Version = "unknown"
		losses.add(Changed, "trajectory.version", "the format wants a version; written as unknown")
	}
	if text := task(t); text != "" {
		d.Steps = append(d.Steps, atif.Step{Source: atif.SourceUser, Message: text})
	}
	w := atifWriter{document: d, model: t.Model, losses: losses}
	for _, s := range steps(t, losses) {
		w.add(s)
	}
	if t.ExitStatus == finished || t.Closing != "" {
		var args lenientjson.Object
		if t.Closing != "" {
			args.SetText("message", t.Closing)
		}
		w.calls++
		d.Steps = append(d.Steps, atif.Step{Source: atif.SourceAgent, ToolCalls: []atif.ToolCall{{
			ToolCallID: w.callID(), FunctionName: tools.Finish, Arguments: args.Append(nil),
		}}})
	}
	if len(d.Steps) == 0 {
		d.Steps = []atif.Step{{Source: atif.SourceSystem}}
	}
	for i := range d.Steps {
		d.Steps[i].StepID = int64(i + 1)
	}
	d.FinalMetrics = w.totals()
	losses.addIf(len(t.Warnings) > 0, Dropped, "trajectory.warnings", "they are of the reader of the source")
	return d
}

// rootExtra returns what is known of a run beside the format's own fields.
func rootExtra(t *trajectory.Trajectory, losses *Losses) jsontext.Value {
	var own lenientjson.Object
	put := func(field, text string) {
		if text != "" {
			own.SetText(field, text)
			losses.add(Extra, "trajectory."+field, "the format has no field for it")
		}
	}
	put("id", t.ID)
	put("repo", t.Repo)
	if t.Outcome != trajectory.Unknown {
		put("outcome", t.Outcome.String())
	}
	put("outcome_source", t.OutcomeSource)
	put("outcome_detail", t.OutcomeDetail)
	if t.ExitStatus != finished {
		put("exit_status", t.ExitStatus)
	}
	put("workspace", t.Workspace)
	put("format", t.Format)
	put("format_version", t.FormatVersion)
	put("source_file", t.SourceFile)
	put("source_sha256", t.SourceSHA256)
	if t.Condensations > 0 {
		own.SetInt("condensations", t.Condensations)
		losses.add(Extra, "trajectory.condensations", "the source does not keep where they were")
	}
	extra := lenientjson.Object{}
	extra.SetText("instance_id", t.TaskID)
	extra.Set("agentlens", own.Append(nil))
	return extra.Append(nil)
}

type atifWriter struct {
	document *atif.Document
	model    string
	losses   *Losses

	group string // response of the last step
	calls int
}

func (w *atifWriter) callID() string { return fmt.Sprintf("call_%d", w.calls) }

// add adds a call: to the last step when one response of the model made both, and the step has
// a place for all that is known of it; else to a new one.
func (w *atifWriter) add(s *trajectory.State) {
	w.calls++
	step := w.last(s)
	if step == nil {
		w.document.Steps = append(w.document.Steps, w.step(s))
		step = &w.document.Steps[len(w.document.Steps)-1]
	}
	w.group = s.ResponseGroup

	call := atif.ToolCall{ToolCallID: s.EntryID, FunctionName: s.Tool, Arguments: jsontext.Value(s.Log.Args.Raw)}
	for i := range step.ToolCalls {
		if step.ToolCalls[i].ToolCallID == call.ToolCallID {
			call.ToolCallID = ""
		}
	}
	if call.ToolCallID == "" {
		call.ToolCallID = w.callID()
		w.losses.add(Changed, "state.entry_id", "the source has none, or one twice; a new one was made")
	}
	var extra lenientjson.Object
	if s.RawTool != "" && s.RawTool != s.Tool {
		extra.SetText("raw_tool", s.RawTool)
		w.losses.add(Extra, "state.raw_tool", "the call has the canonical name")
	}
	if call.Arguments.Kind() != '{' {
		if len(call.Arguments) > 0 {
			extra.Set("raw_arguments", call.Arguments)
			w.losses.add(Extra, "state.args", "they are no JSON object, as the format wants it")
		}
		call.Arguments = jsontext.Value("{}")
	}
	if s.Stage != trajectory.NoStage {
		extra.SetText("stage", s.Stage.String())
		w.losses.add(Extra, "state.stage", "the format has no field for it")
	}
	if extra != nil {
		call.Extra = extra.Append(nil)
	}
	step.ToolCalls = append(step.ToolCalls, call)
	w.answer(step, s, call.ToolCallID)
}

// last returns the last step when the call belongs to it, nil otherwise.
func (w *atifWriter) last(s *trajectory.State) *atif.Step {
	if s.ResponseGroup == "" || s.ResponseGroup != w.group || len(w.document.Steps) == 0 {
		return nil
	}
	step := &w.document.Steps[len(w.document.Steps)-1]
	stamp, _ := w.timestamp(s)
	if s.Thought != "" || s.InputTokens.Valid || s.OutputTokens.Valid || s.CachedTokens.Valid || stamp != step.Timestamp || w.modelOf(s) != step.ModelName {
		w.losses.add(Changed, "state.response_group", "calls of one response with thoughts, tokens, times or models of their own stand in steps of their own")
		return nil
	}
	return step
}

func (w *atifWriter) modelOf(s *trajectory.State) string {
	if s.LogModel == w.model {
		return ""
	}
	return s.LogModel
}

// timestamp returns the time of a step as the format has it.
func (w *atifWriter) timestamp(s *trajectory.State) (stamp string, fits bool) {
	if s.Timestamp == "" || atif.IsTimestamp(s.Timestamp) {
		return s.Timestamp, true
	}
	return "", false
}

func (w *atifWriter) step(s *trajectory.State) atif.Step {
	stamp, fits := w.timestamp(s)
	step := atif.Step{Source: atif.SourceAgent, Timestamp: stamp, Message: s.Thought, ModelName: w.modelOf(s)}
	w.losses.addIf(s.LogModel == "" && w.model != "", Changed, "state.log_model", "a call without a model reads back with that of the run")
	if m := (atif.Metrics{PromptTokens: s.InputTokens.Ptr(), CompletionTokens: s.OutputTokens.Ptr(), CachedTokens: s.CachedTokens.Ptr()}); m != (atif.Metrics{}) {
		step.Metrics = &m
	}
	var extra lenientjson.Object
	if s.ResponseGroup != "" {
		extra.SetText("response_group", s.ResponseGroup)
		w.losses.add(Extra, "state.response_group", "a step is a response; the format has no field for its id")
	}
	if !fits {
		extra.SetText("timestamp", s.Timestamp)
		w.losses.add(Extra, "state.timestamp", "it is not in ISO 8601")
	}
	if extra != nil {
		step.Extra = extra.Append(nil)
	}
	return step
}

// answer adds what the call gave back, when anything is known of it.
func (w *atifWriter) answer(step *atif.Step, s *trajectory.State, id string) {
	text := response(s, w.losses)
	var extra lenientjson.Object
	if s.ExitCode.Valid {
		extra.SetInt("exit_code", s.ExitCode.Value)
		w.losses.add(Extra, "state.exit_code", "the format has no field for it")
	} else if s.IsError.Valid {
		extra.Set("is_error", truth(s.IsError.Value != 0))
		w.losses.add(Extra, "state.is_error", "the format has no field for it")
		w.losses.addIf(s.ErrorSource != "flag", Changed, "state.error_source", "it reads back as flag")
	}
	if text == "" && extra == nil {
		return
	}
	result := atif.Result{SourceCallID: id, Content: text}
	if extra != nil {
		result.Extra = extra.Append(nil)
	}
	if step.Observation == nil {
		step.Observation = &atif.Observation{}
	}
	step.Observation.Results = append(step.Observation.Results, result)
}

func truth(b bool) jsontext.Value {
	if b {
		return jsontext.Value("true")
	}
	return jsontext.Value("false")
}

// totals returns the sums over the steps.
func (w *atifWriter) totals() *atif.FinalMetrics {
	total := &atif.FinalMetrics{TotalSteps: int64(len(w.document.Steps))}
	add := func(sum **int64, n *int64) {
		if n == nil {
			return
		}
		if *sum == nil {
			*sum = new(int64)
		}
		**sum += *n
	}
	for i := range w.document.Steps {
		if m := w.document.Steps[i].Metrics; m != nil {
			add(&total.TotalPromptTokens, m.PromptTokens)
			add(&total.TotalCompletionTokens, m.CompletionTokens)
			add(&total.TotalCachedTokens, m.CachedTokens)
		}
	}
	return total
}

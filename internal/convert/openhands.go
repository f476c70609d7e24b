package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// ToOpenHands returns a run as a list of OpenHands V0 events.
func ToOpenHands(t *trajectory.Trajectory, losses *Losses) ([]byte, error) {
	w := eventWriter{losses: losses}
	class, ours := strings.CutPrefix(t.Agent, "OpenHands")
	losses.addIf(!ours && t.Agent != "", Dropped, "trajectory.agent", "the format knows one agent")
	if ours && (t.Version != "" || class != "") {
		e := w.event("agent")
		e.SetText("action", "system")
		var args lenientjson.Object
		args.SetText("content", "")
		args.SetText("openhands_version", t.Version)
		args.SetText("agent_class", strings.TrimPrefix(class, "/"))
		e.Set("args", args.Append(nil))
		w.put(e)
	} else {
		losses.addIf(t.Version != "", Dropped, "trajectory.version", "the format knows one agent")
	}
	if text := task(t); text != "" {
		e := w.event("user")
		e.SetText("action", "message")
		var args lenientjson.Object
		args.SetText("content", text)
		e.Set("args", args.Append(nil))
		w.put(e)
	}
	for _, s := range steps(t, losses) {
		w.call(s)
	}
	w.end(t)
	for _, f := range [...]struct {
		field string
		there bool
	}{
		{"id", true}, {"outcome", t.Outcome != trajectory.Unknown}, {"outcome_source", t.OutcomeSource != ""},
		{"outcome_detail", t.OutcomeDetail != ""}, {"repo", t.Repo != ""}, {"condensations", t.Condensations > 0},
		{"source_file", t.SourceFile != ""}, {"warnings", len(t.Warnings) > 0},
	} {
		losses.addIf(f.there, Dropped, "trajectory."+f.field, "the format has no place for it")
	}
	losses.addIf(true, Extra, "trajectory.task_id", "the path of the file names it")
	losses.addIf(t.Model != "", Extra, "trajectory.model", "the path of the file names it")
	out := jsontext.Value("[" + strings.Join(w.events, ",") + "]")
	if err := out.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

type eventWriter struct {
	losses *Losses
	events []string
	number int64
}

// event begins the next event.
func (w *eventWriter) event(source string) lenientjson.Object {
	var e lenientjson.Object
	e.SetInt("id", w.number)
	w.number++
	e.SetText("source", source)
	return e
}

func (w *eventWriter) put(e lenientjson.Object) { w.events = append(w.events, string(e.Append(nil))) }

// call writes an action and, when anything is known of it, its observation.
func (w *eventWriter) call(s *trajectory.State) {
	e := w.event("agent")
	id := w.number - 1
	if s.Timestamp != "" {
		e.SetText("timestamp", s.Timestamp)
	}
	action, args := w.action(s)
	e.SetText("action", action)
	meta := w.metadata(s)
	e.Set("tool_call_metadata", meta)
	e.Set("args", args.Append(nil))
	w.put(e)
	w.losses.addIf(s.EntryID != "", Changed, "state.entry_id", "events are numbered anew")
	w.losses.addIf(s.Stage != trajectory.NoStage, Dropped, "state.stage", "the format has no place for it")

	o := w.event("agent")
	o.SetInt("cause", id)
	if s.Timestamp != "" {
		o.SetText("timestamp", s.Timestamp)
	}
	if !w.observe(&o, s, action) {
		w.number--
		return
	}
	w.put(o)
}

// action returns the type and the arguments of the event that stands for a call.
func (w *eventWriter) action(s *trajectory.State) (string, lenientjson.Object) {
	given, ok := lenientjson.Parse(s.Log.Args.Raw)
	if !ok && s.Log.Args.Raw != "" {
		given = lenientjson.Object{{Name: "raw_arguments", Value: jsontext.Value(s.Log.Args.Raw)}}
		w.losses.add(Changed, "state.args", "they are no JSON object; they stand in one")
	}
	action := ""
	var names map[string]string
	switch s.Tool {
	case states.RunInTerminal:
		action = "run"
		if given.Get("command") == nil && given.Get("code") != nil {
			action = "run_ipython"
		}
	case states.ReadFile, states.ListDir:
		action, names = "read", map[string]string{"filePath": "path"}
		w.losses.addIf(s.Tool == states.ListDir && !strings.HasPrefix(s.Response, "Here's the files and directories up to "),
			Changed, "state.tool", "a listing that is not the editor's reads back as a file")
	case states.CreateFile:
		action, names = "write", map[string]string{"filePath": "path"}
		if given.Get("command") != nil {
			action, names = "edit", map[string]string{"filePath": "path", "content": "file_text"}
			given.SetText("command", "create")
		}
	case states.ReplaceString:
		action, names = "edit", map[string]string{"filePath": "path", "oldString": "old_str", "newString": "new_str"}
		if given.Get("command") == nil {
			given.SetText("command", "str_replace")
			w.losses.add(Changed, "state.observation", "the editor's command is added to the arguments")
		}
	case states.Think:
		action = "think"
		if text := given.Text("thought"); text != "" {
			w.losses.addIf(s.Thought != text, Changed, "state.thought", "an action has one thought")
			w.losses.addIf(s.Response != text, Changed, "state.response", "a thought is its own answer")
			return action, lenientjson.Object{{Name: "thought", Value: lenientjson.Quote(text)}}
		}
	default:
		w.losses.add(Changed, "state.tool", "the format has no such tool; written as a call of an MCP tool, which gives no step")
		var args lenientjson.Object
		args.SetText("name", s.Tool)
		args.Set("arguments", given.Append(nil))
		args.SetText("thought", s.Thought)
		return "call_tool_mcp", args
	}
	args := make(lenientjson.Object, 0, len(given)+1)
	for _, m := range given {
		if to := names[m.Name]; to != "" {
			m.Name = to
		}
		args = append(args, m)
	}
	if s.Tool == states.ReadFile {
		args = lineArgs(args)
	}
	if s.Thought != "" && args.Text("thought") != s.Thought {
		args.SetText("thought", s.Thought)
		w.losses.add(Changed, "state.args", "the thought becomes an argument")
	}
	return action, args
}

// lineArgs writes lines as the editor has them: a range, or one end of it.
func lineArgs(args lenientjson.Object) lenientjson.Object {
	first, last := args.Get("startLine"), args.Get("endLine")
	args = slices.DeleteFunc(args, func(m lenientjson.Member) bool { return m.Name == "startLine" || m.Name == "endLine" })
	switch {
	case first != nil && last != nil:
		args.Set("view_range", jsontext.Value(fmt.Sprintf("[%s,%s]", first, last)))
	case first != nil:
		args.Set("start", first)
	case last != nil:
		args.Set("end", last)
	}
	return args
}

// metadata returns the name of the tool and the model response behind a call.
func (w *eventWriter) metadata(s *trajectory.State) jsontext.Value {
	var meta, reply, usage lenientjson.Object
	meta.SetText("function_name", s.RawTool)
	meta.SetText("tool_call_id", s.EntryID)
	if s.ResponseGroup != "" {
		reply.SetText("id", s.ResponseGroup)
	}
	if s.LogModel != "" {
		reply.SetText("model", s.LogModel)
	}
	if s.InputTokens.Valid {
		usage.SetInt("prompt_tokens", s.InputTokens.Value)
	}
	if s.OutputTokens.Valid {
		usage.SetInt("completion_tokens", s.OutputTokens.Value)
	}
	if s.CachedTokens.Valid {
		var details lenientjson.Object
		details.SetInt("cached_tokens", s.CachedTokens.Value)
		usage.Set("prompt_tokens_details", details.Append(nil))
	}
	if usage != nil {
		reply.Set("usage", usage.Append(nil))
	}
	if reply != nil {
		meta.Set("model_response", reply.Append(nil))
	}
	return meta.Append(nil)
}

// observe completes the observation of a call; it returns false when nothing is known of it.
func (w *eventWriter) observe(o *lenientjson.Object, s *trajectory.State, action string) bool {
	text := response(s, w.losses)
	if text == "" && !s.ExitCode.Valid && !s.IsError.Valid {
		return false
	}
	kind := action
	var extras lenientjson.Object
	terminal := s.Tool == states.RunInTerminal
	failed := s.IsError.Or(0) == 1
	saysError := strings.HasPrefix(text, "ERROR:") || strings.HasPrefix(text, "ERROR_BINARY_FILE")
	switch {
	case s.Tool == states.Think, action == "call_tool_mcp":
		kind = strings.TrimPrefix(action, "call_tool_")
	case terminal && s.ExitCode.Valid:
		extras.Set("metadata", exitCode(s.ExitCode.Value))
	case terminal && failed && !saysError:
		o.Set("success", truth(false))
		w.losses.addIf(s.ErrorSource != "flag", Changed, "state.error_source", "it reads back as flag")
	case terminal:
		extras.Set("metadata", exitCode(-1))
		w.losses.addIf(s.IsError.Valid && !saysError, Changed, "state.is_error", "a command without an exit code that did not fail reads back as unknown")
	case failed && !saysError:
		kind = "error"
		w.losses.addIf(s.ErrorSource != "flag", Changed, "state.error_source", "it reads back as flag")
	default:
		w.losses.addIf(s.IsError.Valid && failed != saysError || s.ErrorSource != "text", Changed, "state.error_source", "the text decides about a call without an exit code")
	}
	o.SetText("observation", kind)
	o.SetText("content", text)
	o.Set("extras", extras.Append(nil))
	return true
}

func exitCode(n int64) jsontext.Value {
	var metadata lenientjson.Object
	metadata.SetInt("exit_code", n)
	return metadata.Append(nil)
}

// end writes how the run ended, as far as the format has words for it.
func (w *eventWriter) end(t *trajectory.Trajectory) {
	if t.ExitStatus == finished || t.Closing != "" {
		e := w.event("agent")
		e.SetText("action", "finish")
		var args lenientjson.Object
		args.SetText("final_thought", t.Closing)
		e.Set("args", args.Append(nil))
		w.put(e)
	}
	switch t.ExitStatus {
	case "", finished:
	case "finished", "error", "stopped", "paused", "rejected", "running", "init", "loading", "awaiting_user_input", "rate_limited":
		e := w.event("environment")
		e.SetText("observation", "agent_state_changed")
		e.SetText("content", "")
		var extras lenientjson.Object
		extras.SetText("agent_state", t.ExitStatus)
		e.Set("extras", extras.Append(nil))
		w.put(e)
	default:
		w.losses.add(Dropped, "trajectory.exit_status", "it is no state of the format's agent")
	}
}

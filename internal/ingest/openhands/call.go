package openhands

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// actionKind says what an action is to the step model.
type actionKind uint8

const (
	control       actionKind = iota // no work: messages, state changes
	leftOut                         // work the release leaves out
	unknownAction                   // work no tool is known for
	work
)

func kindOf(e *event) actionKind {
	switch e.Action {
	case "read", "edit", "write", "run", "run_ipython", "think":
		return work
	case "system", "message", "recall", "condensation", "condensation_request", "finish", "reject",
		"null", "start", "pause", "resume", "stop", "change_agent_state", "loop_recovery", "initialize":
		return control
	case "task_tracking", "browse", "browse_interactive":
		return leftOut
	}
	return unknownAction
}

// newCall returns the call of a turn that is a step, without what its model response says.
func newCall(t turn) states.Call {
	e := t.action
	args, kind := e.Args, string(e.Action)
	rawTool := string(e.ToolCall.V.FunctionName)
	if editor, ok := editorCall(hiddenCode(e)); ok {
		args, kind = slices.Clone(args), "edit"
		for _, m := range editor {
			args.Set(m.Name, m.Value)
		}
		rawTool = cmp.Or(rawTool, "str_replace_editor")
	}
	call := states.Call{
		EntryID:   string(e.ID),
		RawTool:   cmp.Or(rawTool, string(e.Action)),
		Thought:   args.Text("thought"),
		Timestamp: string(e.Timestamp),
	}
	if t.observation != nil {
		call.Response = string(t.observation.Content)
	}
	command := args.Text("command")
	switch kind {
	case "run", "run_ipython":
		call.Tool = states.RunInTerminal
	case "think":
		call.Tool = states.Think
		call.Response = call.Thought
	case "read":
		call.Tool = viewTool(call.Response)
	case "write":
		call.Tool = states.CreateFile
	case "edit":
		switch command {
		case "view":
			call.Tool = viewTool(call.Response)
		case "create":
			call.Tool = states.CreateFile
		default:
			call.Tool = states.ReplaceString
			call.Undo = command == "undo_edit"
		}
	}
	call.Args = canonicalArgs(call.Tool, args)
	judge(&call, t.observation)
	return call
}

// hiddenCode returns the Python that an action of the time before 2025 hides its editor
// call in, "" for none.
func hiddenCode(e *event) string {
	switch e.Action {
	case "run_ipython":
		return e.Args.Text("code")
	case "read", "edit":
		if e.Args.Get("command") == nil {
			return e.Args.Text("translated_ipython_code")
		}
	}
	return ""
}

// viewTool tells a directory from a file by what was shown.
func viewTool(response string) string {
	if strings.HasPrefix(response, "Here's the files and directories up to ") {
		return states.ListDir
	}
	return states.ReadFile
}

// judge sets the exit code and whether the call failed.
func judge(call *states.Call, observation *event) {
	if observation == nil || call.Tool == states.Think {
		return
	}
	switch observation.Observation {
	case "error", "user_rejected":
		call.IsError, call.ErrorSource = trajectory.Some(1), "flag"
		return
	}
	if call.Tool == states.RunInTerminal {
		code, known := exitCode(observation)
		if code.Valid {
			call.ExitCode = code
			call.IsError, call.ErrorSource = truth(code.Value != 0), "exit_code"
			return
		}
		if !known && observation.Success.Valid {
			call.IsError, call.ErrorSource = truth(!observation.Success.Value), "flag"
			return
		}
	}
	switch failed := strings.HasPrefix(call.Response, "ERROR:") || strings.HasPrefix(call.Response, "ERROR_BINARY_FILE"); {
	case failed:
		call.IsError, call.ErrorSource = trajectory.Some(1), "text"
	case call.Tool != states.RunInTerminal:
		call.IsError, call.ErrorSource = trajectory.Some(0), "text"
	}
}

// exitCode returns the exit code of a command. known says that the log has a place for it:
// there -1 stands for a command that has not ended, whose code is missing.
func exitCode(o *event) (code trajectory.Int, known bool) {
	for _, n := range [...]lenientjson.Int{o.Extras.V.Metadata.V.ExitCode, o.Extras.V.ExitCode, o.ExitCode} {
		if n.Valid {
			if n.Value == -1 {
				return trajectory.Int{}, true
			}
			return n.Int, true
		}
	}
	if o.Success.Valid {
		if o.Success.Value {
			return trajectory.Some(0), true
		}
		return trajectory.Int{}, false
	}
	for _, footer := range [...]string{"[The command completed with exit code ", "[Command finished with exit code "} {
		at := strings.LastIndex(string(o.Content), footer)
		if at < 0 {
			continue
		}
		digits, _, _ := strings.Cut(string(o.Content)[at+len(footer):], "]")
		digits, _, _ = strings.Cut(digits, ".")
		if n, err := strconv.ParseInt(digits, 10, 32); err == nil && n != -1 {
			return trajectory.Some(n), true
		}
	}
	return trajectory.Int{}, false
}

func truth(b bool) trajectory.Int {
	if b {
		return trajectory.Some(1)
	}
	return trajectory.Some(0)
}

// canonicalArgs renames arguments and drops what is null or without
// meaning. The rest is kept as it is, in its order.
func canonicalArgs(tool string, args lenientjson.Object) trajectory.Args {
	raw := []byte{'{'}
	add := func(name string, value []byte) {
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		raw = append(raw, '"')
		raw = append(raw, name...)
		raw = append(raw, '"', ':')
		raw = append(raw, value...)
	}
	edits := tool == states.CreateFile || tool == states.ReplaceString
	// The editor's own text arguments win over the empty content of its actions.
	hasText := args.Get("file_text") != nil
	for _, m := range args {
		if m.Value.Kind() == 'n' {
			continue
		}
		switch m.Name {
		case "path":
			if m.Value.Kind() == '"' {
				m.Value = lenientjson.Quote(states.StripWorkspace(lenientjson.Unquote(m.Value)))
			}
			add("filePath", m.Value)
		case "file_text":
			add("content", m.Value)
		case "content":
			switch {
			case edits && hasText:
			case tool == states.ReplaceString && args.Get("command") == nil:
				add("newString", m.Value) // the editor that rewrites a range
			default:
				add("content", m.Value)
			}
		case "old_str":
			add("oldString", m.Value)
		case "new_str":
			add("newString", m.Value)
		case "view_range":
			if first, last, ok := lineRange(m.Value); ok {
				add("startLine", first)
				add("endLine", last)
			}
		case "start", "end":
			switch {
			case tool != states.ReadFile:
				add(m.Name, m.Value)
			case args.Get("view_range") != nil:
			case m.Name == "start" && string(m.Value) != "0":
				add("startLine", m.Value)
			case m.Name == "end" && string(m.Value) != "-1":
				add("endLine", m.Value)
			}
		case "is_input":
			if written := bytes.ToLower(bytes.Trim(m.Value, `"`)); string(written) == "true" || string(written) == "false" {
				m.Value = written
			}
			add(m.Name, m.Value)
		case "is_confirmed":
			add("confirmation_state", m.Value)
		case "images_urls":
			add("image_urls", m.Value)
		case "keep_prompt", "task_completed", "translated_ipython_code", "formatted_output_and_error":
		default:
			name, _ := jsontext.AppendQuote(nil, m.Name)
			add(string(name[1:len(name)-1]), m.Value)
		}
	}
	var out format.Args
	// The object is made of values that were read already, so it is valid.
	_ = format.Decode(append(raw, '}'), &out)
	return out.Args
}

// lineRange returns the two ends of a view_range.
func lineRange(value jsontext.Value) (first, last jsontext.Value, ok bool) {
	var ends []jsontext.Value
	if json.Unmarshal(value, &ends) != nil || len(ends) != 2 || ends[0].Kind() != '0' || ends[1].Kind() != '0' {
		return nil, nil, false
	}
	return ends[0], ends[1], true
}

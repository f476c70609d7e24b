package sweagent

import (
	"cmp"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
)

// warnPseudo counts actions that the agent's limits wrote instead of a command.
const warnPseudo = "pseudo_action"

// state is what the shell said beside a step: an object, or its text as JSON.
type state struct {
	OpenFile lenientjson.Text `json:"open_file"`
	Dir      lenientjson.Text `json:"working_dir"`
	text     bool             // it was a text, as in version 0
}

// UnmarshalJSONFrom reads the state; a text that is no JSON says nothing.
func (s *state) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain state
	*s = state{}
	switch dec.PeekKind() {
	case '{':
		return json.UnmarshalDecode(dec, (*plain)(s))
	case '"':
		var text lenientjson.Text
		if err := text.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		s.text = true
		if lenientjson.DecodeText(string(text), (*plain)(s)) != nil {
			*s = state{text: true}
		}
		s.text = true
		return nil
	}
	return dec.SkipValue()
}

func (s *state) openFile() string {
	if s.OpenFile == "n/a" {
		return ""
	}
	return string(s.OpenFile)
}

// replay is the configuration of version 1: an object, or its text as JSON.
type replay struct {
	Agent lenientjson.Of[struct {
		Model lenientjson.Of[struct {
			Name lenientjson.Text `json:"name"`
		}] `json:"model"`
	}] `json:"agent"`
	Problem lenientjson.Of[struct {
		ID lenientjson.Text `json:"id"`
	}] `json:"problem_statement"`
}

// UnmarshalJSONFrom reads the configuration; a text that is no JSON says nothing.
func (r *replay) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain replay
	*r = replay{}
	switch dec.PeekKind() {
	case '{':
		return json.UnmarshalDecode(dec, (*plain)(r))
	case '"':
		var text lenientjson.Text
		if err := text.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		if lenientjson.DecodeText(string(text), (*plain)(r)) != nil {
			*r = replay{}
		}
		return nil
	}
	return dec.SkipValue()
}

func readSteps(r *session.Run, steps []step) {
	for i := range steps {
		s := &steps[i]
		if r.Root == "" {
			r.Root = Root(string(s.State.Dir))
		}
		Add(r, string(s.Action), session.Call{
			Answered: true,
			Response: string(s.Observation),
			Thought:  strings.TrimSpace(cmp.Or(string(s.Thought), string(s.Response))),
			Dir:      string(s.State.Dir),
		}, s.State.openFile())
	}
}

func readHistory(r *session.Run, history []historyItem) {
	for i := range history {
		h := &history[i]
		if h.Role != "assistant" || h.Demo.Is() {
			continue
		}
		if !h.Action.Valid {
			r.Warn(session.WarnFormat, "turn without an action")
			continue
		}
		call := session.Call{Thought: strings.TrimSpace(cmp.Or(string(h.Thought), h.Content.Text))}
		openFile := ""
		if i+1 < len(history) && (history[i+1].Role == "user" || history[i+1].Role == "tool") {
			call.Answered = true
			call.Response, openFile, call.Dir = Prompt(history[i+1].Content.Text)
		}
		if r.Root == "" {
			r.Root = Root(call.Dir)
		}
		Add(r, string(h.Action.Value), call, openFile)
	}
}

// Add adds the call of a command line, or counts a line that is none. openFile is the file
// the editor has open.
func Add(r *session.Run, line string, call session.Call, openFile string) {
	name := ""
	for word := range strings.FieldsSeq(line) {
		name = word
		break
	}
	switch {
	case name == "":
		r.Warn(warnPseudo, "empty action")
		return
	case name == "DISCUSSION":
		r.Warn(session.WarnFormat, name)
		return
	case strings.TrimSpace(line) == name && name != "exit_forfeit" && (strings.HasPrefix(name, "exit_") || name == "skip"):
		r.Warn(warnPseudo, name)
		return
	}
	call.Tool, call.Args = Command(line)
	Place(call.Tool, &call.Args, openFile, call.Response)
	r.Calls = append(r.Calls, call)
}

// Root returns the folder of the repository that the shell stands in: the outermost one,
// unless that is a folder of the system.
func Root(dir string) string {
	if !strings.HasPrefix(dir, "/") {
		return ""
	}
	dir = path.Clean(dir)
	outer, _, deeper := strings.Cut(dir[1:], "/")
	switch outer {
	case "", "root", "usr", "etc", "var", "opt":
		return ""
	case "home", "tmp", "Users", "workspace", "repo", "app", "mnt":
		if !deeper {
			return ""
		}
		return dir
	}
	return "/" + outer
}

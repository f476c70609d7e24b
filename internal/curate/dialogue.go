package curate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// message is one message of a dialogue.
type message struct {
	role    string // user, assistant or tool
	content string
	calls   []call // of an assistant
	callID  string // of a tool's answer
	tool    string // of a tool's answer
}

type call struct{ id, tool, arguments string }

// dialogue is a run as a model would have written it.
type dialogue struct {
	messages []message
	tools    []string // that are called, sorted
	finished bool     // the log says that the agent ended the run
	cut      bool     // some text is the beginning of a longer one
	dropped  int      // wasted steps left out
}

// A rejection is why a run gives no dialogue.
type rejection struct{ code, detail string }

func (r *rejection) Error() string { return r.code + ": " + r.detail }

// maxPreview is the length of a preview of an answer, in code points; one that long was cut.
const maxPreview = 500

// newDialogue writes a run as a dialogue. drop holds the steps to leave out.
func newDialogue(l *corpus.Labelled, drop map[int]bool) (*dialogue, error) {
	d := &dialogue{}
	prompt := l.T.Prompt
	if prompt == "" {
		prompt = l.T.TaskDescription
		d.cut = len([]rune(prompt)) >= 2000
	}
	if strings.TrimSpace(prompt) == "" {
		return nil, &rejection{"no_task_text", "the log does not say what was asked of the agent"}
	}
	d.messages = append(d.messages, message{role: "user", content: clean(prompt)})
	for i := 0; i < len(l.States); {
		group := []*trajectory.State{l.States[i]}
		first := i
		for i++; i < len(l.States) && l.States[i].ResponseGroup != "" && l.States[i].ResponseGroup == group[0].ResponseGroup; i++ {
			group = append(group, l.States[i])
		}
		if err := d.turn(group, first, drop); err != nil {
			return nil, err
		}
	}
	if len(d.messages) == 1 {
		return nil, &rejection{"empty_dialogue", "no step of the run is a tool call"}
	}
	d.finished = finished(l.T)
	if d.finished {
		arguments := `{}`
		if l.T.Closing != "" {
			quoted, err := jsontext.AppendQuote(nil, clean(l.T.Closing))
			if err != nil {
				return nil, &rejection{"bad_text", err.Error()}
			}
			arguments = `{"message":` + string(quoted) + `}`
		}
		d.messages = append(d.messages, message{role: "assistant", calls: []call{{"call_finish", tools.Finish, arguments}}})
	}
	for _, m := range d.messages {
		for _, c := range m.calls {
			d.tools = append(d.tools, c.tool)
		}
	}
	slices.Sort(d.tools)
	d.tools = slices.Compact(d.tools)
	return d, nil
}

// finished reports whether the log says that the agent ended the run.
func finished(t *trajectory.Trajectory) bool {
	switch strings.ToLower(t.ExitStatus) {
	case tools.Finish, "finished", "submit", "submitted":
		return true
	}
	return t.Closing != ""
}

// turn adds one response of the model and the answers to its calls.
func (d *dialogue) turn(group []*trajectory.State, first int, drop map[int]bool) error {
	said := message{role: "assistant"}
	var answers []message
	for i, s := range group {
		if s.Log == nil || s.Log.Kind == "request" || s.Tool == "" {
			continue
		}
		if drop[first+i] {
			d.dropped++
			continue
		}
		if said.content == "" {
			said.content = clean(strings.TrimSpace(s.Thought))
		}
		args, err := arguments(s)
		if err != nil {
			return &rejection{"bad_arguments", fmt.Sprintf("step %d: %v", first+i, err)}
		}
		id := fmt.Sprintf("call_%d", first+i)
		said.calls = append(said.calls, call{id, s.Tool, args})
		text := s.Response
		if text == "" && s.ResponsePreview != "" {
			text = s.ResponsePreview
			d.cut = d.cut || len([]rune(text)) >= maxPreview
		}
		answers = append(answers, message{role: "tool", content: clean(text), callID: id, tool: s.Tool})
	}
	if len(said.calls) == 0 {
		return nil
	}
	d.messages = append(append(d.messages, said), answers...)
	return nil
}

// arguments returns a call's arguments as a JSON object on one line. A thought that a log
// keeps beside them is no argument: it is what the model said.
func arguments(s *trajectory.State) (string, error) {
	args, ok := lenientjson.Parse(cmp.Or(s.Log.Args.Raw, "{}"))
	if !ok {
		return "", errors.New("the arguments are no JSON object")
	}
	args = slices.DeleteFunc(args, func(m lenientjson.Member) bool {
		return m.Name == "thought" && s.Tool != states.Think && (args.Text("thought") == "" || args.Text("thought") == s.Thought)
	})
	v := jsontext.Value(clean(string(args.Append(nil))))
	if err := v.Compact(); err != nil {
		return "", err
	}
	return string(v), nil
}

// clean takes out secrets and home folders, which records of the release and of a dataset
// with KeepPaths still have, and replaces bytes that are not text.
func clean(s string) string { return privacy.Options{}.ScrubString(strings.ToValidUTF8(s, "\ufffd")) }

// check says what is wrong with a dialogue, nil for nothing.
func (d *dialogue) check(finish string) error {
	bad := func(code, format string, args ...any) error { return &rejection{code, fmt.Sprintf(format, args...)} }
	if finish == "required" && !d.finished {
		return bad("no_finish", "the log does not say that the agent ended the run")
	}
	known := map[string]bool{}
	var open []call
	for i, m := range d.messages {
		switch {
		case i == 0 && m.role != "user", i > 0 && m.role == "user":
			return bad("bad_roles", "message %d is of role %s", i, m.role)
		case m.role == "assistant" && len(open) > 0:
			return bad("bad_roles", "message %d comes before the answer to %s", i, open[0].id)
		case m.role == "tool":
			if len(open) == 0 || open[0].id != m.callID || open[0].tool != m.tool {
				return bad("bad_roles", "message %d answers no open call", i)
			}
			open = open[1:]
		case m.role == "assistant" && len(m.calls) == 0:
			return bad("bad_roles", "message %d calls no tool", i)
		}
		for _, c := range m.calls {
			if c.tool != tools.Finish && !trajectory.LookupTool(c.tool).Exact {
				return bad("unknown_tool", "%s", c.tool)
			}
			if known[c.id] {
				return bad("bad_ids", "%s is called twice", c.id)
			}
			known[c.id] = true
			v := jsontext.Value(c.arguments)
			if !v.IsValid() || v.Kind() != '{' {
				return bad("bad_arguments", "%s", c.id)
			}
			open = append(open, c)
		}
	}
	last := d.messages[len(d.messages)-1]
	if d.finished {
		if last.role != "assistant" || last.calls[0].tool != tools.Finish {
			return bad("no_finish", "the dialogue does not end with the finish")
		}
		open = open[:len(open)-1] // nothing answers the end
	}
	if len(open) > 0 {
		return bad("bad_roles", "nothing answers %s", open[0].id)
	}
	return nil
}

// droppable are the wasted steps that a dialogue can do without: reads and searches, which
// change nothing that a later step could miss. wasted holds labelled steps, from 1 on.
func droppable(l *corpus.Labelled, wasted map[int64]bool) map[int]bool {
	out := map[int]bool{}
	n := int64(0)
	for i, s := range l.States {
		if s.Stage == trajectory.NoStage {
			continue
		}
		n++
		switch trajectory.LookupTool(s.Tool).Category {
		case trajectory.Read, trajectory.Search:
			if wasted[n] {
				out[i] = true
			}
		}
	}
	return out
}

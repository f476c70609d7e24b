package codex

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
)

// ID of the format, and the family of its tools.
const ID = "codex"

// Formats lists the records of Codex.
func Formats(table *tools.Table) []format.Format {
	return []format.Format{{
		ID:          ID,
		Description: "Codex CLI rollout: JSON Lines of session_meta, response_item and events, one file a run",
		Detect:      detect,
		Joined: func(first *format.Probe) bool {
			_, ok := detect(first)
			return ok
		},
		Read: func(rec format.Record) ([]format.Item, error) { return read(rec, table) },
	}}
}

func detect(p *format.Probe) (string, bool) {
	kind, _ := p.Get("type").Text()
	switch kind {
	case "session_meta", "response_item", "turn_context", "event_msg", "compacted":
		return kind + " + payload", p.Get("payload").Kind() == '{'
	case "":
		return "id + timestamp + instructions", p.Has("id", "timestamp", "instructions") && !p.Has("role") && !p.Has("messages")
	}
	return "", false
}

// line is a line with an envelope, or an item without one.
type line struct {
	Timestamp lenientjson.Ident    `json:"timestamp"`
	Type      lenientjson.Text     `json:"type"`
	Payload   lenientjson.Of[item] `json:"payload"`
	item
}

// item is what a line says: of its members each kind of item has some.
type item struct {
	Type    lenientjson.Text    `json:"type"`
	ID      lenientjson.Ident   `json:"id"`
	CallID  lenientjson.Ident   `json:"call_id"`
	Role    lenientjson.Text    `json:"role"`
	Content lenientjson.Content `json:"content"`
	Summary lenientjson.Content `json:"summary"`

	Name      lenientjson.Text   `json:"name"`
	Arguments lenientjson.Text   `json:"arguments"`
	Input     lenientjson.Text   `json:"input"`
	Action    lenientjson.Object `json:"action"`
	Output    jsontext.Value     `json:"output"`

	Dir     lenientjson.Text `json:"cwd"`
	Version lenientjson.Text `json:"cli_version"`
	Model   lenientjson.Text `json:"model"`

	Reason lenientjson.Text `json:"reason"`
	Turns  lenientjson.Int  `json:"num_turns"`
	Info   lenientjson.Of[struct {
		Total lenientjson.Of[usage] `json:"total_token_usage"`
		Last  lenientjson.Of[usage] `json:"last_token_usage"`
	}] `json:"info"`
}

type usage struct {
	Input  lenientjson.Int `json:"input_tokens"`
	Cached lenientjson.Int `json:"cached_input_tokens"`
	Output lenientjson.Int `json:"output_tokens"`
}

// reader turns lines into a run.
type reader struct {
	run       *session.Run
	model     string // that answers now
	dir       string // the client stands in now
	said      string // text and reasoning since the last call
	reasoning string
	items     int
	turns     []int           // calls before each prompt of the user
	left      map[string]bool // calls of turns that were rolled back

	before  bool   // token counts come before the items they count
	total   *usage // of the last count
	pending *usage // count that no call has taken
	counted int    // calls that have their count
}

func read(rec format.Record, table *tools.Table) ([]format.Item, error) {
	name := session.NameFile(rec.File)
	s := reader{run: &session.Run{Tools: table, Family: ID, Agent: "Codex CLI"}}
	if err := session.Lines(s.run, rec.Data, s.line); err != nil {
		return nil, err
	}
	if s.items == 0 {
		return nil, &format.RecordError{
			Code:    "no_items",
			Message: "the session has no item of the user or the model",
			Hint:    "take the file out of the source",
		}
	}
	if session.IsInstance(name.Task) {
		s.run.Task = name.Task
	}
	t := s.run.Trajectory(ID, "rollout")
	return append([]format.Item{{Trajectory: t}}, name.Evidence(t.ID)...), nil
}

func (s *reader) line(l *line) {
	switch l.Type {
	case "session_meta":
		s.meta(&l.Payload.V)
	case "turn_context":
		s.context(&l.Payload.V)
	case "event_msg":
		s.event(&l.Payload.V)
	case "response_item":
		s.item(&l.Payload.V, string(l.Timestamp))
	case "compacted":
		s.run.Condensations++
	case "":
		s.meta(&l.item)
	default:
		l.item.Type = l.Type
		s.item(&l.item, string(l.Timestamp))
	}
}

func (s *reader) meta(i *item) {
	s.run.ID = cmp.Or(s.run.ID, string(i.ID))
	s.run.Version = cmp.Or(s.run.Version, string(i.Version))
	s.context(i)
}

func (s *reader) context(i *item) {
	s.dir = cmp.Or(string(i.Dir), s.dir)
	s.run.Root = cmp.Or(s.run.Root, string(i.Dir))
	s.model = cmp.Or(string(i.Model), s.model)
	s.run.Model = cmp.Or(s.run.Model, string(i.Model))
}

func (s *reader) event(i *item) {
	switch i.Type {
	case "token_count":
		s.count(&i.Info.V.Total.V, &i.Info.V.Last.V)
	case "thread_rolled_back":
		s.rollBack(int(i.Turns.Or(1)))
	case "turn_aborted":
		s.run.ExitStatus = cmp.Or(string(i.Reason), "turn_aborted")
	}
}

// rolledBack is why calls and answers of turns that the user took back are no steps.
const rolledBack = "rolled back"

// rollBack takes back the last turns of the user.
func (s *reader) rollBack(turns int) {
	if turns = min(turns, len(s.turns)); turns <= 0 {
		return
	}
	at := len(s.turns) - turns
	from := min(s.turns[at], len(s.run.Calls))
	answered := 0
	for i := range s.run.Calls[from:] {
		call := &s.run.Calls[from+i]
		if call.Answered {
			answered++
		} else if call.ID != "" {
			if s.left == nil {
				s.left = map[string]bool{}
			}
			s.left[call.ID] = true
		}
	}
	s.run.SkipAnswers(rolledBack, answered)
	s.run.Drop(from, rolledBack)
	s.turns = s.turns[:at]
	s.counted = min(s.counted, from)
	s.said, s.reasoning, s.pending = "", "", nil
	if at == 0 {
		s.run.Description = ""
	}
}

// count takes a token count, unless it repeats the one before.
func (s *reader) count(total, last *usage) {
	if !last.Input.Valid || s.total != nil && total.Input.Valid && *total == *s.total {
		return
	}
	if s.total == nil {
		s.before = len(s.run.Calls) == 0
	}
	s.total = total
	switch {
	case s.before:
		s.pending = last
	case s.counted < len(s.run.Calls):
		spend(&s.run.Calls[s.counted], last)
		s.counted = len(s.run.Calls)
	}
}

func spend(call *session.Call, u *usage) {
	call.InputTokens, call.CachedTokens, call.OutputTokens = u.Input.Int, u.Cached.Int, u.Output.Int
}

func (s *reader) item(i *item, timestamp string) {
	s.items++
	call := session.Call{ID: string(i.CallID), Tool: string(i.Name), Timestamp: timestamp, Model: s.model, Dir: s.dir}
	switch i.Type {
	case "message":
		s.message(i)
	case "reasoning":
		s.reasoning = i.Summary.Text
	case "function_call":
		var ok bool
		if call.Args, ok = lenientjson.Parse(string(i.Arguments)); !ok {
			call.RawArgs = string(i.Arguments)
		}
		s.call(call)
	case "custom_tool_call":
		if calls := codeCalls(string(i.Input)); call.Tool == "exec" && len(calls) > 0 {
			s.script(call, calls)
			return
		}
		call.Args.SetText("input", string(i.Input))
		s.call(call)
	case "local_shell_call":
		call.Tool, call.Args = "local_shell", i.Action
		call.ID = cmp.Or(call.ID, string(i.ID))
		s.call(call)
	case "web_search_call":
		call.Tool, call.Answered = "web_search", true
		s.call(call)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		if id := string(i.CallID); s.left[id] {
			delete(s.left, id)
			s.run.SkipAnswers(rolledBack, 1)
			return
		}
		if call := s.run.Answer(string(i.CallID), lenientjson.Unquote(i.Output)); call != nil {
			answer(call, i.Output)
		}
	}
}

func (s *reader) message(i *item) {
	switch i.Role {
	case "assistant":
		s.said = i.Content.Text
	case "user":
		s.run.Turn()
		s.run.ExitStatus = ""
		if !isPrompt(i.Content.Text) {
			return
		}
		s.turns = append(s.turns, len(s.run.Calls))
		if s.run.Description == "" {
			s.run.Description = strings.TrimSpace(i.Content.Text)
		}
	}
}

// isPrompt tells what a user wrote from what the client wrote in the user's name.
func isPrompt(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range [...]string{"<environment_context>", "<user_instructions>", "<turn_aborted>", "<permissions", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<user_shell_command>"} {
		if strings.HasPrefix(text, mark) {
			return false
		}
	}
	return text != ""
}

func (s *reader) call(call session.Call) {
	folder := call.Args.Text("workdir")
	// Patches are also applied by a word of the shell.
	if patch, dir, ok := patchOf(words(call.Args)); ok {
		call.Tool, call.Args = "apply_patch", nil
		call.Args.SetText("input", patch)
		if folder = cmp.Or(folder, call.Dir); path.IsAbs(dir) {
			folder = dir
		} else if dir != "" {
			folder = path.Join(folder, dir)
		}
	}
	if folder != "" {
		call.Dir = folder
	}
	call.Thought = strings.TrimSpace(cmp.Or(s.said, s.reasoning))
	s.said, s.reasoning = "", ""
	if s.pending != nil {
		spend(&call, s.pending)
		s.pending = nil
	}
	s.run.Calls = append(s.run.Calls, call)
}

// script adds the calls that a script makes. It has one answer, which the last one gets.
func (s *reader) script(whole session.Call, calls []session.Call) {
	for i := range calls {
		call := whole
		call.Tool, call.Args, call.RawArgs = calls[i].Tool, calls[i].Args, calls[i].RawArgs
		if i < len(calls)-1 {
			call.ID = ""
		}
		call.Group = whole.ID
		s.call(call)
	}
}

var (
	exitLine   = regexp.MustCompile(`(?m)^(?:Exit code: |Process exited with code )(-?\d+)$`)
	outputLine = regexp.MustCompile(`(?m)^Output:\n`)
)

// answer reads an output: JSON with metadata, in a text or not; or a text that says the
// exit code before the output.
func answer(call *session.Call, output jsontext.Value) {
	text := lenientjson.Unquote(output)
	var o struct {
		Output   lenientjson.OptText `json:"output"`
		Content  lenientjson.Content `json:"content"`
		Success  lenientjson.Flag    `json:"success"`
		Metadata lenientjson.Of[struct {
			ExitCode lenientjson.Int `json:"exit_code"`
		}] `json:"metadata"`
	}
	inside := text
	if output.Kind() == '{' {
		inside = string(output)
	}
	if output.Kind() == '[' {
		var parts lenientjson.Content
		_ = lenientjson.Decode(output, &parts) // the line was read already, so it is JSON
		call.Response = scriptOutput(parts.Text)
		return
	}
	if strings.HasPrefix(inside, "{") && lenientjson.DecodeText(inside, &o) == nil &&
		isEnvelope(inside) {
		call.Response = cmp.Or(string(o.Output.Value), o.Content.Text)
		call.ExitCode, call.Failed = o.Metadata.V.ExitCode.Int, o.Success.Int()
		if call.Failed.Valid {
			call.Failed.Value = 1 - call.Failed.Value
		}
		return
	}
	call.Response = text
	head := text
	if at := outputLine.FindStringIndex(text); at != nil {
		head, call.Response = text[:at[0]], text[at[1]:]
	}
	if len(head) < len(text) || len(text) < 200 {
		if m := exitLine.FindStringSubmatch(head); m != nil {
			call.ExitCode = session.Number(m[1])
		}
	}
}

// isEnvelope tells the client's envelope of an answer from JSON that a tool printed: it has
// an output with metadata, or a content with its success, and nothing else.
func isEnvelope(text string) bool {
	members, _ := lenientjson.Parse(text)
	for _, m := range members {
		switch m.Name {
		case "output", "metadata", "content", "content_items", "success":
		default:
			return false
		}
	}
	return len(members) > 0 && (members.Get("output") != nil || members.Get("content") != nil)
}

// scriptHead is what the client says about a script before its output.
var scriptHead = regexp.MustCompile(`^Script (?:completed|failed|running)[^\n]*\n(?:[^\n]*\n)*?Output:\n\n?`)

func scriptOutput(text string) string {
	if at := scriptHead.FindStringIndex(text); at != nil {
		return text[at[1]:]
	}
	return text
}

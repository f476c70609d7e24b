package claudecode

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
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// ID of the format, and the family of its tools.
const ID = "claude-code"

// Formats lists the records of Claude Code.
func Formats(table *tools.Table) []format.Format {
	return []format.Format{{
		ID:          ID,
		Description: "Claude Code session: JSON Lines with sessionId and uuid, one file a run",
		Detect:      detect,
		Joined: func(first *format.Probe) bool {
			_, ok := detect(first)
			return ok
		},
		Read: func(rec format.Record) ([]format.Item, error) { return read(rec, table) },
	}}
}

func detect(p *format.Probe) (string, bool) {
	kind, ok := p.Get("type").Text()
	if !ok || p.Root.Kind() != '{' || p.Has("messages") {
		return "", false
	}
	switch {
	case p.Has("sessionId"):
		return "type + sessionId", true
	case p.Has("session_id", "uuid"), p.Has("session_id", "parent_tool_use_id"), p.Has("session_id", "subtype"):
		return "type + session_id", true
	case kind == "summary":
		return "summary + leafUuid", p.Has("leafUuid")
	case kind == "file-history-snapshot":
		return "file-history-snapshot + messageId", p.Has("messageId")
	}
	return "", false
}

type line struct {
	Type      lenientjson.Text        `json:"type"`
	Subtype   lenientjson.Text        `json:"subtype"`
	Sidechain lenientjson.Flag        `json:"isSidechain"`
	Meta      lenientjson.Flag        `json:"isMeta"`
	Compact   lenientjson.Flag        `json:"isCompactSummary"`
	AgentID   lenientjson.Text        `json:"agentId"`
	SessionID lenientjson.Text        `json:"sessionId"`
	Version   lenientjson.Text        `json:"version"`
	Dir       lenientjson.Text        `json:"cwd"`
	Timestamp lenientjson.Text        `json:"timestamp"`
	RequestID lenientjson.Text        `json:"requestId"`
	UUID      lenientjson.Text        `json:"uuid"`
	Parent    parent                  `json:"parentUuid"`
	Logical   lenientjson.Text        `json:"logicalParentUuid"`
	APIError  lenientjson.Flag        `json:"isApiErrorMessage"`
	Message   lenientjson.Of[message] `json:"message"`

	// What a client prints with --output-format stream-json.
	Session lenientjson.Text `json:"session_id"`
	Within  lenientjson.Text `json:"parent_tool_use_id"` // call that the line's agent works for
	Model   lenientjson.Text `json:"model"`
	Client  lenientjson.Text `json:"claude_code_version"`
	IsError lenientjson.Flag `json:"is_error"`
}

// parent is the id of the line before, null for the first of a conversation.
type parent struct {
	Value lenientjson.Text
	there bool
}

func (p *parent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	p.there = true
	return p.Value.UnmarshalJSONFrom(dec)
}

func (p *parent) absent() bool { return !p.there }

// side are the records that hold nothing of the conversation.
var side = map[string]bool{
	"system": true, "summary": true, "file-history-snapshot": true, "queue-operation": true, "attachment": true,
	"progress": true, "permission-mode": true, "mode": true, "last-prompt": true, "ai-title": true, "custom-title": true,
	"agent-name": true, "agent-color": true, "agent-setting": true, "pr-link": true, "tag": true, "worktree-state": true,
	"task-summary": true, "content-replacement": true, "attribution-snapshot": true, "bridge-session": true,
	"result": true, "stream_event": true, "rate_limit_event": true, "tool_progress": true, "control_request": true,
	"control_response": true,
}

type message struct {
	ID         lenientjson.Text `json:"id"`
	Model      lenientjson.Text `json:"model"`
	StopReason lenientjson.Text `json:"stop_reason"`
	Content    content          `json:"content"`
	Usage      lenientjson.Of[struct {
		Input   lenientjson.Int `json:"input_tokens"`
		Created lenientjson.Int `json:"cache_creation_input_tokens"`
		Read    lenientjson.Int `json:"cache_read_input_tokens"`
		Output  lenientjson.Int `json:"output_tokens"`
	}] `json:"usage"`
}

// content is what a message holds: a text, or blocks.
type content []block

func (c *content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = nil
	if dec.PeekKind() == '"' {
		var text lenientjson.Text
		err := text.UnmarshalJSONFrom(dec)
		*c = content{{Type: "text", Text: text}}
		return err
	}
	var list lenientjson.List[block]
	err := list.UnmarshalJSONFrom(dec)
	*c = content(list)
	return err
}

type block struct {
	Type      lenientjson.Text    `json:"type"`
	Text      lenientjson.Text    `json:"text"`
	Thinking  lenientjson.Text    `json:"thinking"`
	ID        lenientjson.Ident   `json:"id"`
	Name      lenientjson.Text    `json:"name"`
	Input     jsontext.Value      `json:"input"`
	ToolUseID lenientjson.Ident   `json:"tool_use_id"`
	Content   lenientjson.Content `json:"content"`
	IsError   lenientjson.Flag    `json:"is_error"`
}

// reader turns lines into a run.
type reader struct {
	run       *session.Run
	sub       *session.Run // calls of subagents
	agentID   string
	messages  int // lines that hold a message of the run itself
	summaries int // lines that stand for forgotten ones
	voices    map[string]*voice
	known     map[string]bool
	left      map[string]bool // calls of branches that the user gave up
	first     map[string]int  // first call of a message
	sessions  map[string]bool // ids that messages carry
	last      string          // of them
	streamed  bool            // printed by the client, not kept by it
}

// voice is what one agent says: subagents speak between the lines of the run.
type voice struct {
	response string // id of the last message
	text     string // what it said so far
	thinking string // what it thought so far
}

func read(rec format.Record, table *tools.Table) ([]format.Item, error) {
	name := session.NameFile(rec.File)
	newRun := func() *session.Run {
		return &session.Run{Tools: table, Family: ID, Agent: "Claude Code"}
	}
	s := reader{
		run: newRun(), sub: newRun(), first: map[string]int{}, known: map[string]bool{},
		left: map[string]bool{}, voices: map[string]*voice{}, sessions: map[string]bool{},
	}
	var lines []*line
	if err := session.Lines(s.run, rec.Data, func(l *line) { lines = append(lines, l) }); err != nil {
		return nil, err
	}
	left := givenUp(lines)
	for i, l := range lines {
		if left[i] {
			s.leave(l)
			continue
		}
		s.take(l)
	}
	// A resumed session begins with the lines of the one before, under its id.
	if stem := session.Stem(path.Base(rec.File)); s.sessions[stem] {
		s.run.ID = stem
	} else {
		s.run.ID = cmp.Or(s.last, s.run.ID)
	}
	version := "session"
	if s.streamed {
		version = "stream-json"
	}
	switch {
	case s.messages == 0 && len(s.sub.Calls) > 0:
		version = "subagent"
		s.sub.Agent += "/subagent"
		s.sub.ID = strings.Trim(s.run.ID+"-agent-"+s.agentID, "-")
		s.sub.Condensations = s.run.Condensations
		s.run = s.sub
	case s.messages == 0:
		return nil, &format.RecordError{
			Code:    "no_messages",
			Message: "the session has no message of the user or the model",
			Hint:    "take the file out of the source",
		}
	default:
		for i := range s.sub.Calls {
			s.run.Skip("of a subagent", 1)
			s.run.Warn(session.WarnDelegated, s.sub.Calls[i].Tool)
		}
	}
	if session.IsInstance(name.Task) {
		s.run.Task = name.Task
	}
	s.run.Condensations = max(s.run.Condensations, int64(s.summaries))
	t := s.run.Trajectory(ID, version)
	return append([]format.Item{{Trajectory: t}}, name.Evidence(t.ID)...), nil
}

func (s *reader) take(l *line) {
	r := s.run
	if l.Session != "" && l.SessionID == "" {
		s.streamed = true
		l.SessionID = l.Session
	}
	if l.Within != "" {
		l.Sidechain = lenientjson.Flag{Value: true, Valid: true}
		l.AgentID = cmp.Or(l.AgentID, l.Within)
	}
	r.ID = cmp.Or(r.ID, string(l.SessionID))
	if id := string(l.SessionID); id != "" && l.isMessage() {
		s.sessions[id], s.last = true, id
	}
	if l.Sidechain.Is() {
		r = s.sub
		s.agentID = cmp.Or(s.agentID, string(l.AgentID))
	}
	r.Version = cmp.Or(r.Version, string(l.Version), string(l.Client))
	r.Root = cmp.Or(r.Root, string(l.Dir))
	switch l.Type {
	case "system":
		if l.Subtype == "compact_boundary" {
			s.run.Condensations++
		}
		if l.Subtype == "init" {
			r.Model = cmp.Or(r.Model, string(l.Model))
		}
	case "result":
		s.end(l)
	case "user":
		s.count(l)
		s.user(r, l)
	case "assistant":
		s.count(l)
		s.assistant(r, l)
	default:
		if !side[string(l.Type)] {
			s.run.Warn(warnUnknown, cmp.Or(string(l.Type), "record without a type"))
		}
	}
}

// warnUnknown counts records of a type that this reader does not know.
const warnUnknown = "unknown_record"

// end takes the line that ends a printed session.
func (s *reader) end(l *line) {
	switch {
	case l.Subtype != "" && l.Subtype != "success":
		s.run.ExitStatus = string(l.Subtype)
	case l.IsError.Is():
		s.run.ExitStatus = "error"
	case l.Subtype != "":
		s.run.ExitStatus = cmp.Or(s.run.ExitStatus, string(l.Subtype))
	}
}

// leave notes a line of a branch that the user gave up.
func (s *reader) leave(l *line) {
	for i := range l.Message.V.Content {
		b := &l.Message.V.Content[i]
		if b.Type != "tool_use" || s.known[string(b.ID)] {
			continue
		}
		s.run.Skip(rewound, 1)
		if b.ID != "" {
			s.left[string(b.ID)] = true
		}
	}
}

// rewound is why calls and answers of a branch that the user gave up are no steps.
const rewound = "given up by a rewind"

func (s *reader) count(l *line) {
	if !l.Sidechain.Is() {
		s.messages++
	}
	if l.Compact.Is() {
		s.summaries++
	}
}

func (s *reader) user(r *session.Run, l *line) {
	for i := range l.Message.V.Content {
		switch b := &l.Message.V.Content[i]; b.Type {
		case "text":
			if r.Description == "" && !l.Meta.Is() && !l.Compact.Is() && isPrompt(string(b.Text)) {
				r.Description = strings.TrimSpace(string(b.Text))
			}
		case "tool_result":
			if s.left[string(b.ToolUseID)] {
				s.run.SkipAnswers(rewound, 1)
				continue
			}
			call := r.Answer(string(b.ToolUseID), b.Content.Text)
			if call == nil {
				continue
			}
			call.Failed = trajectory.Some(b.IsError.Int().Or(0))
			if call.Failed.Value == 1 {
				call.ExitCode = exitCode(call.Response)
			}
		}
	}
}

// isPrompt tells what a user wrote from what the client wrote in the user's name.
func isPrompt(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range [...]string{"<command-", "<local-command-", "<system-reminder>", "<user-memory-input>", "<bash-", "Caveat: The messages below", "[Request interrupted by user"} {
		if strings.HasPrefix(text, mark) {
			return false
		}
	}
	return text != ""
}

var exitLine = regexp.MustCompile(`^(?:Error: )?Exit code (\d+)\b`)

// exitCode returns the code that the answer of a failed command begins with.
func exitCode(text string) trajectory.Int {
	if m := exitLine.FindStringSubmatch(text); m != nil {
		return session.Number(m[1])
	}
	return trajectory.Int{}
}

func (s *reader) assistant(r *session.Run, l *line) {
	m := &l.Message.V
	r.Model = cmp.Or(r.Model, strings.TrimPrefix(string(m.Model), "<synthetic>"))
	response := l.response()
	v := s.voice(l)
	if response == "" || response != v.response {
		*v = voice{response: response}
	}
	switch {
	case l.Sidechain.Is():
	case l.APIError.Is():
		r.ExitStatus = cmp.Or(apiError(m), "API error")
	case m.StopReason != "":
		r.ExitStatus = string(m.StopReason)
	}
	for i := range m.Content {
		switch b := &m.Content[i]; b.Type {
		case "text":
			v.text = join(v.text, string(b.Text))
		case "thinking":
			v.thinking = join(v.thinking, string(b.Thinking))
		case "tool_use":
			s.call(r, l, b, v)
		}
	}
	// The usage stands on every line of a message; the last one has seen all of it.
	if at, ok := s.first[response]; ok && response != "" && at < len(r.Calls) && r.Calls[at].Group == response {
		usage := &m.Usage.V
		call := &r.Calls[at]
		if usage.Input.Valid {
			call.InputTokens = trajectory.Some(usage.Input.Value + usage.Created.Or(0) + usage.Read.Or(0))
		}
		call.CachedTokens, call.OutputTokens = usage.Read.Int, usage.Output.Int
	}
}

// voice returns what the agent of a line says.
func (s *reader) voice(l *line) *voice {
	agent := ""
	if l.Sidechain.Is() {
		agent = "/" + string(l.AgentID)
	}
	v := s.voices[agent]
	if v == nil {
		v = &voice{}
		s.voices[agent] = v
	}
	return v
}

// apiError returns the text that the client puts in the place of an answer which failed.
func apiError(m *message) string {
	for i := range m.Content {
		if text := strings.TrimSpace(string(m.Content[i].Text)); text != "" {
			return text
		}
	}
	return ""
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func (s *reader) call(r *session.Run, l *line, b *block, v *voice) {
	response := v.response
	if id := string(b.ID); id != "" {
		if s.known[id] {
			return // a copy, as resumed sessions hold of what came before
		}
		s.known[id] = true
	}
	call := session.Call{
		ID: string(b.ID), Tool: string(b.Name), Dir: string(l.Dir),
		Model: string(l.Message.V.Model), Timestamp: string(l.Timestamp), Group: response,
	}
	if lenientjson.Decode(b.Input, &call.Args) != nil || call.Args == nil {
		call.Args, call.RawArgs = nil, string(b.Input)
	}
	if _, later := s.first[response]; !later || response == "" {
		s.first[response] = len(r.Calls)
		call.Thought = cmp.Or(v.text, v.thinking)
	}
	r.Calls = append(r.Calls, call)
}

package gemini

import (
	"cmp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// ID of the format, and the family of its tools.
const ID = "gemini-cli"

const family = "gemini"

// Formats lists the records of the Gemini CLI.
func Formats(table *tools.Table) []format.Format {
	return []format.Format{{
		ID:          ID,
		Description: "Gemini CLI session: an object with sessionId and messages",
		Detect: func(p *format.Probe) (string, bool) {
			return "sessionId + messages[0].type", p.Has("sessionId", "messages") && p.Get("messages").First().Has("type")
		},
		Read: func(rec format.Record) ([]format.Item, error) { return read(rec, table) },
	}}
}

type message struct {
	ID        lenientjson.Text       `json:"id"`
	Timestamp lenientjson.Text       `json:"timestamp"`
	Type      lenientjson.Text       `json:"type"`
	Content   lenientjson.Content    `json:"content"`
	Model     lenientjson.Text       `json:"model"`
	Calls     lenientjson.List[call] `json:"toolCalls"`
	Thoughts  lenientjson.List[struct {
		Subject     lenientjson.Text `json:"subject"`
		Description lenientjson.Text `json:"description"`
	}] `json:"thoughts"`
	Tokens lenientjson.Of[struct {
		Input    lenientjson.Int `json:"input"`
		Output   lenientjson.Int `json:"output"`
		Cached   lenientjson.Int `json:"cached"`
		Thoughts lenientjson.Int `json:"thoughts"`
	}] `json:"tokens"`
}

type call struct {
	ID        lenientjson.Text   `json:"id"`
	Name      lenientjson.Text   `json:"name"`
	Args      lenientjson.Object `json:"args"`
	Status    lenientjson.Text   `json:"status"`
	Timestamp lenientjson.Text   `json:"timestamp"`
	Display   lenientjson.Text   `json:"resultDisplay"`
	Result    lenientjson.List[struct {
		Function lenientjson.Of[struct {
			Response lenientjson.Of[struct {
				Output lenientjson.Text `json:"output"`
				Error  lenientjson.Text `json:"error"`
			}] `json:"response"`
		}] `json:"functionResponse"`
	}] `json:"result"`
}

func read(rec format.Record, table *tools.Table) ([]format.Item, error) {
	var log struct {
		SessionID lenientjson.Text          `json:"sessionId"`
		Messages  lenientjson.List[message] `json:"messages"`
	}
	if err := format.Decode(rec.Data, &log); err != nil {
		return nil, err
	}
	if len(log.Messages) == 0 {
		return nil, &format.RecordError{
			Code:    "no_messages",
			Message: "the session has no messages",
			Hint:    "take the file out of the source, or choose another reader with option format",
		}
	}
	name := session.NameFile(rec.File)
	r := &session.Run{Tools: table, Family: family, Agent: "Gemini CLI", ID: string(log.SessionID)}
	if session.IsInstance(name.Task) {
		r.Task = name.Task
	}
	for i := range log.Messages {
		take(r, &log.Messages[i])
	}
	t := r.Trajectory(ID, "session")
	return append([]format.Item{{Trajectory: t}}, name.Evidence(t.ID)...), nil
}

func take(r *session.Run, m *message) {
	switch m.Type {
	case "user":
		if r.Description == "" && !strings.HasPrefix(m.Content.Text, "/") {
			r.Description = strings.TrimSpace(m.Content.Text)
		}
		return
	case "gemini":
	default:
		return
	}
	r.Model = cmp.Or(r.Model, string(m.Model))
	for i := range m.Calls {
		c := &m.Calls[i]
		call := session.Call{
			ID: string(c.ID), Tool: string(c.Name), Args: c.Args, Group: string(m.ID), Model: string(m.Model),
			Timestamp: cmp.Or(string(c.Timestamp), string(m.Timestamp)),
		}
		if i == 0 {
			call.Thought = thought(m)
			tokens := &m.Tokens.V
			call.InputTokens, call.CachedTokens, call.OutputTokens = tokens.Input.Int, tokens.Cached.Int, tokens.Output.Int
			if call.OutputTokens.Valid {
				call.OutputTokens.Value += tokens.Thoughts.Or(0)
			}
		}
		result(&call, c)
		r.Calls = append(r.Calls, call)
	}
}

// result gives a call its answer.
func result(to *session.Call, c *call) {
	to.Answered = len(c.Result) > 0 || c.Display != ""
	var texts []string
	for i := range c.Result {
		response := &c.Result[i].Function.V.Response.V
		if text := cmp.Or(string(response.Error), string(response.Output)); text != "" {
			texts = append(texts, text)
		}
	}
	to.Response = cmp.Or(strings.Join(texts, "\n"), string(c.Display))
	switch c.Status {
	case "success":
		to.Failed = trajectory.Some(0)
	case "error", "cancelled":
		to.Failed = trajectory.Some(1)
	}
	if code, ok := strings.CutPrefix(lineWith(to.Response, "Exit Code: "), "Exit Code: "); ok && c.Name == "run_shell_command" {
		to.ExitCode = session.Number(code)
	}
}

// lineWith returns the first line that begins with a mark, "" for none.
func lineWith(text, mark string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, mark) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// thought returns what the model says before its calls, else the subjects it thought about.
func thought(m *message) string {
	if text := strings.TrimSpace(m.Content.Text); text != "" {
		return text
	}
	var lines []string
	for i := range m.Thoughts {
		lines = append(lines, strings.TrimSpace(string(m.Thoughts[i].Subject)+": "+string(m.Thoughts[i].Description)))
	}
	return strings.Join(lines, "\n")
}

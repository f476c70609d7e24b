package minisweagent

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// dialogue turns messages into calls.
type dialogue struct {
	run        *session.Run
	started    bool // the model has spoken
	open       int  // first call of the last turn that may want an answer
	refused    bool // the last turn had no call that could be run
	model      string
	submission lenientjson.OptText
	action     *regexp.Regexp // where the log says its commands stand, nil for between fences
}

// mark takes the expression by which the log's agent found its commands; the command is its
// first group. One that can't be read here leaves the fences.
func (d *dialogue) mark(expression string) {
	if expression == "" || strings.Contains(expression, "```") {
		return
	}
	action, err := regexp.Compile("(?s)" + expression)
	if err != nil || action.NumSubexp() == 0 {
		d.run.Warn(session.WarnFormat, "action_regex of the log is not understood: "+expression)
		return
	}
	d.action = action
}

// commands returns the commands that a text of the model holds.
func (d *dialogue) commands(text string) []string {
	if d.action == nil {
		return Fenced(text)
	}
	var found []string
	for _, groups := range d.action.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.TrimSpace(groups[1]))
	}
	return found
}

func (d *dialogue) take(m *message, last bool) {
	switch m.Role {
	case "system":
	case "assistant":
		d.started = true
		d.turn(m)
	case "exit":
		d.end(m)
	default:
		switch {
		case m.Extra.V.Interrupt != "" || d.refused:
			d.refuse(string(m.Extra.V.Interrupt))
		case !d.started && m.Role == "user":
			if d.run.Description == "" {
				d.run.Description = task(m.Content.Text)
			}
		default:
			d.answer(m, last)
		}
	}
}

// task returns the problem between the instructions around it.
func task(text string) string {
	text = session.Between(text, "<pr_description>", "</pr_description>")
	text = strings.TrimPrefix(text, "Consider the following PR description:")
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "Please solve this issue:"))
}

// turn adds the calls of a message of the model.
func (d *dialogue) turn(m *message) {
	d.run.Turn()
	d.open = len(d.run.Calls)
	x := &m.Extra.V
	response := &x.Response.V
	call := session.Call{
		Tool: "bash", Timestamp: string(x.Timestamp), Group: string(response.ID), Model: string(response.Model),
		InputTokens:  response.Usage.V.Prompt.Int,
		OutputTokens: response.Usage.V.Completion.Int,
		CachedTokens: response.Usage.V.Details.V.Cached.Int,
		Thought:      Thought(m.Content.Text),
	}
	d.model = cmp.Or(d.model, call.Model)
	add := func() {
		d.run.Calls = append(d.run.Calls, call)
		call = session.Call{Tool: "bash", Timestamp: call.Timestamp, Group: call.Group, Model: call.Model}
	}
	for _, action := range x.Actions {
		if action.Command.Valid {
			call.ID = string(action.ID)
			call.Args = command(string(action.Command.Value))
			add()
		}
	}
	if len(d.run.Calls) == d.open {
		for _, use := range m.ToolCalls {
			call.ID = string(use.ID)
			call.Tool = string(use.Function.V.Name)
			var ok bool
			if call.Args, ok = lenientjson.Parse(string(use.Function.V.Arguments)); !ok {
				call.RawArgs = string(use.Function.V.Arguments)
			}
			add()
		}
	}
	if len(d.run.Calls) == d.open {
		if blocks := d.commands(m.Content.Text); len(blocks) == 1 {
			call.Args = command(blocks[0])
			add()
		}
	}
	d.refused = len(d.run.Calls) == d.open
}

func command(text string) lenientjson.Object {
	return lenientjson.Object{{Name: "command", Value: lenientjson.Quote(text)}}
}

// refuse counts a turn that was not run and drops its calls.
func (d *dialogue) refuse(kind string) {
	if d.open < len(d.run.Calls) && !d.run.Calls[d.open].Answered {
		d.run.Drop(d.open, "not run")
	}
	d.refused = false
	d.run.Warn(session.WarnFormat, cmp.Or(kind, "turn without exactly one command"))
}

// answer gives a call of the last turn what it printed. The last message after a call that
// hands in the patch is that patch.
func (d *dialogue) answer(m *message, last bool) {
	x := &m.Extra.V
	reply := ParseReply(m.Content.Text)
	if last && !reply.Tagged && !x.ReturnCode.Valid && d.handsIn() {
		d.submit(lenientjson.OptText{Value: lenientjson.Text(m.Content.Text), Valid: true})
		return
	}
	call := d.run.Answer(string(m.ToolCallID), reply.Output)
	if call == nil {
		return
	}
	call.ExitCode = reply.Code
	if x.RawOutput.Valid {
		call.Response = string(x.RawOutput.Value)
	}
	if x.ReturnCode.Valid {
		call.ExitCode = x.ReturnCode.Int
	}
	if reply.Timeout || call.ExitCode.Or(0) == -1 || x.Exception != "" {
		call.ExitCode, call.Failed = trajectory.Int{}, trajectory.Some(1)
		if call.Response == "" {
			call.Response = string(x.Exception)
		}
	}
}

// end reads the last message of version 1.1.
func (d *dialogue) end(m *message) {
	x := &m.Extra.V
	if d.run.ExitStatus == "" {
		d.run.ExitStatus = string(x.ExitStatus)
	}
	if d.handsIn() {
		d.submit(x.Submission)
	} else if x.Submission.Valid && !d.submission.Valid {
		d.submission = x.Submission
	}
}

// handsIn reports whether the last call asks to end the run and was not answered.
func (d *dialogue) handsIn() bool {
	if d.open >= len(d.run.Calls) {
		return false
	}
	call := &d.run.Calls[len(d.run.Calls)-1]
	return !call.Answered && HandsIn(call.Args.Text("command"))
}

// HandsIn reports whether a command has the mark, new or old, that ends a run.
func HandsIn(command string) bool {
	return strings.Contains(command, "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT") || strings.Contains(command, "MINI_SWE_AGENT_FINAL_OUTPUT")
}

// submit makes the last call the end of the run.
func (d *dialogue) submit(patch lenientjson.OptText) {
	call := &d.run.Calls[len(d.run.Calls)-1]
	call.Tool, call.Answered = "submit", true
	if !d.submission.Valid {
		d.submission = patch
	}
	if d.run.ExitStatus == "" {
		d.run.ExitStatus = "Submitted"
	}
}

// Reply is what the environment said about a command.
type Reply struct {
	Output  string
	Code    trajectory.Int
	Tagged  bool // the text is an answer by its form
	Timeout bool
}

// ParseReply takes an answer apart: its exit code and, where nothing was cut out of it, the
// bare output.
func ParseReply(text string) Reply {
	r := Reply{Output: text}
	if rest, ok := strings.CutPrefix(text, "<returncode>"); ok {
		digits, rest, ok := strings.Cut(rest, "</returncode>")
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 32)
		if !ok || err != nil {
			return r
		}
		r.Tagged, r.Code = true, trajectory.Some(n)
		r.Output = strings.TrimPrefix(rest, "\n")
		if inside, ok := strings.CutPrefix(r.Output, "<output>\n"); ok {
			r.Output = strings.TrimSuffix(strings.TrimSuffix(inside, "\n"), "</output>")
		}
		return r
	}
	if strings.HasPrefix(text, "The last command ") && strings.Contains(text, "timed out and has been killed") {
		r.Tagged, r.Timeout = true, true
	}
	return r
}

// Fenced returns the commands between the fences of a text.
func Fenced(text string) []string {
	var blocks []string
	for {
		at, skip := nextFence(text)
		if at < 0 {
			return blocks
		}
		body := text[at+skip:]
		end := strings.Index(body, "\n```")
		if end < 0 {
			return blocks
		}
		blocks = append(blocks, strings.TrimSpace(body[:end]))
		text = body[end+len("\n```"):]
	}
}

// nextFence finds where a block of commands begins and how long its fence is.
func nextFence(text string) (at, length int) {
	at = -1
	for _, fence := range [...]string{"```bash\n", "```bash \n", "```bash\r\n", "```mswea_bash_command\n", "```sh\n"} {
		if i := strings.Index(text, fence); i >= 0 && (at < 0 || i < at) {
			at, length = i, len(fence)-1 // an empty block ends on the fence's own newline
		}
	}
	return at, length
}

// Thought returns what the model says before its command.
func Thought(text string) string {
	if at, _ := nextFence(text); at >= 0 {
		text = text[:at]
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "THOUGHT:"))
}

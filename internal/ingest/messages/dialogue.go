package messages

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/minisweagent"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/sweagent"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// dialect is how a dialogue writes calls into texts.
type dialect uint8

const (
	native dialect = iota // it does not, or as XML
	swe                   // SWE-agent: the last fenced command line
	mini                  // mini-swe-agent: one fenced command
)

// dialectOf tells the dialect by the answers: SWE-agent's end with its prompt,
// mini-swe-agent's begin with a tag.
func dialectOf(said []message) dialect {
	for i := range said {
		m := &said[i]
		switch m.from {
		case assistant:
			if len(m.calls) > 0 || writes(m.text) {
				return native
			}
		case user, tool:
			text := m.text
			switch {
			case strings.HasPrefix(text, "<returncode>"):
				return mini
			case strings.HasSuffix(strings.TrimRight(text, " \n"), "bash-$"):
				return swe
			}
		}
	}
	return native
}

// dialogue turns messages into calls.
type dialogue struct {
	run     *session.Run
	dialect dialect
	shape   string // how the first call was written
	started bool   // the model has spoken
	file    string // the open file of SWE-agent's editor
	dir     string
}

func (d *dialogue) version() string { return cmp.Or(d.shape, "no calls") }

func (d *dialogue) take(m *message, n int) {
	if m.demo {
		return
	}
	switch m.from {
	case assistant:
		d.started = true
		d.turn(m, n)
	case tool:
		d.answered(m)
	case user:
		switch {
		case d.started || len(m.answered) > 0:
			d.answered(m)
		case d.run.Description == "":
			d.run.Description = task(m.text)
			d.prompt(m.text)
		}
	}
}

// turn adds the calls of a message of the model, and the answers that stand within it.
func (d *dialogue) turn(m *message, n int) {
	d.run.Turn()
	calls := d.calls(m)
	switch {
	case len(calls) == 0 && d.dialect != native:
		d.run.Warn(session.WarnFormat, "turn without a command")
	case len(calls) > 1:
		for i := range calls {
			calls[i].Group = "message " + strconv.Itoa(n+1)
		}
	}
	d.run.Calls = append(d.run.Calls, calls...)
	if len(m.answered) > 0 {
		d.answered(m)
	}
}

// calls returns the calls of a message; the first one has what the model says with it.
func (d *dialogue) calls(m *message) []session.Call {
	calls, shape, text := m.calls, m.shape, m.text
	switch {
	case len(calls) > 0:
	case d.dialect == mini:
		shape = "mini-swe-agent"
		if blocks := minisweagent.Fenced(text); len(blocks) == 1 {
			var args lenientjson.Object
			args.SetText("command", blocks[0])
			calls = append(calls, session.Call{Tool: sweagent.Bash, Args: args})
			text = minisweagent.Thought(text)
		}
	case d.dialect == swe:
		shape = "swe-agent"
		if before, line, ok := lastFence(text); ok {
			call := session.Call{Dir: d.dir}
			call.Tool, call.Args = sweagent.Command(line)
			calls = append(calls, call)
			text = before
		}
	default:
		w := readWritten(text, m.bare)
		calls, shape, text = w.calls, w.shape, w.before
		if w.broken > 0 {
			const reason = "a call in the text that can't be read"
			d.run.Skip(reason, w.broken)
			d.run.WarnN(session.WarnFormat, reason, w.broken)
		}
	}
	if len(calls) > 0 {
		d.shape = cmp.Or(d.shape, shape)
		calls[0].Thought = strings.TrimSpace(text)
	}
	return calls
}

// lastFence returns what the last fence of a text holds, and what stands before it.
func lastFence(text string) (before, inside string, ok bool) {
	end := strings.LastIndex(text, "```")
	for end > 0 && text[end-1] != '\n' {
		end = strings.LastIndex(text[:end], "```")
	}
	if end <= 0 {
		return text, "", false
	}
	start := strings.LastIndex(text[:end], "\n```")
	if start < 0 {
		if !strings.HasPrefix(text, "```") {
			return text, "", false
		}
		start = -1
	}
	_, inside, ok = strings.Cut(text[start+1:end], "\n")
	return text[:start+1], inside, ok
}

// answered gives calls of the last turn their answers; a turn of the user that answers nothing
// is passed over.
func (d *dialogue) answered(m *message) {
	for _, a := range m.answered {
		texts := []string{a.text}
		if a.id == "" {
			if inside := readAnswers(a.text); inside != nil {
				texts = inside
			}
		}
		for _, text := range texts {
			d.answer(answer{a.id, text, a.failed})
		}
	}
	if len(m.answered) > 0 || m.from == assistant {
		return
	}
	if texts := readAnswers(m.text); texts != nil {
		for _, text := range texts {
			d.answer(answer{text: text})
		}
	} else if d.run.Awaits() {
		d.answer(answer{text: m.text})
	}
}

// answer gives a call its answer.
func (d *dialogue) answer(a answer) {
	call := d.run.Answer(a.id, a.text)
	if call == nil {
		return
	}
	call.Failed = a.failed.Int()
	call.Response = strings.TrimPrefix(a.text, "OBSERVATION:\n")
	if rest, ok := strings.CutPrefix(a.text, "EXECUTION RESULT of ["); ok {
		if _, rest, ok = strings.Cut(rest, "]:\n"); ok {
			call.Response = rest
		}
	}
	switch d.dialect {
	case mini:
		reply := minisweagent.ParseReply(a.text)
		call.Response, call.ExitCode = reply.Output, reply.Code
		if reply.Timeout || reply.Code.Or(0) == -1 {
			call.ExitCode, call.Failed = trajectory.Int{}, trajectory.Some(1)
		}
	case swe:
		before := d.file
		call.Response = d.prompt(a.text)
		sweagent.Place(call.Tool, &call.Args, cmp.Or(before, d.file), call.Response)
	}
}

// prompt takes SWE-agent's prompt off an answer and notes what it says.
func (d *dialogue) prompt(text string) string {
	if d.dialect != swe {
		return text
	}
	text, d.file, d.dir = sweagent.Prompt(text)
	if d.run.Root == "" {
		d.run.Root = sweagent.Root(d.dir)
	}
	return text
}

// end settles what only the whole dialogue tells: the agent, and that the last command of
// mini-swe-agent handed in the patch.
func (d *dialogue) end() {
	r := d.run
	switch d.dialect {
	case swe:
		r.Agent, r.NoExitCodes = "SWE-agent", true
	case mini:
		r.Agent = "mini-swe-agent"
		if n := len(r.Calls); n > 0 && minisweagent.HandsIn(r.Calls[n-1].Args.Text("command")) && !r.Calls[n-1].ExitCode.Valid {
			r.Calls[n-1].Tool = "submit"
		}
	default:
		for i := range r.Calls {
			switch r.Calls[i].Tool {
			case "execute_bash", "execute_ipython_cell":
				r.Agent = "OpenHands"
			}
		}
	}
}

// task returns the problem between the instructions that agents put around it.
func task(text string) string {
	text = session.Between(text, "<issue_description>", "</issue_description>")
	return sweagent.Task(text)
}

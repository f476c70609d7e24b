package synth

import (
	"strconv"
	"time"
)

// epoch is the earliest start of a run, in microseconds: 2025-09-01 08:00:00 UTC.
const epoch = 1_756_713_600_000_000

const agentVersion = "0.54.0"

// kind is the type of an action event.
type kind string

const (
	kindRun    kind = "run"
	kindCell   kind = "run_ipython"
	kindRead   kind = "read"
	kindEdit   kind = "edit"
	kindThink  kind = "think"
	kindTrack  kind = "task_tracking"
	kindFinish kind = "finish"
)

// call is one tool call and what came of it.
type call struct {
	kind    kind
	command string // shell command, cell code, or the editor's command
	path    string // absolute
	text    string // file_text, thought, or the final message
	old     string
	new     string
	line    int    // insert_line, 0 for none
	span    [2]int // view_range, zero for none
	input   bool   // the command goes to a running process
	timeout int    // seconds, 0 for none
	items   []string

	content string // of the observation
	exit    int
	existed bool // extras.prev_exist
	seconds int  // how long it took at most
}

// usage is what one model response cost. Money is in 1e-8 dollars.
type usage struct {
	id                         string
	prompt, completion, cached int64
	money, latency             int64 // latency in milliseconds
}

// session writes the history of one run.
type session struct {
	*world
	rng
	model  *model
	number int // run number, from 0

	history  []byte
	meta     []byte // tool_call_metadata of the current response, up to the call's own part
	args     []byte
	response []byte

	nextID  int
	clock   int64 // microseconds
	context int64 // tokens in the conversation
	usages  []usage
	total   usage

	text    []string // the run's version of each file, "" for unchanged
	created []file   // files of the run's own, in order
	at      variant
	script  string // path of the reproduction, "" when there is none
	sloppy  bool   // the reproduction accepts the partial repair
	ownTest bool
	style   style
	allowed int    // model responses until the run ends, whatever the agent still wants
	trouble string // the run's error, "" for none
}

// maxIterations is the most model responses a run may have.
const maxIterations = 100

func (s *session) over() bool { return len(s.usages) >= s.allowed }

// start writes the events before the first call.
func (s *session) start() {
	s.clock = epoch + int64(s.below(80*24*3600))*1e6 + int64(s.below(1e6))
	s.context = 1400
	s.history = append(s.history, '[')
	s.open("agent", systemText, -1)
	s.history = append(s.history, `"action":"system","args":{"content":`...)
	s.history = appendText(s.history, systemText)
	s.history = append(s.history, `,"tools":`+toolsJSON+`,"openhands_version":"`+agentVersion+`","agent_class":"CodeActAgent"}}`...)
	task := s.taskText()
	s.say("user", task, false)
	s.open("user", "Retrieving content for: "+task[:50], -1)
	s.history = append(s.history, `"action":"recall","args":{"recall_type":"workspace_context","query":`...)
	s.history = appendText(s.history, task)
	s.history = append(s.history, `,"thought":""}}`...)
	cause := s.nextID - 1
	s.nextID++ // a state change the evaluation filters out
	s.open("environment", "Added workspace context", cause)
	s.history = append(s.history, `"observation":"recall","content":"Added workspace context","extras":{"recall_type":"workspace_context","repo_name":"","repo_directory":"","repo_instructions":"","runtime_hosts":{},"additional_agent_instructions":"","date":"`...)
	s.history = time.UnixMicro(s.clock).UTC().AppendFormat(s.history, time.DateOnly)
	s.history = append(s.history, `","microagent_knowledge":[]}}`...)
	s.context += int64(len(task)) / 4
}

// open begins an event: everything up to its type. cause is -1 for none.
func (s *session) open(source, message string, cause int) {
	b := s.history
	if s.nextID > 0 {
		b = append(b, ',')
	}
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, int64(s.nextID), 10)
	b = append(b, `,"timestamp":"`...)
	if s.chance(15) {
		s.clock += 1e6 - s.clock%1e6 // a full second is written without a fraction
	} else {
		s.clock += int64(s.between(150, 40_000))
	}
	b = time.UnixMicro(s.clock).UTC().AppendFormat(b, "2006-01-02T15:04:05")
	if micro := s.clock % 1e6; micro != 0 {
		b = append(b, '.')
		for unit := int64(1e5); unit > 0; unit /= 10 {
			b = append(b, byte('0'+micro/unit%10))
		}
	}
	b = append(b, `","source":"`...)
	b = append(b, source...)
	b = append(b, `","message":`...)
	b = appendText(b, message)
	b = append(b, ',')
	if cause >= 0 {
		b = append(b, `"cause":`...)
		b = strconv.AppendInt(b, int64(cause), 10)
		b = append(b, ',')
	}
	s.history = b
	s.nextID++
}

// say writes a message of the user or the agent.
func (s *session) say(source, text string, wait bool) {
	if s.over() {
		return
	}
	s.open(source, text, -1)
	s.history = append(s.history, `"action":"message","args":{"content":`...)
	s.history = appendText(s.history, text)
	s.history = append(s.history, `,"file_urls":null,"image_urls":null,"wait_for_response":`...)
	s.history = strconv.AppendBool(s.history, wait)
	s.history = append(s.history, `,"security_risk":-1}}`...)
}

// respond accounts for one model response of about chars characters and returns its usage.
func (s *session) respond(chars int) usage {
	u := usage{id: string(s.hex([]byte("synth-"), 16)), prompt: s.context, latency: int64(s.between(900, 9000))}
	u.completion = int64(chars/4 + s.between(18, 70))
	if len(s.usages) > 0 {
		u.cached = s.usages[len(s.usages)-1].prompt
		if u.cached > u.prompt {
			u.cached = 0 // the conversation was condensed
		}
	}
	u.money = (u.prompt-u.cached)*300 + u.cached*30 + u.completion*1500
	s.total.prompt += u.prompt
	s.total.completion += u.completion
	s.total.cached += u.cached
	s.total.money += u.money
	s.usages = append(s.usages, u)
	s.context += u.completion
	s.clock += u.latency * 1000
	return u
}

// condenseAt is the conversation length, in tokens, at which its middle is dropped.
const condenseAt = 8_000

// do writes the calls of one model response, each followed by its observation.
func (s *session) do(thought string, calls ...call) {
	if s.over() {
		return
	}
	if s.context > condenseAt {
		s.condense()
	}
	chars := len(thought)
	for _, c := range calls {
		chars += len(c.command) + len(c.text) + len(c.old) + len(c.new) + len(c.path)
	}
	u := s.respond(chars)
	ids := make([]string, len(calls))
	for i := range ids {
		ids[i] = string(s.hex([]byte("call_"), 20))
	}
	s.response = s.appendResponse(s.response[:0], u, thought, calls, ids)
	for i, c := range calls {
		b := append(s.meta[:0], `"tool_call_metadata":{"function_name":"`...)
		b = append(b, c.function()...)
		b = append(b, `","tool_call_id":"`...)
		b = append(b, ids[i]...)
		b = append(b, `","model_response":`...)
		b = append(b, s.response...)
		b = append(b, `,"total_calls_in_response":`...)
		b = strconv.AppendInt(b, int64(len(calls)), 10)
		s.meta = append(b, '}', ',')
		if i > 0 {
			thought = "" // only the first action of a response carries it
		}
		s.action(c, thought)
		if c.kind != kindFinish {
			s.observation(c, s.nextID-1)
		}
	}
}

func (c *call) function() string {
	switch c.kind {
	case kindRun:
		return "execute_bash"
	case kindCell:
		return "execute_ipython_cell"
	case kindRead, kindEdit:
		return "str_replace_editor"
	case kindTrack:
		return "task_tracker"
	}
	return string(c.kind)
}

// appendArguments appends what the model sent as the tool's arguments.
func (c *call) appendArguments(b []byte) []byte {
	field := func(name, value string) {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		b = appendText(b, value)
	}
	b = append(b, '{')
	switch c.kind {
	case kindRun:
		field("command", c.command)
		if c.input {
			field("is_input", "true")
		}
		if c.timeout > 0 {
			b = append(b, `,"timeout":`...)
			b = strconv.AppendInt(b, int64(c.timeout), 10)
		}
	case kindCell:
		field("code", c.command)
	case kindRead, kindEdit:
		field("command", c.command)
		field("path", c.path)
		if c.span[0] > 0 {
			b = append(b, `,"view_range":`...)
			b = appendSpan(b, c.span)
		}
		if c.command == "create" {
			field("file_text", c.text)
		}
		if c.old != "" {
			field("old_str", c.old)
		}
		if c.new != "" {
			field("new_str", c.new)
		}
		if c.line > 0 {
			b = append(b, `,"insert_line":`...)
			b = strconv.AppendInt(b, int64(c.line), 10)
		}
	case kindThink:
		field("thought", c.text)
	case kindTrack:
		field("command", "plan")
		b = append(b, `,"task_list":`...)
		b = appendItems(b, c.items)
	case kindFinish:
		field("message", c.text)
	}
	return append(b, '}')
}

func appendSpan(b []byte, span [2]int) []byte {
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(span[0]), 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(span[1]), 10)
	return append(b, ']')
}

func appendItems(b []byte, items []string) []byte {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":"`...)
		b = strconv.AppendInt(b, int64(i+1), 10)
		b = append(b, `","title":`...)
		b = appendText(b, item)
		b = append(b, `,"status":"todo","notes":""}`...)
	}
	return append(b, ']')
}

func (s *session) appendResponse(b []byte, u usage, thought string, calls []call, ids []string) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, u.id...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, s.clock/1e6, 10)
	b = append(b, `,"model":"`...)
	b = append(b, s.model.name...)
	b = append(b, `","object":"chat.completion","system_fingerprint":null,"choices":[{"finish_reason":"tool_calls","index":0,"message":{"content":`...)
	if thought == "" {
		b = append(b, "null"...)
	} else {
		b = appendText(b, thought)
	}
	b = append(b, `,"role":"assistant","tool_calls":[`...)
	for i := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		s.args = calls[i].appendArguments(s.args[:0])
		b = append(b, `{"index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"function":{"arguments":`...)
		b = appendText(b, string(s.args))
		b = append(b, `,"name":"`...)
		b = append(b, calls[i].function()...)
		b = append(b, `"},"id":"`...)
		b = append(b, ids[i]...)
		b = append(b, `","type":"function"}`...)
	}
	b = append(b, `],"function_call":null}}],"usage":{"completion_tokens":`...)
	b = strconv.AppendInt(b, u.completion, 10)
	b = append(b, `,"prompt_tokens":`...)
	b = strconv.AppendInt(b, u.prompt, 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, u.prompt+u.completion, 10)
	b = append(b, `,"completion_tokens_details":null,"prompt_tokens_details":{"audio_tokens":null,"cached_tokens":`...)
	b = strconv.AppendInt(b, u.cached, 10)
	return append(b, `}},"service_tier":null}`...)
}

// appendTotals appends the accumulated cost and token usage.
func (s *session) appendTotals(b []byte) []byte {
	b = append(b, `"accumulated_cost":`...)
	b = appendMoney(b, s.total.money)
	b = append(b, `,"max_budget_per_task":null,"accumulated_token_usage":`...)
	b = s.appendUsage(b, &s.total, false)
	return b
}

func (s *session) appendUsage(b []byte, u *usage, one bool) []byte {
	b = append(b, `{"model":"`...)
	b = append(b, s.model.name...)
	b = append(b, `","prompt_tokens":`...)
	b = strconv.AppendInt(b, u.prompt, 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, u.completion, 10)
	b = append(b, `,"cache_read_tokens":`...)
	b = strconv.AppendInt(b, u.cached, 10)
	b = append(b, `,"cache_write_tokens":0,"context_window":200000,"per_turn_token":`...)
	last := *u
	if !one && len(s.usages) > 0 {
		last = s.usages[len(s.usages)-1]
	}
	b = strconv.AppendInt(b, last.prompt+last.completion, 10)
	b = append(b, `,"response_id":"`...)
	b = append(b, u.id...)
	return append(b, '"', '}')
}

// appendMoney appends 1e-8 dollars as a decimal number.
func appendMoney(b []byte, money int64) []byte {
	b = strconv.AppendInt(b, money/1e8, 10)
	b = append(b, '.')
	rest := money % 1e8
	for unit := int64(1e7); unit > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit%10))
		if rest %= unit; rest == 0 {
			break
		}
	}
	return b
}

func (s *session) action(c call, thought string) {
	message := ""
	switch c.kind {
	case kindRun:
		message = "Running command: " + c.command
	case kindCell:
		message = "Running Python code interactively: " + c.command
	case kindRead:
		message = "Reading file: " + c.path
	case kindThink:
		message = "I am thinking...: " + c.text
	case kindTrack:
		message = "Managing " + strconv.Itoa(len(c.items)) + " task items."
	case kindFinish:
		message = c.text
	}
	s.open("agent", message, -1)
	b := append(s.history, `"action":"`...)
	b = append(b, c.kind...)
	b = append(b, '"', ',')
	b = append(b, s.meta...)
	b = append(b, `"llm_metrics":{`...)
	b = s.appendTotals(b)
	b = append(b, `,"costs":[],"response_latencies":[],"token_usages":[]},"args":{`...)
	switch c.kind {
	case kindRun:
		b = append(b, `"command":`...)
		b = appendText(b, c.command)
		b = append(b, `,"is_input":`...)
		b = strconv.AppendBool(b, c.input)
		b = append(b, `,"thought":`...)
		b = appendText(b, thought)
		b = append(b, `,"blocking":`...)
		b = strconv.AppendBool(b, c.timeout > 0)
		b = append(b, `,"is_static":false,"cwd":null,"hidden":false,"confirmation_state":"confirmed","security_risk":-1}`...)
		if c.timeout > 0 {
			b = append(b, `,"timeout":`...)
			b = strconv.AppendInt(b, int64(c.timeout), 10)
			b = append(b, ".0"...)
		}
	case kindCell:
		b = append(b, `"code":`...)
		b = appendText(b, c.command)
		b = append(b, `,"thought":`...)
		b = appendText(b, thought)
		b = append(b, `,"include_extra":true,"confirmation_state":"confirmed","security_risk":-1,"kernel_init_code":""}`...)
	case kindRead:
		b = append(b, `"path":`...)
		b = appendText(b, c.path)
		b = append(b, `,"start":0,"end":-1,"thought":`...)
		b = appendText(b, thought)
		b = append(b, `,"impl_source":"oh_aci","view_range":`...)
		if c.span[0] > 0 {
			b = appendSpan(b, c.span)
		} else {
			b = append(b, "null"...)
		}
		b = append(b, '}')
	case kindEdit:
		text := func(name, value string, present bool) {
			b = append(b, `,"`...)
			b = append(b, name...)
			b = append(b, '"', ':')
			if present {
				b = appendText(b, value)
			} else {
				b = append(b, "null"...)
			}
		}
		b = append(b, `"path":`...)
		b = appendText(b, c.path)
		text("command", c.command, true)
		text("file_text", c.text, c.command == "create")
		text("old_str", c.old, c.command == "str_replace")
		text("new_str", c.new, c.command == "str_replace" || c.command == "insert")
		b = append(b, `,"insert_line":`...)
		if c.line > 0 {
			b = strconv.AppendInt(b, int64(c.line), 10)
		} else {
			b = append(b, "null"...)
		}
		b = append(b, `,"content":"","start":1,"end":-1,"thought":`...)
		b = appendText(b, thought)
		b = append(b, `,"impl_source":"oh_aci"}`...)
	case kindThink:
		b = append(b, `"thought":`...)
		b = appendText(b, c.text)
		b = append(b, '}')
	case kindTrack:
		b = append(b, `"command":"plan","task_list":`...)
		b = appendItems(b, c.items)
		b = append(b, `,"thought":`...)
		b = appendText(b, thought)
		b = append(b, '}')
	case kindFinish:
		b = append(b, `"final_thought":`...)
		b = appendText(b, c.text)
		b = append(b, `,"outputs":{},"thought":`...)
		b = appendText(b, thought)
		b = append(b, '}')
	}
	s.history = append(b, '}')
}

func (s *session) observation(c call, cause int) {
	s.clock += int64(c.timeout)*1e6 + int64(s.between(2, 1+c.seconds*1000))*1000
	message := ""
	switch c.kind {
	case kindRun:
		message = "Command `" + c.command + "` executed with exit code " + strconv.Itoa(c.exit) + "."
	case kindCell:
		message = "Code executed in IPython cell."
	case kindRead:
		message = "I read the file " + c.path + "."
	case kindEdit:
		message = "I edited the file " + c.path + "."
	case kindThink, kindTrack:
		message = c.content
	}
	s.open("agent", message, cause)
	b := append(s.history, `"observation":"`...)
	b = append(b, c.kind...)
	b = append(b, '"', ',')
	b = append(b, s.meta...)
	b = append(b, `"content":`...)
	b = appendText(b, c.content)
	b = append(b, `,"extras":{`...)
	switch c.kind {
	case kindRun:
		b = append(b, `"command":`...)
		b = appendText(b, c.command)
		b = append(b, `,"metadata":{"exit_code":`...)
		b = strconv.AppendInt(b, int64(c.exit), 10)
		b = append(b, `,"pid":-1,"username":"root","hostname":"synthetic","working_dir":`...)
		b = appendText(b, s.root)
		b = append(b, `,"py_interpreter_path":"/usr/bin/python","prefix":"","suffix":`...)
		if c.exit < 0 {
			b = appendText(b, "\n[The command timed out after "+strconv.Itoa(c.timeout)+" seconds. It may still be running.]")
		} else {
			b = appendText(b, "\n[The command completed with exit code "+strconv.Itoa(c.exit)+".]")
		}
		b = append(b, `},"hidden":false},"success":`...)
		b = strconv.AppendBool(b, c.exit == 0)
	case kindCell:
		b = append(b, `"code":`...)
		b = appendText(b, c.command)
		b = append(b, `,"image_urls":null},"success":true`...)
	case kindRead:
		b = append(b, `"path":`...)
		b = appendText(b, c.path)
		b = append(b, `,"impl_source":"oh_aci"}`...)
	case kindEdit:
		b = append(b, `"path":`...)
		b = appendText(b, c.path)
		b = append(b, `,"prev_exist":`...)
		b = strconv.AppendBool(b, c.existed)
		b = append(b, `,"old_content":`...)
		b = appendText(b, c.old)
		b = append(b, `,"new_content":`...)
		b = appendText(b, c.new+c.text)
		b = append(b, `,"impl_source":"oh_aci","diff":""}`...)
	case kindTrack:
		b = append(b, `"command":"plan","task_list":`...)
		b = appendItems(b, c.items)
		b = append(b, '}')
	default:
		b = append(b, '}')
	}
	s.history = append(b, '}')
	s.context += int64(len(c.content)) / 4
}

// refused writes the error observation that answers a call which could not be parsed. It
// has no cause and no action.
func (s *session) refused(text string) {
	if s.over() {
		return
	}
	s.respond(120)
	s.open("agent", text, -1)
	s.history = append(s.history, `"observation":"error","content":`...)
	s.history = appendText(s.history, text)
	s.history = append(s.history, `,"extras":{"error_id":""}}`...)
	s.context += int64(len(text)) / 4
}

// condense writes the event that drops the middle of the conversation.
func (s *session) condense() {
	summary := "So far: the report concerns " + s.fn + " in " + s.files[s.target].path + "."
	s.open("agent", summary, -1)
	b := append(s.history, `"action":"condensation","args":{"forgotten_event_ids":null,"forgotten_events_start_id":5,"forgotten_events_end_id":`...)
	b = strconv.AppendInt(b, int64(s.nextID-12), 10)
	b = append(b, `,"summary":`...)
	b = appendText(b, summary)
	s.history = append(b, `,"summary_offset":4}}`...)
	s.context = 2200
}

const systemText = "You are an agent in a synthetic run written by agentlens synth. You can run shell commands and view or edit files. Solve the task you are given."

const toolsJSON = `[{"type":"function","function":{"name":"execute_bash","description":"Run a shell command.","parameters":{"type":"object","properties":{"command":{"type":"string"},"is_input":{"type":"string","enum":["true","false"]},"timeout":{"type":"number"}},"required":["command"]}}},` +
	`{"type":"function","function":{"name":"str_replace_editor","description":"View, create or edit a file.","parameters":{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","undo_edit"]},"path":{"type":"string"},"file_text":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"},"insert_line":{"type":"integer"},"view_range":{"type":"array","items":{"type":"integer"}}},"required":["command","path"]}}},` +
	`{"type":"function","function":{"name":"think","description":"Write down a thought.","parameters":{"type":"object","properties":{"thought":{"type":"string"}},"required":["thought"]}}},` +
	`{"type":"function","function":{"name":"finish","description":"End the task.","parameters":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}}]`

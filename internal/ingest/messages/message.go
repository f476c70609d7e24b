package messages

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
)

// speaker is who a message is from.
type speaker uint8

const (
	nobody speaker = iota
	system
	user
	assistant
	tool
)

// speakerOf returns whom a name stands for; names are compared in lower case.
func speakerOf(name string) speaker {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "system", "developer", "systemmessage", "systemmessagechunk":
		return system
	case "user", "human", "humanmessage", "humanmessagechunk", "prompter":
		return user
	case "assistant", "ai", "gpt", "model", "bot", "chatgpt", "agent", "aimessage", "aimessagechunk":
		return assistant
	case "tool", "function", "observation", "ipython", "environment", "toolmessage", "functionmessage",
		"tool_response", "function_response", "tool_result", "tool-result", "tool-response", "function_call_output":
		return tool
	}
	if asks(name) {
		return assistant
	}
	return nobody
}

// asks reports whether a role or the type of a part says that the text is a call.
func asks(name string) bool {
	switch strings.ToLower(name) {
	case "function_call", "function-call", "functioncall", "tool_call", "tool-call", "tool_calls", "tool_use", "tool-use",
		"server_tool_use", "mcp_tool_use", "mcp_call", "custom_tool_call", "local_shell_call", "tool-invocation", "dynamic-tool":
		return true
	}
	return false
}

// answers reports whether the type of a part says that it is an answer.
func answers(kind string) bool {
	switch kind {
	case "tool_result", "tool-result", "tool_response", "function_call_output", "custom_tool_call_output", "local_shell_call_output",
		"mcp_tool_result", "web_search_tool_result", "function_response", "functionresponse":
		return true
	}
	return false
}

// message is a message in any dialect: who speaks, what is said, what is asked of tools and
// what they answered, each in order.
type message struct {
	from     speaker
	demo     bool
	bare     bool   // the role says that the text is a call
	shape    string // how calls beside the text are written
	text     string
	calls    []session.Call
	answered []answer
}

// answer is what a tool gave back; id is "" when the dialect binds answers by order.
type answer struct {
	id     string
	text   string
	failed lenientjson.Flag
}

// UnmarshalJSONFrom reads a message; anything but an object is a message of nobody.
func (m *message) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var n node
	if err := n.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	*m = message{}
	m.add(n.unpacked())
	return nil
}

// node is an object of a dialogue, a message or a part of one, with the names that dialects
// give the same thing brought together.
type node struct {
	role, kind string
	said       body // content, else text, value, parts
	output     body // what a tool gave back
	id         string
	callID     string
	tool       string
	args       arguments
	calls      []node
	inner      []node // the message proper, where it is wrapped
	single     bool   // its call is OpenAI's older function_call
	failed     lenientjson.Flag
	demo       lenientjson.Flag
}

// body is what is said: a text, or parts.
type body struct {
	text  string
	valid bool
	parts []node
}

// UnmarshalJSONFrom reads a text, a list of texts and parts, or the object that wraps a text;
// any other object is its own text as JSON.
func (b *body) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*b = body{}
	switch dec.PeekKind() {
	case '"':
		b.valid = true
		return (*lenientjson.Text)(&b.text).UnmarshalJSONFrom(dec)
	case '[':
		b.valid = true
		return lenientjson.Elements(dec, func() error {
			var n node
			if dec.PeekKind() == '"' {
				n.kind = "text"
				if err := n.said.UnmarshalJSONFrom(dec); err != nil {
					return err
				}
			} else if err := n.UnmarshalJSONFrom(dec); err != nil {
				return err
			}
			b.parts = append(b.parts, n)
			return nil
		})
	case 'n':
		return dec.SkipValue()
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	b.valid = true
	if value.Kind() == '{' {
		var wrapped struct {
			Type  lenientjson.Text    `json:"type"`
			Value lenientjson.OptText `json:"value"`
			Text  lenientjson.OptText `json:"text"`
		}
		if lenientjson.Decode(value, &wrapped) == nil {
			for _, text := range [...]lenientjson.OptText{wrapped.Value, wrapped.Text} {
				if wrapped.Type != "" && text.Valid {
					b.text = string(text.Value)
					return nil
				}
			}
		}
	}
	b.text = string(value)
	return nil
}

// UnmarshalJSONFrom reads the node; anything but an object has nothing.
func (n *node) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*n = node{}
	text := func(to *string) error {
		var of lenientjson.Ident
		if err := of.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		if of != "" {
			*to = string(of)
		}
		return nil
	}
	return lenientjson.Members(dec, func(name []byte) error {
		switch string(name) {
		case "role", "from", "sender":
			return text(&n.role)
		case "type":
			return text(&n.kind)
		case "content", "text", "value", "parts":
			return n.say(dec)
		case "output", "result", "response":
			return n.output.UnmarshalJSONFrom(dec)
		case "id":
			return n.identify(dec)
		case "tool_call_id", "toolCallId", "call_id", "callId", "tool_use_id", "toolUseId":
			return text(&n.callID)
		case "name", "toolName", "tool_name", "tool":
			return text(&n.tool)
		case "function":
			return n.function(dec)
		case "arguments", "args", "input", "parameters", "kwargs", "action":
			if string(name) == "kwargs" && n.kind == "constructor" {
				return n.unwrap(dec)
			}
			return n.arguments(dec)
		case "data":
			return n.unwrap(dec)
		case "additional_kwargs", "tool_calls", "toolCalls", "function_call", "functionCall", "functionResponse", "toolInvocation", "toolInvocations":
			return n.ask(string(name), dec)
		case "is_error", "isError":
			return n.failed.UnmarshalJSONFrom(dec)
		case "is_demo":
			return n.demo.UnmarshalJSONFrom(dec)
		}
		return dec.SkipValue()
	})
}

// say reads what is said; of several names the first with anything counts.
func (n *node) say(dec *jsontext.Decoder) error {
	var said body
	if err := said.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	if n.said.text == "" && n.said.parts == nil && said.valid {
		n.said = said
	}
	return nil
}

// identify reads the id; that of a LangChain constructor is the path of its class.
func (n *node) identify(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		return (*lenientjson.Ident)(&n.id).UnmarshalJSONFrom(dec)
	}
	return lenientjson.Elements(dec, func() error {
		return (*lenientjson.Text)(&n.role).UnmarshalJSONFrom(dec)
	})
}

// function reads the function of a call: its name, or an object with name and arguments.
func (n *node) function(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return (*lenientjson.Text)(&n.tool).UnmarshalJSONFrom(dec)
	}
	var of node
	if err := of.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	n.tool = of.tool
	if of.args.there() {
		n.args = of.args
	}
	return nil
}

func (n *node) arguments(dec *jsontext.Decoder) error {
	var args arguments
	if err := args.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	if !n.args.there() {
		n.args = args
	}
	return nil
}

// unwrap reads the message that another object holds.
func (n *node) unwrap(dec *jsontext.Decoder) error {
	var of node
	if err := of.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	n.inner = append(n.inner, of)
	return nil
}

// ask reads calls beside the text.
func (n *node) ask(name string, dec *jsontext.Decoder) error {
	var list []node
	one := func() error {
		var of node
		err := of.UnmarshalJSONFrom(dec)
		list = append(list, of)
		return err
	}
	var err error
	switch dec.PeekKind() {
	case '{':
		err = one()
	case '[':
		err = lenientjson.Elements(dec, one)
	default:
		return dec.SkipValue()
	}
	for i := range list {
		of := &list[i]
		switch name {
		case "additional_kwargs":
			if len(n.calls) == 0 {
				n.calls = of.calls
			}
			continue
		case "functionResponse":
			of.kind = "functionresponse"
		}
		if of.tool == "" && !of.args.there() && !of.output.valid {
			continue
		}
		n.single = name == "function_call"
		if name == "tool_calls" && len(n.calls) > 0 && n.calls[0].kind == "" && i == 0 {
			n.calls = nil // those of additional_kwargs are the same ones
		}
		n.calls = append(n.calls, *of)
	}
	return err
}

// unpacked returns the message proper, with the role that its wrapping states.
func (n *node) unpacked() *node {
	for range 3 {
		if len(n.inner) == 0 || n.said.valid || len(n.calls) > 0 {
			return n
		}
		of := &n.inner[0]
		if of.role == "" {
			of.role = n.role
		}
		if speakerOf(of.role) == nobody && speakerOf(of.kind) == nobody {
			of.kind = n.kind
		}
		n = of
	}
	return n
}

// add adds what a node says.
func (m *message) add(n *node) {
	m.demo = n.demo.Is()
	m.from, m.bare = speakerOf(n.role), asks(n.role)
	m.shape = "tool_calls"
	if n.single {
		m.shape = "function_call"
	}
	switch {
	case m.from != nobody:
	case asks(n.kind):
		m.from = assistant
	case answers(n.kind):
		m.from = tool
	default:
		m.from = speakerOf(n.kind)
	}
	switch {
	case n.role == "" && asks(n.kind) && n.called():
		m.part(n)
		return
	case n.role == "" && answers(n.kind):
		m.part(n)
		return
	}
	m.text = n.said.text
	var texts []string
	for i := range n.said.parts {
		if text, ok := m.part(&n.said.parts[i]); ok && text != "" {
			texts = append(texts, text)
		}
	}
	if texts != nil {
		m.text = strings.Join(texts, "\n")
	}
	for i := range n.calls {
		if n.calls[i].kind == "functionresponse" {
			m.answer(&n.calls[i])
			continue
		}
		m.call(&n.calls[i])
	}
	if m.from == tool && len(m.answered) == 0 {
		a := answer{id: n.callID, text: m.text, failed: n.failed}
		if !n.said.valid && n.output.valid {
			a.text = n.output.flat()
		}
		if a.id == "" && n.kind != "" && answers(n.kind) {
			a.id = n.id
		}
		m.answered = append(m.answered, a)
	}
}

// part adds a part of a message; ok is true for one that is text.
func (m *message) part(n *node) (text string, ok bool) {
	kind := strings.ToLower(n.kind)
	switch {
	case asks(kind) || strings.HasPrefix(kind, "tool-") && !answers(kind):
		if named := strings.TrimPrefix(n.kind, "tool-"); n.tool == "" && named != n.kind && !asks(kind) {
			n.tool = named
		}
		for i := range n.calls { // toolInvocation
			m.call(&n.calls[i])
		}
		if n.called() {
			m.call(n)
		}
		return "", false
	case answers(kind):
		m.answer(n)
		return "", false
	case kind == "thinking" || kind == "reasoning" || kind == "redacted_thinking":
		return "", false
	}
	for i := range n.calls { // functionCall and functionResponse of Gemini
		if n.calls[i].kind == "functionresponse" {
			m.answer(&n.calls[i])
		} else {
			m.call(&n.calls[i])
		}
	}
	return n.said.flat(), true
}

// called reports whether the node is a call: it names a tool, or its type does.
func (n *node) called() bool {
	return n.tool != "" || n.kind == "local_shell_call"
}

// call adds a call, and the answer that stands within it.
func (m *message) call(n *node) {
	c := session.Call{ID: n.id, Tool: n.tool, Args: n.args.object, RawArgs: n.args.raw}
	if n.callID != "" {
		c.ID = n.callID
	}
	if c.Tool == "" && n.kind == "local_shell_call" {
		c.Tool = "local_shell"
	}
	if n.output.valid {
		c.Answered, c.Response, c.Failed = true, n.output.flat(), n.failed.Int()
	}
	m.calls = append(m.calls, c)
}

// answer adds an answer.
func (m *message) answer(n *node) {
	a := answer{id: n.callID, failed: n.failed}
	if a.id == "" {
		a.id = n.id
	}
	switch {
	case n.said.valid:
		a.text = n.said.flat()
	case n.output.valid:
		a.text = n.output.flat()
	}
	m.answered = append(m.answered, a)
}

// flat returns the text of a body, its parts one below the other.
func (b *body) flat() string {
	if len(b.parts) == 0 {
		return b.text
	}
	var texts []string
	for i := range b.parts {
		p := &b.parts[i]
		text := p.said.flat()
		if text == "" {
			text = p.output.flat()
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// there reports whether there are any arguments.
func (a *arguments) there() bool { return a.object != nil || a.raw != "" }

// startsList reports whether a JSON string holds the text of an array of objects.
func startsList(quoted []byte) bool {
	rest := quoted[1:]
	next := func() byte {
		for {
			rest = bytes.TrimLeft(rest, " \t\r\n")
			if len(rest) >= 2 && rest[0] == '\\' && (rest[1] == 'n' || rest[1] == 'r' || rest[1] == 't') {
				rest = rest[2:]
				continue
			}
			if len(rest) == 0 {
				return 0
			}
			c := rest[0]
			rest = rest[1:]
			return c
		}
	}
	return next() == '[' && next() == '{'
}

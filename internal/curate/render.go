package curate

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The messages of OpenAI's chat format.
type (
	chatMessage struct {
		Role       string     `json:"role"`
		Content    *string    `json:"content"` // null for calls without words
		ToolCalls  []chatCall `json:"tool_calls,omitzero"`
		ToolCallID string     `json:"tool_call_id,omitzero"`
	}
	chatCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	chatTool struct {
		Type     string     `json:"type"`
		Function toolSchema `json:"function"`
	}
	toolSchema struct {
		Name       string         `json:"name"`
		Parameters toolParameters `json:"parameters"`
	}
	toolParameters struct {
		Type                 string `json:"type"`
		AdditionalProperties bool   `json:"additionalProperties"`
	}
)

type chatRow struct {
	Messages []chatMessage `json:"messages"`
	Tools    []chatTool    `json:"tools"`
}

type pairRow struct {
	Prompt   []chatMessage `json:"prompt"`
	Chosen   []chatMessage `json:"chosen"`
	Rejected []chatMessage `json:"rejected"`
	Tools    []chatTool    `json:"tools"`
}

type shareRow struct {
	Conversations []shareTurn `json:"conversations"`
	Tools         string      `json:"tools"` // JSON
}

type shareTurn struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

type plainRow struct {
	Messages []plainMessage `json:"messages"`
}

type plainMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (d *dialogue) chat() []chatMessage {
	out := make([]chatMessage, len(d.messages))
	for i, m := range d.messages {
		c := chatMessage{Role: m.role, ToolCallID: m.callID}
		if m.content != "" || len(m.calls) == 0 {
			c.Content = &m.content
		}
		for _, call := range m.calls {
			c.ToolCalls = append(c.ToolCalls, chatCall{call.id, "function", chatFunction{call.tool, call.arguments}})
		}
		out[i] = c
	}
	return out
}

// toolList declares tools by name; what arguments they take is as the log has it.
func toolList(names []string) []chatTool {
	out := make([]chatTool, len(names))
	for i, name := range names {
		out[i] = chatTool{"function", toolSchema{name, toolParameters{"object", true}}}
	}
	return out
}

// said writes a message as plain text: calls as <tool_call> with name and arguments, answers
// as <tool_response>. The mark that ends a call does not stand inside of its JSON: "</" is
// written with JSON's escape of the slash.
func (m *message) said() (string, error) {
	if m.role == "tool" {
		return "<tool_response>\n" + m.content + "\n</tool_response>", nil
	}
	parts := []string{}
	if m.content != "" {
		parts = append(parts, m.content)
	}
	for _, c := range m.calls {
		text, err := line(struct {
			Name      string         `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
		}{c.tool, jsontext.Value(c.arguments)})
		if err != nil {
			return "", err
		}
		parts = append(parts, "<tool_call>\n"+strings.ReplaceAll(string(text), "</", `<\/`)+"\n</tool_call>")
	}
	return strings.Join(parts, "\n"), nil
}

// render writes a dialogue in the form of a target, as one line of JSON.
func (d *dialogue) render(target string) ([]byte, error) {
	switch target {
	case "sharegpt":
		row := shareRow{}
		tools, err := line(toolList(d.tools))
		if err != nil {
			return nil, err
		}
		row.Tools = string(tools)
		for i := range d.messages {
			m := &d.messages[i]
			text, err := m.said()
			if err != nil {
				return nil, err
			}
			row.Conversations = append(row.Conversations, shareTurn{map[string]string{"user": "human", "assistant": "gpt", "tool": "tool"}[m.role], text})
		}
		return line(row)
	case "messages":
		row := plainRow{}
		for i := range d.messages {
			m := &d.messages[i]
			text, err := m.said()
			if err != nil {
				return nil, err
			}
			last := len(row.Messages) - 1
			switch {
			case m.role == "tool" && last > 0 && row.Messages[last].Role == "user":
				row.Messages[last].Content += "\n" + text // answers to calls of one response
			case m.role == "tool":
				row.Messages = append(row.Messages, plainMessage{"user", text})
			default:
				row.Messages = append(row.Messages, plainMessage{m.role, text})
			}
		}
		return line(row)
	}
	return line(chatRow{d.chat(), toolList(d.tools)})
}

// line writes a value as JSON on one line, without the newline.
func line(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(false))
}

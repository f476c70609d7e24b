package messages

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/xmlcall"
)

// Marks that models without function calling write around their calls.
const (
	openJSON     = "<tool_call>"
	closeJSON    = "</tool_call>"
	openAnswer   = "<tool_response>"
	closeAnswer  = "</tool_response>"
	openFunction = "<function="
	openInvoke   = `<invoke name="`
	markMistral  = "[TOOL_CALLS]"
	markLlama    = "<|python_tag|>"
	reactAction  = "Action:"
	reactInput   = "Action Input:"
)

// written is what a text holds beside words.
type written struct {
	before string // what stands before the first call; the whole text when there is none
	shape  string // how the calls are written
	calls  []session.Call
	broken int // calls that can't be read
}

// writes reports whether a text has a mark of a call.
func writes(text string) bool {
	return strings.Contains(text, openFunction) || strings.Contains(text, openJSON) || strings.Contains(text, openInvoke)
}

// readWritten returns the calls that stand in a text of the model. bare allows JSON without
// marks, for messages whose role says that they are calls.
func readWritten(text string, bare bool) written {
	switch {
	case strings.Contains(text, openFunction):
		w := written{shape: "xml"}
		var calls []xmlcall.Call
		w.before, calls = xmlcall.Parse(text)
		for _, c := range calls {
			w.calls = append(w.calls, session.Call{Tool: c.Name, Args: c.Args})
		}
		if len(calls) > 0 {
			w.before = strings.TrimSpace(strings.TrimSuffix(w.before, openJSON)) // Qwen writes both marks
			return w
		}
	case strings.Contains(text, openJSON):
		return tagged(text)
	case strings.Contains(text, openInvoke):
		return invoked(text)
	case strings.HasPrefix(strings.TrimSpace(text), markMistral), strings.Contains(text, "\n"+markMistral):
		return marked(text, markMistral, "mistral")
	case strings.Contains(text, markLlama):
		return marked(text, markLlama, "llama")
	case bare:
		w := written{shape: "json"}
		w.json(text)
		if len(w.calls) > 0 {
			return w
		}
	case strings.Contains(text, reactInput):
		if w := react(text); len(w.calls) > 0 {
			return w
		}
	}
	return written{before: text}
}

// tagged reads <tool_call>{"name": ..., "arguments": ...}</tool_call>. Where a call ends is
// known by its JSON, as its texts may hold the closing mark.
func tagged(text string) written {
	w := written{shape: "hermes"}
	before, rest, _ := strings.Cut(text, openJSON)
	w.before = strings.TrimSpace(before)
	for more := true; more; {
		end := w.json(rest)
		if end == 0 {
			inside, _, _ := strings.Cut(rest, closeJSON)
			if !w.pairs(inside) {
				w.broken++
			}
			end = len(inside)
		}
		rest = rest[end:]
		_, rest, more = strings.Cut(rest, openJSON)
	}
	return w
}

// pairs reads a call as GLM writes it: its name, then arg_key and arg_value by turns.
func (w *written) pairs(inside string) bool {
	name, rest, ok := strings.Cut(inside, "<arg_key>")
	if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \n{<") {
		return false
	}
	args := lenientjson.Object{}
	for ok {
		var key, value string
		key, rest, _ = strings.Cut(rest, "</arg_key>")
		_, rest, _ = strings.Cut(rest, "<arg_value>")
		value, rest, _ = strings.Cut(rest, "</arg_value>")
		args.SetText(strings.TrimSpace(key), value)
		_, rest, ok = strings.Cut(rest, "<arg_key>")
	}
	w.calls = append(w.calls, session.Call{Tool: name, Args: args})
	return true
}

// json reads the calls that a text begins with, one value or several, objects or lists of
// them, and returns how many bytes they take; 0 when there is none.
func (w *written) json(text string) (end int) {
	rest := []byte(text)
	for {
		at := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,;"))
		if at == len(rest) || rest[at] != '{' && rest[at] != '[' {
			return end
		}
		data := bytes.Clone(rest[at:])
		lenientjson.RepairEscapes(data)
		dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		value, err := dec.ReadValue()
		if err != nil {
			return end
		}
		var calls body
		if value.Kind() == '{' {
			value = append(append(jsontext.Value("["), value...), ']')
		}
		if lenientjson.Decode(value, &calls) != nil {
			return end
		}
		found := 0
		for i := range calls.parts {
			n := &calls.parts[i]
			if len(n.calls) > 0 && n.tool == "" {
				n = &n.calls[0]
			}
			if n.tool == "" {
				continue
			}
			found++
			w.calls = append(w.calls, session.Call{ID: n.id, Tool: n.tool, Args: n.args.object, RawArgs: n.args.raw})
		}
		if found == 0 {
			return end
		}
		size := at + int(dec.InputOffset())
		end += size
		rest = rest[size:]
	}
}

// marked reads calls behind a mark: JSON, or a name before it as newer models of Mistral
// write it.
func marked(text, mark, shape string) written {
	w := written{shape: shape}
	before, rest, _ := strings.Cut(text, mark)
	w.before = strings.TrimSpace(before)
	if w.json(rest) > 0 {
		return w
	}
	for {
		name, args, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		name, _, _ = strings.Cut(strings.TrimSpace(name), "[")
		dec := jsontext.NewDecoder(strings.NewReader("{"+args), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		value, err := dec.ReadValue()
		var object lenientjson.Object
		if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, " \n") || err != nil || lenientjson.Decode(value, &object) != nil {
			break
		}
		w.calls = append(w.calls, session.Call{Tool: name, Args: object})
		_, rest, ok = strings.Cut(args[int(dec.InputOffset())-1:], mark)
		if !ok {
			break
		}
	}
	if len(w.calls) == 0 {
		w.before = text
		w.broken = 1
	}
	return w
}

// invoked reads <invoke name="x"><parameter name="k">v</parameter></invoke>.
func invoked(text string) written {
	w := written{shape: "invoke"}
	before, rest, _ := strings.Cut(text, openInvoke)
	before = strings.TrimSpace(before)
	for _, wrapper := range [...]string{"<function_calls>", "<tool_calls>"} {
		before = strings.TrimSpace(strings.TrimSuffix(before, wrapper))
	}
	w.before = before
	const openArg, closeArg, closeCall = `<parameter name="`, "</parameter>", "</invoke>"
	for ok := true; ok; {
		var name string
		name, rest, ok = strings.Cut(rest, `"`)
		if name = strings.TrimSpace(name); !ok || name == "" {
			w.broken++
			_, rest, ok = strings.Cut(rest, openInvoke)
			continue
		}
		_, rest, _ = strings.Cut(rest, ">")
		call := session.Call{Tool: name, Args: lenientjson.Object{}}
		for {
			at, end := strings.Index(rest, openArg), strings.Index(rest, closeCall)
			if at < 0 || end >= 0 && end < at {
				if end >= 0 {
					rest = rest[end+len(closeCall):]
				}
				break
			}
			var key, value string
			key, rest, _ = strings.Cut(rest[at+len(openArg):], `"`)
			_, rest, _ = strings.Cut(rest, ">")
			value, rest, _ = strings.Cut(rest, closeArg)
			value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
			call.Args.SetText(key, value)
		}
		w.calls = append(w.calls, call)
		_, rest, ok = strings.Cut(rest, openInvoke)
	}
	return w
}

// react reads the last Action and Action Input of a turn that reasons in lines.
func react(text string) written {
	w := written{shape: "react"}
	at := strings.LastIndex(text, reactInput)
	input := text[at+len(reactInput):]
	head := text[:at]
	from := strings.LastIndex(head, reactAction)
	if from < 0 || from > 0 && head[from-1] != '\n' {
		return w
	}
	name := strings.TrimSpace(head[from+len(reactAction):])
	if name == "" || strings.Contains(name, "\n") {
		return w
	}
	input, _, _ = strings.Cut(input, "\nObservation:")
	input = strings.TrimSpace(input)
	call := session.Call{Tool: strings.Trim(name, "`*[]"), Args: lenientjson.Object{}}
	if args, ok := lenientjson.Parse(input); ok {
		call.Args = args
	} else {
		call.Args.SetText("input", strings.Trim(input, "`"))
	}
	w.calls = append(w.calls, call)
	w.before = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(head[:from]), "Thought:"))
	return w
}

// readAnswers splits a text into the answers between marks; nil when it has none of them. An
// answer ends where the next one begins or the text does, as it may hold the closing mark.
func readAnswers(text string) []string {
	rest := strings.TrimSpace(text)
	if !strings.HasPrefix(rest, openAnswer) {
		return nil
	}
	var out []string
	for rest != "" {
		rest = strings.TrimPrefix(rest, openAnswer)
		inside, next := rest, ""
		for at := 0; ; {
			i := strings.Index(rest[at:], closeAnswer)
			if i < 0 {
				inside = strings.TrimSuffix(rest, closeAnswer)
				break
			}
			at += i
			behind := strings.TrimSpace(rest[at+len(closeAnswer):])
			if behind == "" || strings.HasPrefix(behind, openAnswer) {
				inside, next = rest[:at], behind
				break
			}
			at += len(closeAnswer)
		}
		inside = strings.TrimSuffix(strings.TrimPrefix(inside, "\n"), "\n")
		out = append(out, inside)
		rest = next
	}
	return out
}

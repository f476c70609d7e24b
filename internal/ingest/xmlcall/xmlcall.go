package xmlcall

import (
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// Call is a call as the text has it.
type Call struct {
	Name string
	Args lenientjson.Object // texts, never nil
}

const (
	openCall  = "<function="
	closeCall = "</function>"
	openArg   = "<parameter="
	closeArg  = "</parameter>"
)

// Parse returns the calls in a text and what stands before the first one; the whole text when
// there is none.
func Parse(text string) (before string, calls []Call) {
	for _, rest, ok := strings.Cut(text, openCall); ok; _, rest, ok = strings.Cut(rest, openCall) {
		name, body, closed := strings.Cut(rest, ">")
		if !closed || strings.ContainsAny(name, "<\n") {
			continue
		}
		if calls == nil {
			before = strings.TrimSpace(text[:len(text)-len(rest)-len(openCall)])
		}
		call := Call{Name: strings.TrimSpace(name), Args: lenientjson.Object{}}
		rest = call.arguments(body)
		calls = append(calls, call)
	}
	if calls == nil {
		return text, nil
	}
	return before, calls
}

// arguments reads the arguments up to the end of the call and returns what follows.
func (c *Call) arguments(body string) (rest string) {
	for {
		arg, end := strings.Index(body, openArg), strings.Index(body, closeCall)
		switch {
		case arg < 0 && end < 0:
			return ""
		case arg < 0 || end >= 0 && end < arg:
			return body[end+len(closeCall):]
		}
		name, value, ok := strings.Cut(body[arg+len(openArg):], ">")
		if !ok {
			return ""
		}
		value, body, ok = strings.Cut(value, closeArg)
		if !ok {
			value, body, _ = strings.Cut(value, closeCall)
			c.set(name, value)
			return body
		}
		c.set(name, value)
	}
}

func (c *Call) set(name, value string) {
	value = strings.TrimPrefix(strings.TrimPrefix(value, "\r"), "\n")
	value = strings.TrimSuffix(strings.TrimSuffix(value, "\n"), "\r")
	c.Args.SetText(strings.TrimSpace(name), value)
}

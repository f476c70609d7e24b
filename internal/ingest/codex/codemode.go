package codex

import (
	"regexp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
)

var (
	toolCall   = regexp.MustCompile(`\btools(?:\.([A-Za-z_]\w*)|\[["']([^"']+)["']\])\s*\(\s*`)
	assignment = regexp.MustCompile(`(?:const|let|var)\s+(\w+)\s*=\s*`)
	barename   = regexp.MustCompile(`^\w+`)
)

// codeCalls returns the calls of tools in a script of the tool "exec", in the order they are
// written in; none when the script calls no tool. A call whose argument is computed keeps the
// script as its text.
func codeCalls(script string) []session.Call {
	var calls []session.Call
	for _, m := range toolCall.FindAllStringSubmatchIndex(script, -1) {
		call := session.Call{}
		if m[2] >= 0 {
			call.Tool = script[m[2]:m[3]]
		} else {
			call.Tool = script[m[4]:m[5]]
		}
		argument := script[m[1]:]
		if name := barename.FindString(argument); name != "" {
			argument = assigned(script[:m[0]], name)
		}
		text, isText := literal(argument)
		object := objectOf(argument)
		switch {
		case isText:
			call.Args.SetText("input", text)
		case object != nil:
			call.Args = object
		default:
			call.RawArgs = script
		}
		calls = append(calls, call)
	}
	return calls
}

// assigned returns what stands behind the last assignment to a name, "" for none.
func assigned(script, name string) string {
	value := ""
	for _, m := range assignment.FindAllStringSubmatchIndex(script, -1) {
		if script[m[2]:m[3]] == name {
			value = script[m[1]:]
		}
	}
	return value
}

// literal returns the text of the JavaScript string that a script begins with.
func literal(script string) (text string, ok bool) {
	raw := strings.HasPrefix(script, "String.raw`")
	script = strings.TrimPrefix(script, "String.raw")
	if script == "" || !strings.ContainsRune("\"'`", rune(script[0])) {
		return "", false
	}
	quote := script[0]
	var b strings.Builder
	for i := 1; i < len(script); i++ {
		switch c := script[i]; {
		case c == quote:
			return b.String(), true
		case c == '\\' && !raw && i+1 < len(script):
			i++
			switch e := script[i]; e {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			case '\n':
			case 'u':
				end := min(i+5, len(script))
				b.WriteString(lenientjson.Unquote([]byte(`"\u` + script[i+1:end] + `"`)))
				i = end - 1
			default:
				b.WriteByte(e)
			}
		case quote == '`' && !raw && strings.HasPrefix(script[i:], "${"):
			return "", false // computed
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// objectOf returns the members of the object literal that a script begins with: names with
// and without quotes, values that are literals. nil when it is none or has others.
func objectOf(script string) lenientjson.Object {
	script, ok := strings.CutPrefix(script, "{")
	if !ok {
		return nil
	}
	out := lenientjson.Object{}
	for {
		script = strings.TrimLeft(script, " \t\r\n,")
		if strings.HasPrefix(script, "}") {
			return out
		}
		m := member.FindStringSubmatch(script)
		if m == nil {
			return nil
		}
		name := strings.Trim(m[1], `"'`)
		script = script[len(m[0]):]
		if text, ok := literal(script); ok {
			out.SetText(name, text)
			script = script[literalLen(script):]
			continue
		}
		value := plain.FindString(script)
		if value == "" {
			return nil
		}
		out.Set(name, []byte(value))
		script = script[len(value):]
	}
}

var (
	member = regexp.MustCompile(`^("\w+"|'\w+'|\w+)\s*:\s*`)
	plain  = regexp.MustCompile(`^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false|null)`)
)

// literalLen is the length of the string literal that a script begins with.
func literalLen(script string) int {
	start := 0
	raw := strings.HasPrefix(script, "String.raw")
	if raw {
		start = len("String.raw")
	}
	for i := start + 1; i < len(script); i++ {
		switch script[i] {
		case '\\':
			if !raw {
				i++
			}
		case script[start]:
			return i + 1
		}
	}
	return len(script)
}

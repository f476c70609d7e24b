package openhands

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// editorCall unpacks code that calls the editor, as logs before 2024-12-21 hold it:
// print(file_editor(**{'command': 'view', 'path': '/testbed'})). The arguments come back as
// those of an edit action.
func editorCall(code string) (lenientjson.Object, bool) {
	body, ok := strings.CutPrefix(strings.TrimSpace(code), "print(file_editor(**")
	if !ok {
		return nil, false
	}
	p := literalParser{text: body}
	args, ok := p.dict()
	if !ok || strings.TrimSpace(p.text) != "))" || args.Get("command") == nil {
		return nil, false
	}
	return args, true
}

// literalParser reads the Python literals that a tool call's arguments are made of. text is
// what is left to read.
type literalParser struct{ text string }

// eat skips blanks and the given token.
func (p *literalParser) eat(token string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.text, " \t\r\n"), token)
	if ok {
		p.text = rest
	}
	return ok
}

// maxArguments is more than an editor's call has; a longer dictionary is none.
const maxArguments = 64

func (p *literalParser) dict() (lenientjson.Object, bool) {
	if !p.eat("{") {
		return nil, false
	}
	out := lenientjson.Object{}
	for !p.eat("}") {
		name, ok := p.str()
		if !ok || !p.eat(":") || len(out) == maxArguments {
			return nil, false
		}
		value, ok := p.value()
		if !ok {
			return nil, false
		}
		out.Set(name, value)
		if !p.eat(",") && !strings.HasPrefix(strings.TrimLeft(p.text, " \t\r\n"), "}") {
			return nil, false
		}
	}
	return out, true
}

// value reads a string, a number, a constant, or a list of numbers, and returns it as JSON.
func (p *literalParser) value() (jsontext.Value, bool) {
	for _, constant := range [...][2]string{{"None", "null"}, {"True", "true"}, {"False", "false"}} {
		if p.eat(constant[0]) {
			return jsontext.Value(constant[1]), true
		}
	}
	if p.eat("[") {
		list := []byte{'['}
		for !p.eat("]") {
			n, ok := p.integer()
			if !ok {
				return nil, false
			}
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = strconv.AppendInt(list, n, 10)
			p.eat(",")
		}
		return append(list, ']'), true
	}
	if n, ok := p.integer(); ok {
		return strconv.AppendInt(nil, n, 10), true
	}
	s, ok := p.str()
	if !ok {
		return nil, false
	}
	return lenientjson.Quote(s), true
}

func (p *literalParser) integer() (int64, bool) {
	text := strings.TrimLeft(p.text, " \t\r\n")
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[end] == '-') {
		end++
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		return 0, false
	}
	p.text = text[end:]
	return n, true
}

// str reads a string literal between single or double quotes, or three of them.
func (p *literalParser) str() (string, bool) {
	text := strings.TrimLeft(p.text, " \t\r\n")
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return "", false
	}
	end := text[:1]
	if triple := strings.Repeat(end, 3); strings.HasPrefix(text, triple) {
		end = triple
	}
	text = text[len(end):]
	var b strings.Builder
	for text != "" {
		if rest, ok := strings.CutPrefix(text, end); ok {
			p.text = rest
			return b.String(), true
		}
		if text[0] != '\\' {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		var ok bool
		if text, ok = unescape(&b, text[1:]); !ok {
			return "", false
		}
	}
	return "", false
}

// unescape writes the character that the escape at the beginning of text stands for and
// returns what follows. An unknown escape stands for itself.
func unescape(b *strings.Builder, text string) (rest string, ok bool) {
	if text == "" {
		return "", false
	}
	digits := 0
	switch c := text[0]; c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case '\\', '\'', '"':
		b.WriteByte(c)
	case '\n':
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		b.WriteByte('\\')
		return text, true
	}
	text = text[1:]
	if digits == 0 {
		return text, true
	}
	if len(text) < digits {
		return "", false
	}
	n, err := strconv.ParseUint(text[:digits], 16, 32)
	if err != nil || n > utf8.MaxRune {
		return "", false
	}
	if n == 0 {
		n = utf8.RuneError // as everywhere in a record
	}
	b.WriteRune(rune(n))
	return text[digits:], true
}

package states

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// outline is what a piece of Python source defines, in order of appearance. Names may
// repeat.
type outline struct {
	functions []string
	classes   []string
	imports   []string // statements as written
	methods   []method // functions inside a class, at any depth
}

type method struct{ class, name string }

// scope names the place a piece of source is about: its first method with its class, else
// the alphabetically first class and function it defines.
func (o *outline) scope() (class, function string) {
	if len(o.methods) > 0 {
		return o.methods[0].class, o.methods[0].name
	}
	if len(o.classes) > 0 {
		class = slices.Min(o.classes)
	}
	if len(o.functions) > 0 {
		function = slices.Min(o.functions)
	}
	return class, function
}

// outlinePython outlines a piece of Python source, which need not be complete: it may
// begin or end anywhere, as the old text of an edit does. A definition counts when its
// header is whole.
//
// A piece that begins inside of a string has its first triple quote closing, not opening:
// then definitions seem to stand in the first string.
func outlinePython(src string) outline {
	src = strings.TrimPrefix(src, "\ufeff")
	out, hidden := outlineFrom(src, 0)
	if hidden == 0 {
		return out
	}
	if start := behindCutString(src); start > 0 {
		if rest, fewer := outlineFrom(src, start); fewer < hidden {
			return rest
		}
	}
	return out
}

// outlineFrom outlines what follows an offset. hidden counts the definitions inside of
// the first triple quotes.
func outlineFrom(src string, start int) (out outline, hidden int) {
	var open []block
	p := pythonScanner{src: src, pos: start}
	for line, ok := p.next(); ok; line, ok = p.next() {
		for len(open) > 0 && open[len(open)-1].indent >= line.indent {
			open = open[:len(open)-1]
		}
		name, isClass := parseDefinition(line.text)
		switch {
		case name != "" && isClass:
			out.classes = append(out.classes, name)
			open = append(open, block{line.indent, name})
		case name != "":
			out.functions = append(out.functions, name)
			if len(open) > 0 {
				out.methods = append(out.methods, method{open[len(open)-1].class, name})
			}
		default:
			if statement := importStatement(line.text); statement != "" {
				out.imports = append(out.imports, statement)
			}
		}
	}
	return out, p.hidden
}

// behindCutString returns the offset behind the first triple quote when it may end a
// string that the piece begins in: it ends its line, and text stands before it that
// defines nothing and does not expect a string. Otherwise it returns 0.
func behindCutString(src string) int {
	at := strings.Index(src, `"""`)
	if single := strings.Index(src, "'''"); at < 0 || single >= 0 && single < at {
		at = single
	}
	if at < 0 {
		return 0
	}
	before := strings.TrimRight(src[:at], " \t\r\nrRbBfFuU")
	behind, _, _ := strings.Cut(src[at+3:], "\n")
	if before == "" || strings.ContainsRune("=([{,+%\\", rune(before[len(before)-1])) || strings.TrimSpace(behind) != "" {
		return 0
	}
	if o, _ := outlineFrom(before, 0); len(o.functions)+len(o.classes) > 0 {
		return 0
	}
	return at + 3
}

// block is an open class body.
type block struct {
	indent int
	class  string
}

// pythonLine is a logical line: what stands between two newlines that count.
type pythonLine struct {
	indent int
	text   string // without the comment at its end
}

// pythonScanner splits source into logical lines. It knows strings, comments, brackets and
// joined lines, and recovers from pieces of source: a triple quote that never ends is
// skipped, and a def or class at the start of a line ends every open bracket.
type pythonScanner struct {
	src    string
	pos    int
	triple bool // a string in triple quotes was met
	hidden int  // lines inside of the first one that would define something
}

// next returns the next logical line that is not blank.
func (p *pythonScanner) next() (pythonLine, bool) {
	for p.pos < len(p.src) {
		indent := p.indent()
		start := p.pos
		end := p.logicalEnd()
		text := strings.TrimRight(p.src[start:end], " \t\r\n\\")
		if text != "" {
			return pythonLine{indent, text}, true
		}
	}
	return pythonLine{}, false
}

// indent skips the blanks at the start of a line and returns their width.
func (p *pythonScanner) indent() int {
	width := 0
	for ; p.pos < len(p.src); p.pos++ {
		switch p.src[p.pos] {
		case ' ':
			width++
		case '\t':
			width += 8 - width%8
		case '\f', '\r':
		default:
			return width
		}
	}
	return width
}

// logicalEnd moves behind the newline that ends the logical line and returns where its
// code ends.
func (p *pythonScanner) logicalEnd() int {
	depth := 0
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case '\n':
			end := p.pos
			p.pos++
			if depth == 0 || p.startsDefinition() {
				return end
			}
			continue
		case '#':
			end := p.pos
			p.skipComment()
			if depth == 0 {
				p.pos = min(p.pos+1, len(p.src))
				return end
			}
			continue
		case '\\':
			p.pos++
			if strings.HasPrefix(p.src[p.pos:], "\r\n") {
				p.pos++
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case '"', '\'':
			p.skipString()
			continue
		}
		p.pos++
	}
	p.pos = len(p.src)
	return len(p.src)
}

func (p *pythonScanner) startsDefinition() bool {
	line := strings.TrimLeft(p.src[p.pos:min(p.pos+120, len(p.src))], " \t")
	return strings.HasPrefix(line, "def ") || strings.HasPrefix(line, "class ") || strings.HasPrefix(line, "async def ")
}

func (p *pythonScanner) skipComment() {
	if n := strings.IndexByte(p.src[p.pos:], '\n'); n >= 0 {
		p.pos += n
		return
	}
	p.pos = len(p.src)
}

// skipString moves behind the string that begins here; behind its quotes alone when it
// never ends.
func (p *pythonScanner) skipString() {
	quote := p.src[p.pos : p.pos+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.src[p.pos:], triple) {
		p.pos += 3
		if n := endOfString(p.src[p.pos:], triple); n >= 0 {
			if !p.triple {
				p.hidden = definitions(p.src[p.pos : p.pos+n])
			}
			p.pos += n
		}
		p.triple = true
		return
	}
	p.pos++
	line := p.src[p.pos:]
	if n := endOfString(line, quote); n >= 0 {
		p.pos += n
	}
}

// definitions counts the lines of a text that define a function or a class.
func definitions(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if name, _ := parseDefinition(strings.TrimLeft(line, " \t")); name != "" {
			n++
		}
	}
	return n
}

// endOfString returns the offset behind the closing quote, -1 when there is none. A string
// with one quote ends with its line.
func endOfString(text, quote string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '\n' && len(quote) == 1:
			return -1
		case text[i] == quote[0] && strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		}
	}
	return -1
}

// parseDefinition returns the name that the header of a function or a class defines, ""
// when the line is none or its colon is missing.
func parseDefinition(line string) (name string, class bool) {
	rest, class := keyword(line, "class")
	if !class {
		if after, async := keyword(line, "async"); async {
			line = after
		}
		var function bool
		if rest, function = keyword(line, "def"); !function {
			return "", false
		}
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if end <= 0 || !hasHeaderEnd(rest[end:]) {
		return "", false
	}
	return rest[:end], class
}

// hasHeaderEnd reports whether a colon outside of brackets and strings follows.
func hasHeaderEnd(text string) bool {
	p := pythonScanner{src: text}
	depth := 0
	for p.pos < len(text) {
		switch text[p.pos] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ':':
			if depth == 0 {
				return true
			}
		case '#':
			p.skipComment()
			continue
		case '"', '\'':
			p.skipString()
			continue
		}
		p.pos++
	}
	return false
}

// keyword returns what follows a word and the blanks behind it.
func keyword(text, word string) (rest string, ok bool) {
	after, ok := strings.CutPrefix(text, word)
	if !ok {
		return "", false
	}
	rest = strings.TrimLeft(after, " \t\\\r\n")
	return rest, len(rest) < len(after) && rest != ""
}

// importStatement returns the import statement that a logical line is, "" when it is none.
// A backslash inside of a line ends it: the source is escaped, as in a string.
func importStatement(line string) string {
	if rest, ok := keyword(line, "import"); ok {
		if r, _ := utf8.DecodeRuneInString(rest); r != '_' && !unicode.IsLetter(r) {
			return ""
		}
	} else if rest, ok := keyword(line, "from"); !ok || !strings.Contains(rest, " import") {
		return ""
	}
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && !strings.HasPrefix(line[i+1:], "\n") && !strings.HasPrefix(line[i+1:], "\r\n") {
			return line[:i]
		}
	}
	return line
}

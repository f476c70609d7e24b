package equiv

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// command is a terminal command prepared for comparison.
type command struct {
	text   string // normalised
	first  string // first word of text
	group  group
	target string
	words  []string // of the target of a search, sorted, distinct
}

type group uint8

const (
	noGroup group = iota
	search
	view
	execute
)

// newCommand normalises a trimmed command and finds its group and target.
func newCommand(raw string) *command {
	text := strings.ToLower(strings.Join(strings.Fields(unifyPrograms(skipCD(raw))), " "))
	c := &command{text: text}
	c.first, _, _ = strings.Cut(text, " ")
	c.classify()
	return c
}

// compare returns the zero Verdict when the commands decide nothing.
func (c *command) compare(o *command) Verdict {
	if c.text == o.text {
		return yes(0.9, Terminal)
	}
	if c.group != noGroup && c.group == o.group {
		if c.target == "" || o.target == "" {
			return yes(0.7, Terminal)
		}
		if c.target == o.target {
			return yes(0.85, Terminal)
		}
		if c.group == search {
			if sim := wordJaccard(c.words, o.words); sim >= 0.5 {
				return yes(0.7+float64(sim*0.15), Terminal)
			}
		}
	}
	if c.first != "" && c.first == o.first {
		return yes(0.75, Terminal)
	}
	return Verdict{}
}

func isSpace(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r' || c >= 0x1c && c <= 0x1f
}

// skipCD removes one leading change of directory. Its directory is one word without & and ;.
func skipCD(s string) string {
	rest, ok := strings.CutPrefix(s, "cd")
	if !ok || rest == "" || !isSpace(rest[0]) {
		return s
	}
	i := 0
	skip := func(while func(byte) bool) bool {
		start := i
		for i < len(rest) && while(rest[i]) {
			i++
		}
		return i > start
	}
	operator := func(c byte) bool { return c == '&' || c == ';' }
	skip(isSpace)
	if !skip(func(c byte) bool { return !isSpace(c) && !operator(c) }) {
		return s
	}
	skip(isSpace)
	if !skip(operator) {
		return s
	}
	skip(isSpace)
	return rest[i:]
}

var npmShort = regexp.MustCompile(`\bnpm i\b`)

// unifyPrograms writes python3 as python and "npm i" as "npm install", as whole words.
func unifyPrograms(s string) string {
	if strings.Contains(s, "python3") {
		var b strings.Builder
		at := 0
		for {
			n := strings.Index(s[at:], "python3")
			if n < 0 {
				break
			}
			start, end := at+n, at+n+len("python3")
			b.WriteString(s[at:start])
			if (start == 0 || !isWord(s[start-1])) && (end == len(s) || !isWord(s[end])) {
				b.WriteString("python")
			} else {
				b.WriteString("python3")
			}
			at = end
		}
		b.WriteString(s[at:])
		s = b.String()
	}
	if strings.Contains(s, "npm i") {
		s = npmShort.ReplaceAllString(s, "npm install")
	}
	return s
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// hasWord reports whether s starts with one of the words as a whole word.
func hasWord(s string, words ...string) bool {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	for _, w := range words {
		if s[:n] == w {
			return true
		}
	}
	return false
}

// indexWord returns the first position of word as a whole word, -1 when there is none.
func indexWord(s, word string) int {
	for at := 0; ; {
		n := strings.Index(s[at:], word)
		if n < 0 {
			return -1
		}
		start := at + n
		at = start + len(word)
		if (start == 0 || !isWord(s[start-1])) && (at == len(s) || !isWord(s[at])) {
			return start
		}
	}
}

var viewExtensions = []string{
	".py", ".js", ".ts", ".c", ".h", ".java", ".rs", ".go", ".rb", ".txt", ".md", ".json", ".yaml", ".yml",
	".toml", ".cfg", ".ini",
}

var interpreters = []string{"python", "node", "bash", "sh", "ruby", "perl"}

// classify sets the group and its target. The text has single spaces between its words.
func (c *command) classify() {
	s := c.text
	switch {
	case hasWord(s, "grep", "rg", "ag", "ack", "fgrep", "egrep") || indexWord(s, "grep") >= 0:
		c.group, c.target = search, searchTarget(s)
		c.words = wordSet(c.target)
	case hasWord(s, "cat", "head", "tail", "less", "more") || strings.HasPrefix(s, "sed n") || strings.HasPrefix(s, "sed -n"):
		c.group, c.target = view, viewTarget(s)
	default:
		for _, name := range interpreters {
			if strings.HasPrefix(s, name+" ") {
				c.group, c.target = execute, executeTarget(s)
				return
			}
		}
	}
}

// searchTarget is the first quoted text, else the first later word that is neither a flag
// nor an absolute path.
func searchTarget(s string) string {
	for at := 0; ; {
		n := strings.IndexAny(s[at:], `"'`)
		if n < 0 {
			break
		}
		start := at + n + 1
		if n = strings.IndexAny(s[start:], `"'`); n > 0 {
			return s[start : start+n]
		} else if n < 0 {
			break
		}
		at = start
	}
	_, rest, _ := strings.Cut(s, " ")
	for rest != "" {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		if word[0] != '-' && word[0] != '/' {
			return word
		}
	}
	return ""
}

// viewTarget is the last word that looks like a file.
func viewTarget(s string) string {
	for s != "" {
		n := strings.LastIndexByte(s, ' ')
		word := s[n+1:]
		if strings.IndexByte(word, '/') >= 0 {
			return word
		}
		for _, e := range viewExtensions {
			if strings.HasSuffix(word, e) {
				return word
			}
		}
		s = s[:max(n, 0)]
	}
	return ""
}

// executeTarget is the word after the first interpreter, which the text begins with.
func executeTarget(s string) string {
	_, rest, _ := strings.Cut(s, " ")
	word, _, _ := strings.Cut(rest, " ")
	return word
}

// sameWords reports whether two texts have the same words, whatever their case and the white
// space between them.
func sameWords(x, y string) bool {
	for {
		x, y = strings.TrimLeftFunc(x, unicode.IsSpace), strings.TrimLeftFunc(y, unicode.IsSpace)
		if x == "" || y == "" {
			return x == y
		}
		for {
			r, n := utf8.DecodeRuneInString(x)
			q, m := utf8.DecodeRuneInString(y)
			endX, endY := n == 0 || unicode.IsSpace(r), m == 0 || unicode.IsSpace(q)
			if endX && endY {
				break
			}
			if endX != endY || r != q && unicode.ToLower(r) != unicode.ToLower(q) {
				return false
			}
			x, y = x[n:], y[m:]
		}
	}
}

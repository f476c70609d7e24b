package stage

import (
	"slices"
	"strings"
)

// Command is a command line prepared for the predicates of the release labeler.
type Command struct {
	raw         string
	lower       string // raw, ASCII letters folded
	afterCDs    string // lower without leading cd steps, trimmed
	codeWriting bool
}

// ParseCommand prepares a command line. The zero Command is that of the empty one.
func ParseCommand(raw string) Command {
	c := Command{raw: raw, lower: lowerASCII(raw)}
	rest := skipSpace(c.lower, 0)
	for {
		next, ok := skipCD(c.lower, rest)
		if !ok {
			break
		}
		rest = next
	}
	c.afterCDs = trimSpace(c.lower[rest:])
	c.codeWriting = writesCode(c.afterCDs)
	return c
}

// skipCD skips one change of directory at i with the operator and white space after it.
// The directory runs to the first & or ;, whatever it holds.
func skipCD(s string, i int) (end int, ok bool) {
	if !strings.HasPrefix(s[i:], "cd") {
		return 0, false
	}
	i += len("cd")
	n := strings.IndexAny(s[i:], "&;")
	if n < 2 || !isSpace(s[i]) {
		return 0, false
	}
	i += n
	for i < len(s) && (s[i] == '&' || s[i] == ';') {
		i++
	}
	return skipSpace(s, i), true
}

// afterOneCD returns the position after leading white space and at most one cd step.
func (c *Command) afterOneCD() int {
	start := skipSpace(c.lower, 0)
	if end, ok := skipCD(c.lower, start); ok {
		return end
	}
	return start
}

// IsTest reports whether the command runs a test tool anywhere. There is no boundary after
// the tool's name: /testbed/tox.ini counts.
func (c *Command) IsTest() bool {
	s := c.lower
	for i := 0; i < len(s); i++ {
		if i > 0 {
			switch p := s[i-1]; {
			case isSpace(p), p == ';', p == '/', p == '&' && i > 1 && s[i-2] == '&':
			default:
				continue
			}
		}
		if startsTestRunner(s, i) {
			return true
		}
	}
	return false
}

func startsTestRunner(s string, i int) bool {
	switch s[i] {
	case 'p':
		if strings.HasPrefix(s[i:], "pytest") {
			return true
		}
		i, ok := pythonAt(s, i)
		if !ok {
			return false
		}
		if i, ok = gap(s, i); !ok {
			return false
		}
		if anyPrefix(s[i:], "test_", "tests/", "run_tests") != "" {
			return true
		}
		if j, ok := phrase(s, i, "-m"); ok {
			if j, ok = gap(s, j); ok {
				i = j
			}
		}
		return anyPrefix(s[i:], "pytest", "unittest") != ""
	case 'n':
		if strings.HasPrefix(s[i:], "nosetests") {
			return true
		}
		return hasPhrase(s, i, "npm", "test") || hasPhrase(s, i, "npm", "run", "test") ||
			hasPhrase(s, i, "npx", "jest") || hasPhrase(s, i, "npx", "mocha") || hasPhrase(s, i, "npx", "vitest")
	case 'j', 'm', 't':
		return anyPrefix(s[i:], "jest", "mocha", "tox") != "" || hasPhrase(s, i, "make", "test")
	case 'c', 'g', 'd':
		return hasPhrase(s, i, "cargo", "test") || hasPhrase(s, i, "go", "test") || hasPhrase(s, i, "dotnet", "test")
	}
	return false
}

func hasPhrase(s string, i int, words ...string) bool {
	_, ok := phrase(s, i, words...)
	return ok
}

// IsCleanup reports whether the command only tidies the workspace, or writes text into /tmp.
func (c *Command) IsCleanup() bool {
	if c.afterCDs == "" {
		return false
	}
	return writesTmp(c.afterCDs) || c.onlyTidies()
}

func writesTmp(s string) bool {
	return redirects(s, []string{"cat", "echo", "printf", "tee"}, func(rest string) bool {
		return strings.HasPrefix(rest, "/tmp/")
	})
}

// redirects reports whether, on one line, one of the words with white space after it is
// followed by a > whose target satisfies accept. The white space may run over line ends,
// on both sides.
func redirects(s string, words []string, accept func(target string) bool) bool {
	if strings.IndexByte(s, '>') < 0 {
		return false
	}
	open := false
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '\n':
			open = false
		case '>':
			if open && accept(s[skipSpace(s, i+1):]) {
				return true
			}
		case 'c', 'e', 'p', 't':
			if open {
				break
			}
			if w := anyPrefix(s[i:], words...); w != "" {
				if end, ok := gap(s, i+len(w)); ok {
					open = true
					i = end
					continue
				}
			}
		}
		i++
	}
	return false
}

// onlyTidies looks at the whole command after its cd steps. Nothing may follow, so
// "git restore f" does not count.
func (c *Command) onlyTidies() bool {
	f := fields(c.afterCDs)
	switch f[0] {
	case "rm":
		return len(f) > 1 && !slices.ContainsFunc(f[1:len(f)-1], func(flag string) bool {
			return len(flag) < 2 || flag[0] != '-' || strings.Trim(flag[1:], "rfv") != ""
		})
	case "git":
		switch len(f) {
		case 2:
			return f[1] == "stash" || f[1] == "restore" || f[1] == "clean"
		case 3:
			return f[1] == "stash" && (f[2] == "pop" || f[2] == "drop" || f[2] == "apply") ||
				f[1] == "checkout" && f[2] == "--."
		case 4:
			return f[1] == "checkout" && f[2] == "--" && f[3] == "."
		}
	case "mkdir":
		blanks := len(c.lower) - len(strings.TrimRight(c.lower, "\t\n\f\r "))
		switch len(f) {
		case 1:
			return blanks >= 2
		case 2:
			return blanks >= 1 && (f[1] == "-" || f[1] == "p" || f[1] == "-p")
		}
	}
	return false
}

// IsCodeWriting reports whether the command writes source code: inline Python that opens a
// file, a here-document, a redirection or tee into a source file, or sed -i on one.
func (c *Command) IsCodeWriting() bool { return c.codeWriting }

var (
	// Nothing has to follow an extension, so .c also stands for .cfg and .csproj.
	sourceExtensions = []string{"py", "js", "ts", "java", "cs", "rb", "go", "rs", "cpp", "c", "h"}
	sedExtensions    = append(slices.Clone(sourceExtensions), "csproj", "json", "yaml", "yml", "xml", "toml")
	catExtensions    = append(slices.Clone(sedExtensions), "jsx", "tsx", "cfg", "ini", "sh")
)

func writesCode(s string) bool {
	if s == "" {
		return false
	}
	return redirects(s, []string{"echo", "printf"}, namesSource) ||
		inlinePythonWrites(s) || catWritesCode(s) || sedEditsCode(s) || teeWritesCode(s)
}

// namesSource reports whether the token at the start of s has a source extension that is
// not its beginning.
func namesSource(s string) bool {
	return hasExtension(s[:skipToken(s, 0)], sourceExtensions)
}

func hasExtension(token string, extensions []string) bool {
	for i := 1; i < len(token); i++ {
		if token[i] == '.' && anyPrefix(token[i+1:], extensions...) != "" {
			return true
		}
	}
	return false
}

// each calls visit with the position after every occurrence of word until it returns true.
func each(s, word string, visit func(end int) bool) bool {
	for at := 0; ; {
		n := strings.Index(s[at:], word)
		if n < 0 {
			return false
		}
		at += n + len(word)
		if visit(at) {
			return true
		}
	}
}

func inlinePythonWrites(s string) bool {
	return each(s, "python", func(i int) bool {
		if i < len(s) && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		i, ok := gap(s, i)
		if !ok {
			return false
		}
		if i, ok = phrase(s, i, "-c"); !ok {
			return false
		}
		if i, ok = gap(s, i); !ok || i >= len(s) || s[i] != '"' && s[i] != '\'' {
			return false
		}
		code := s[i+1:]
		return strings.Contains(code, "open(") || strings.Contains(code, "write(") ||
			each(code, "with", func(j int) bool {
				j, ok := gap(code, j)
				return ok && strings.HasPrefix(code[j:], "open")
			})
	})
}

func catWritesCode(s string) bool {
	if !strings.Contains(s, "<<") {
		return false
	}
	return each(s, "cat", func(i int) bool {
		i, ok := gap(s, i)
		if !ok || i >= len(s) || s[i] != '>' {
			return false
		}
		i = skipSpace(s, i+1)
		end := skipToken(s, i)
		for dot := i + 1; dot < end; dot++ {
			if s[dot] != '.' {
				continue
			}
			for _, e := range catExtensions {
				if strings.HasPrefix(s[dot+1:], e) && strings.HasPrefix(s[skipSpace(s, dot+1+len(e)):], "<<") {
					return true
				}
			}
		}
		return false
	})
}

func sedEditsCode(s string) bool {
	return each(s, "sed", func(i int) bool {
		i, ok := gap(s, i)
		if !ok || !strings.HasPrefix(s[i:], "-i") {
			return false
		}
		if i, ok = gap(s, i+len("-i")); !ok {
			return false
		}
		for dot := i + 1; dot < len(s) && s[dot-1] != '\n'; dot++ {
			if s[dot] == '.' && !isSpace(s[dot-1]) && anyPrefix(s[dot+1:], sedExtensions...) != "" {
				return true
			}
		}
		return false
	})
}

func teeWritesCode(s string) bool {
	return each(s, "tee", func(i int) bool {
		i, ok := gap(s, i)
		return ok && namesSource(s[i:])
	})
}

// SourcePath returns the first thing in the command that looks like a source file, "" when
// there is none: the longest run without quotes, white space and > that ends in a source
// extension. Case is kept.
func (c *Command) SourcePath() string {
	inRun := func(b byte) bool { return b != '"' && b != '\'' && b != '>' && !isSpace(b) }
	s := c.raw
	for start := 0; start < len(s); {
		if !inRun(s[start]) {
			start++
			continue
		}
		end := start
		for end < len(s) && inRun(s[end]) {
			end++
		}
		for dot := end - 1; dot > start; dot-- {
			if s[dot] != '.' {
				continue
			}
			longest := 0
			for _, e := range sourceExtensions {
				if strings.HasPrefix(s[dot+1:end], e) {
					longest = max(longest, len(e))
				}
			}
			if longest > 0 {
				return s[start : dot+1+longest]
			}
		}
		start = end
	}
	return ""
}

// IsInspection reports whether the command begins with a tool that only looks, after at
// most one cd.
func (c *Command) IsInspection() bool {
	s := c.lower[c.afterOneCD():]
	if anyPrefix(s, "grep", "rg", "ag", "ack") != "" {
		return true
	}
	if word := leadingWord(s); word != "" {
		switch word {
		case "find", "head", "tail", "less", "more", "wc", "ls", "dir", "tree", "file", "jq", "realpath":
			return true
		case "sed":
			i, ok := gap(s, len(word))
			return ok && (strings.HasPrefix(s[i:], "n") || strings.HasPrefix(s[i:], "-n"))
		case "git":
			i, ok := gap(s, len(word))
			return ok && anyPrefix(s[i:], "log", "show", "blame") != ""
		}
	}
	return false
}

// leadingWord returns the word characters at the start of s.
func leadingWord(s string) string {
	i := 0
	for i < len(s) && isWord(s[i]) {
		i++
	}
	return s[:i]
}

// IsCat reports whether the command begins with a cat that is not redirected at once, after
// at most one cd.
func (c *Command) IsCat() bool {
	s := c.lower[c.afterOneCD():]
	if leadingWord(s) != "cat" {
		return false
	}
	return !strings.HasPrefix(s[skipSpace(s, len("cat")):], ">")
}

// eachWord calls visit with every word (RE2 \w+) of s and the position after it, until it
// returns true.
func eachWord(s string, visit func(word string, end int) bool) bool {
	for i := 0; i < len(s); {
		if !isWord(s[i]) {
			i++
			continue
		}
		start := i
		for i < len(s) && isWord(s[i]) {
			i++
		}
		if visit(s[start:i], i) {
			return true
		}
	}
	return false
}

// IsRun reports whether the command executes a program, builds or fetches, and is not an
// inspection.
func (c *Command) IsRun() bool {
	s := trimSpace(c.lower[c.afterOneCD():])
	if s == "" || c.IsInspection() {
		return false
	}
	return eachWord(s, func(word string, end int) bool { return runsProgram(s, word, end) }) ||
		each(s, "./", func(end int) bool { return end < len(s) && !isSpace(s[end]) })
}

// runsProgram decides for the word of s that ends at end.
func runsProgram(s, word string, end int) bool {
	if rest, ok := strings.CutPrefix(word, "python"); ok && (rest == "" || len(rest) == 1 && '0' <= rest[0] && rest[0] <= '9') {
		return runsScript(s, end, "py") || runsModule(s, end)
	}
	switch word {
	case "node":
		return runsScript(s, end, "js", "ts", "mjs", "cjs")
	case "bash", "sh", "zsh", "ksh":
		return runsScript(s, end, "sh")
	case "ruby":
		return runsScript(s, end, "rb")
	case "php":
		return runsScript(s, end, "php")
	case "perl":
		return runsScript(s, end, "pl")
	case "java":
		next, ok := gap(s, end)
		return ok && next < len(s)
	case "make", "cmake", "uvicorn", "gunicorn":
		return true
	case "curl", "wget", "http", "https":
		return end < len(s) && isSpace(s[end])
	case "npx":
		next, ok := gap(s, end)
		return ok && eachWord(s[next:skipToken(s, next)], func(string, int) bool { return true })
	}
	var verbs []string
	switch word {
	case "cargo", "flask", "streamlit":
		verbs = []string{"run"}
	case "go", "dotnet":
		verbs = []string{"run", "build"}
	case "npm":
		verbs = []string{"start", "run", "exec"}
	case "yarn", "pnpm":
		verbs = []string{"start", "run"}
	case "pip":
		verbs = []string{"install"}
	case "mvn":
		verbs = []string{"compile", "package", "exec"}
	case "gradle":
		verbs = []string{"run", "build"}
	case "docker":
		verbs = []string{"run", "compose", "build"}
	default:
		return false
	}
	next, ok := gap(s, end)
	return ok && slices.Contains(verbs, leadingWord(s[next:]))
}

// runsScript reports whether the tokens after end are any number of flags and then one that
// holds, not at its beginning, one of the extensions as a whole word.
func runsScript(s string, end int, extensions ...string) bool {
	for {
		start, ok := gap(s, end)
		if !ok || start >= len(s) {
			return false
		}
		end = skipToken(s, start)
		for dot := start + 1; dot < end; dot++ {
			if s[dot] == '.' && slices.Contains(extensions, leadingWord(s[dot+1:end])) {
				return true
			}
		}
		if s[start] != '-' || end-start < 2 {
			return false
		}
	}
}

func runsModule(s string, end int) bool {
	i, ok := gap(s, end)
	if !ok || !strings.HasPrefix(s[i:], "-m") {
		return false
	}
	i, ok = gap(s, i+len("-m"))
	return ok && i < len(s)
}

// IsGitReview reports whether the command contains git diff or git status.
func (c *Command) IsGitReview() bool {
	s := c.lower
	return eachWord(s, func(word string, end int) bool {
		if word != "git" {
			return false
		}
		i, ok := gap(s, end)
		if !ok {
			return false
		}
		next := leadingWord(s[i:])
		return next == "diff" || next == "status"
	})
}

// IsModifying reports whether the command may change a file. Any > with something after it
// counts, 2>&1 as well.
func (c *Command) IsModifying() bool {
	s := c.lower
	if i := strings.IndexByte(s, '>'); i >= 0 && skipSpace(s, i+1) < len(s) {
		return true
	}
	return eachWord(s, func(word string, end int) bool {
		switch word {
		case "patch", "chmod", "mv", "cp", "install":
			return true
		case "tee", "rm":
			return end < len(s) && isSpace(s[end])
		case "sed":
			i, ok := gap(s, end)
			return ok && strings.HasPrefix(s[i:], "-i") && wordEnd(s, i+2)
		case "git":
			i, ok := gap(s, end)
			if !ok {
				return false
			}
			switch leadingWord(s[i:]) {
			case "restore":
				return true
			case "checkout":
				i, ok = gap(s, i+len("checkout"))
				return ok && strings.HasPrefix(s[i:], "--")
			}
		}
		return false
	})
}

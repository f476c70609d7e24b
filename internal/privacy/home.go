package privacy

import (
	"bytes"
	"strings"
)

// home finds a home directory: the word home or Users at i, n bytes long, between slashes,
// backslashes (also escaped ones) or, in a name that stands for a path, dashes, underscores
// or pairs of underscores.
func (s *scrubber) home(i, n int) {
	if s.keep || i == 0 {
		return
	}
	d := s.view.text
	sep := d[i-1]
	width := separator(d, i, i+n)
	if width == 0 || !s.absolute(i, n, sep) && !s.encoded(i, n, width) {
		return
	}
	at := i + n + width
	end := at + account(d[at:], sep, width)
	user := string(d[at:end])
	if user == "" || user == "." || user == ".." || common(user) || isFile(user) || strings.HasPrefix(user, "REDACTED") || isNumber(user) || sep == '/' && isRoute(d[:i-1]) || sep == '_' && width == 1 && !longer(d[end:]) {
		return
	}
	if sep == '/' || sep == '\\' {
		s.learn(name{word: user, kind: UserName, at: true})
	}
	s.replace(at, end, "user", HomePath)
}

// separator returns the length of the separator at d[at], 0 when it is not that before d[i]:
// a slash, perhaps escaped, a dash, one or two underscores, or as many backslashes.
func separator(d []byte, i, at int) int {
	const most = 16 // of a path in JSON in JSON in JSON
	from := i - 1
	switch d[from] {
	case '/':
		if from > 0 && d[from-1] == '\\' {
			from--
		}
	case '_':
		if from > 0 && d[from-1] == '_' {
			from--
		}
	case '\\':
		for from > 0 && i-from < most && d[from-1] == '\\' {
			from--
		}
	}
	if bytes.HasPrefix(d[at:], d[from:i]) {
		return i - from
	}
	return 0
}

// absolute reports whether the folder at i stands where home directories do: at the root, on
// a drive, or in a folder that they are mounted in. A folder of a project that is called home
// is none.
func (s *scrubber) absolute(i, n int, sep byte) bool {
	before := s.view.text[:i-1]
	windows := n == len("Users")
	switch sep {
	case '/':
		switch n := len(before); {
		case n == 0, n > 1 && before[n-2] == '-' && isAlnum(before[n-1]) && boundary(before, n-2), // -I/home
			boundary(s.view.text, n) && strings.IndexByte(")}]>-.~*", before[n-1]) < 0:
			return s.view.text[i] != 'u' || drive(before)
		}
		for _, mount := range mounts {
			if bytes.HasSuffix(before, []byte(mount)) {
				return !windows
			}
		}
		return windows && drive(before)
	case '\\':
		before = bytes.TrimRight(before, `\`)
		return windows && (drive(before) || onServer(before))
	}
	return false
}

// encoded reports whether the folder at i stands where home directories do in a name that was
// made of a path, with a separator of that width for its slashes.
func (s *scrubber) encoded(i, n, width int) bool {
	sep, before := string(s.view.text[i-width:i]), s.view.text[:i-width]
	if sep[0] != '-' && sep[0] != '_' || s.view.text[i] == 'u' {
		return false
	}
	if begins(before, sep) {
		return true
	}
	if n == len("home") {
		for _, mount := range mounts {
			if rest, ok := bytes.CutSuffix(before, []byte(sep+mount[1:])); ok && begins(rest, sep) {
				return true
			}
		}
		return false
	}
	if rest, ok := bytes.CutSuffix(before, []byte(sep)); ok && len(rest) > 0 && isAlnum(rest[len(rest)-1]) { // C:
		return begins(rest[:len(rest)-1], sep)
	}
	if len(before) > 0 && isAlnum(before[len(before)-1]) { // /mnt/c
		rest, ok := bytes.CutSuffix(before[:len(before)-1], []byte(sep+"mnt"+sep))
		return ok && begins(rest, sep)
	}
	return false
}

// begins reports whether a name that was made of a path may begin behind before. One
// underscore begins many other names.
func begins(before []byte, sep string) bool {
	if len(before) == 0 {
		return true
	}
	switch before[len(before)-1] {
	case '/', '\\':
		return true
	case '"', ' ':
		return sep != "_"
	}
	return false
}

// longer reports whether a name that was made of a path goes on behind that of the user, and
// not as that of a page or source file.
func longer(d []byte) bool {
	rest := string(d[:run(d, func(c byte) bool { return isWord(c) || c == '-' || c == '.' })])
	return strings.HasPrefix(rest, "_") && !isFile(rest)
}

// mounts are folders that home directories are mounted in.
var mounts = [...]string{"/var", "/export", "/mnt", "/usr", "/nfs", "/net", "/data"}

// drive reports whether a path begins with a drive: C: or, below /mnt or /, c.
func drive(before []byte) bool {
	n := len(before)
	switch {
	case n >= 2 && before[n-1] == ':' && isAlnum(before[n-2]):
		return true
	case n >= 2 && isAlnum(before[n-1]) && before[n-2] == '/':
		return n == 2 || bytes.HasSuffix(before[:n-2], []byte("/mnt")) || !isWord(before[n-3])
	}
	return false
}

// onServer reports whether a path is that of a share or drive of another machine: \\box,
// \\box\C$.
func onServer(before []byte) bool {
	isHost := func(c byte) bool { return isWord(c) || c == '.' || c == '-' }
	if rest, ok := bytes.CutSuffix(before, []byte("$")); ok {
		before = bytes.TrimRight(rest[:len(rest)-back1(rest, isAlnum)], `\`)
	}
	n := back1(before, isHost)
	return n > 0 && bytes.HasSuffix(before[:len(before)-n], []byte(`\\`))
}

// isRoute reports whether a path is named as one of a web site: as the target of a request,
// a link or a router.
func isRoute(before []byte) bool {
	for _, word := range [...]string{"GET ", "POST ", "PUT ", "PATCH ", "DELETE ", "HEAD ", "href=", "to=", "src=", "action=", "route(", ".get(", ".post(", ".push(", ".replace(", "navigate(", "redirect(", "fetch(", "url(", "re_path(", " path("} {
		if bytes.HasSuffix(bytes.TrimRight(before, "\"'`\\"), []byte(word)) {
			return true
		}
	}
	return false
}

func isNumber(name string) bool { return strings.Trim(name, "0123456789") == "" }

// account returns the length of the name of an account at the beginning of d. Names on
// Windows may have spaces when a separator as wide as the one before ends them.
func account(d []byte, sep byte, width int) int {
	const longest = 64
	n := 0
scan:
	for n < len(d) {
		switch c := d[n]; {
		case c == '_' && (sep == '-' || sep == '_' && (width == 1 || n+1 < len(d) && d[n+1] == '_')):
			break scan
		case isWord(c), c == '.', c == '-' && sep != '-':
			n++
		case c == '\\' && escaped(d[n+slashes(d[n:])-1:]):
			n += slashes(d[n:]) + 5
		case c == ' ' && sep == '\\':
			more := n + run(d[n:], func(c byte) bool { return isWord(c) || c == ' ' || c == '-' || c == '.' })
			if more <= longest && run(d[more:], func(c byte) bool { return c == '\\' }) == width {
				return more
			}
			break scan
		default:
			break scan
		}
	}
	if n > longest {
		return 0
	}
	for n > 0 && d[n-1] == '.' {
		n--
	}
	return n
}

func slashes(d []byte) int { return run(d, func(c byte) bool { return c == '\\' }) }

// escaped reports whether d begins with the escape of a letter beyond ASCII.
func escaped(d []byte) bool {
	if len(d) < 6 || d[1] != 'u' {
		return false
	}
	for _, c := range d[2:6] {
		if c-'0' >= 10 && c|0x20-'a' >= 6 {
			return false
		}
	}
	return d[2] != '0' || d[3] != '0' || d[4] >= '8'
}

// isFile reports whether a name below /home is that of a page or source file.
func isFile(name string) bool {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return false
	}
	switch name[at:] {
	case ".html", ".htm", ".py", ".js", ".ts", ".tsx", ".jsx", ".css", ".md", ".rst", ".txt", ".json", ".php", ".go", ".rs", ".java", ".vue":
		return true
	}
	return false
}

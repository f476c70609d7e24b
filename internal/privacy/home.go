package privacy

import (
	"bytes"
	"strings"
)

// home finds a home directory: the word home or Users at i, n bytes long, between slashes,
// backslashes (also escaped ones) or, in names that stand for a path, dashes.
func (s *scrubber) home(i, n int) {
	if s.keep || i == 0 {
		return
	}
	d := s.text
	sep := d[i-1]
	width := separator(d, i, i+n)
	if width == 0 || !s.absolute(i, n, sep) {
		return
	}
	at := i + n + width
	end := at + account(d[at:], sep, width)
	user := string(d[at:end])
	if user == "" || user == "." || user == ".." || common(user) || isFile(user) {
		return
	}
	if sep != '-' {
		s.learn(name{word: user, kind: UserName, at: true})
	}
	s.replace(at, end, "user", HomePath)
}

// separator returns the length of the separator at d[at], 0 when it is not that before d[i]:
// a slash, perhaps escaped, a dash, or as many backslashes.
func separator(d []byte, i, at int) int {
	const most = 16 // of a path in JSON in JSON in JSON
	from := i - 1
	switch d[from] {
	case '/':
		if from > 0 && d[from-1] == '\\' {
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
	before := s.text[:i-1]
	windows := n == len("Users")
	switch sep {
	case '/':
		switch n := len(before); {
		case n == 0, n > 1 && before[n-2] == '-' && isAlnum(before[n-1]) && boundary(before, n-2), // -I/home
			boundary(s.text, n) && strings.IndexByte(")}]>-.~*", before[n-1]) < 0:
			return s.text[i] != 'u' || drive(before)
		}
		for _, mount := range [...]string{"/var", "/export", "/mnt", "/usr", "/nfs", "/net", "/data"} {
			if bytes.HasSuffix(before, []byte(mount)) {
				return !windows
			}
		}
		return windows && drive(before)
	case '\\':
		return windows && drive(bytes.TrimRight(before, `\`))
	case '-':
		return s.text[i] != 'u' && len(before) > 0 && strings.IndexByte(`/\" `, before[len(before)-1]) >= 0
	}
	return false
}

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

// account returns the length of the name of an account at the beginning of d. Names on
// Windows may have spaces when a separator as wide as the one before ends them.
func account(d []byte, sep byte, width int) int {
	const longest = 64
	n := 0
scan:
	for n < len(d) {
		switch c := d[n]; {
		case isWord(c) && (sep != '-' || c != '_'), c == '.', c == '-' && sep != '-':
			n++
		case c == '\\' && escaped(d[n:]):
			n += 6
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

package privacy

import (
	"bytes"
	"slices"
	"strings"
)

// allRules is the index of every rule; it is only read.
var allRules = newIndex(slices.Concat(pathRules, tokenRules(), valueRules, peopleRules))

var pathRules = []rule{
	{words: []string{"/home", "-home", "_home", `\home`}, raw: true, find: func(s *scrubber, i int) { s.home(i+1, len("home")) }},
	{words: []string{"/Users", `\Users`, "-Users", "_Users", "/users", `\users`}, raw: true, find: func(s *scrubber, i int) { s.home(i+1, len("Users")) }},
	{words: []string{"~"}, hint: hintTilde, find: tilde},

	// Escapes that may hide a word: in a record, its string is looked at as it is meant.
	{words: []string{`\u0`, `\x2`, `\x3`, `\x4`, `\x5`, `\x6`, `\x7`}, hint: hintEscape, find: func(*scrubber, int) {}},
	{words: []string{"%"}, hint: hintPercent, find: func(*scrubber, int) {}},
}

// hintEscape passes the escapes of letters, digits and punctuation that need none.
func hintEscape(d []byte, i int) bool {
	if d[i+1] == 'x' {
		r, ok := hex(d[i+2:], 2)
		return ok && r > ' '
	}
	r, ok := hex(d[i+2:], 4)
	return ok && r > ' ' && r < 0x7f && r != '"' && r != '\\'
}

func hintPercent(d []byte, i int) bool {
	r, ok := hex(d[i+1:], 2)
	return ok && (r == '\n' || r >= ' ' && r < 0x7f || r >= 0xc2)
}

// hintTilde passes ~name/ at the beginning of a word.
func hintTilde(d []byte, i int) bool {
	n := run(d[i+1:], isLogin)
	return n >= shortestName && i+1+n < len(d) && (d[i+1+n] == '/') && d[i+1]-'a' < 26 && (i == 0 || strings.IndexByte(" \t\n\"'=(:`/", d[i-1]) >= 0 || d[i-1] == 'n' && isEscaped(d, i-1))
}

func isLogin(c byte) bool { return isWord(c) || c == '.' || c == '-' }

// tilde finds the name of a user whose home directory is meant.
func tilde(s *scrubber, i int) {
	d := s.view.text
	if s.keep || !hintTilde(d, i) {
		return
	}
	n := run(d[i+1:], isLogin)
	if user := string(d[i+1 : i+1+n]); !common(user) {
		s.learn(name{word: user, kind: UserName, at: true})
		s.replace(i+1, i+1+n, "user", HomePath)
	}
}

func back(d []byte, i int, word string) bool {
	return i >= len(word) && string(d[i-len(word):i]) == word
}

// run returns how many bytes at the beginning of d are in the class.
func run(d []byte, in func(byte) bool) int {
	n := 0
	for n < len(d) && in(d[n]) {
		n++
	}
	return n
}

// back1 returns how many bytes at the end of d are in the class.
func back1(d []byte, in func(byte) bool) int {
	n := 0
	for n < len(d) && in(d[len(d)-1-n]) {
		n++
	}
	return n
}

func isAlnum(c byte) bool      { return c-'0' < 10 || c|0x20-'a' < 26 }
func isName(c byte) bool       { return isAlnum(c) || c == '_' }
func isHex(c byte) bool        { return c-'0' < 10 || c|0x20-'a' < 6 }
func isUpperAlnum(c byte) bool { return c-'0' < 10 || c-'A' < 26 }
func isURLSafe(c byte) bool    { return isAlnum(c) || c == '-' || c == '_' }
func isDotted(c byte) bool     { return isURLSafe(c) || c == '.' }
func isBearer(c byte) bool     { return isURLSafe(c) || strings.IndexByte(".~+/=", c) >= 0 }
func isBase64(c byte) bool     { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
func isBlank(c byte) bool      { return c == ' ' || c == '\t' }

// inEscape reports whether d[i] is the letter of an escape such as \n.
func inEscape(d []byte, i int) bool {
	return i > 0 && i < len(d) && isEscaped(d, i) && strings.IndexByte("nrtbfu", d[i]) >= 0
}

func (k Kind) placeholder() string {
	switch k {
	case HomePath, UserName:
		return "user"
	case HostName:
		return "host"
	}
	return "REDACTED_" + strings.ToUpper(string(k))
}

// jwt finds a JSON web token: a header, a payload and a signature.
func jwt(s *scrubber, i int) {
	d := s.view.text
	if !boundary(d, i) {
		return
	}
	end := i
	for part := range 3 {
		n := run(d[end:], isURLSafe)
		if n < 10 {
			return
		}
		end += n
		if part < 2 {
			if end == len(d) || d[end] != '.' {
				return
			}
			end++
		}
	}
	s.replace(i, end, JWT.placeholder(), JWT)
}

// privateKey finds a block of a private key, also one that is cut before its end.
func privateKey(s *scrubber, i int) {
	d := s.view.text
	const dashes = "-----"
	if !back(d, i, dashes) {
		return
	}
	head := bytes.Index(d[i:min(len(d), i+60)], []byte("PRIVATE KEY"))
	if head < 0 {
		return
	}
	i -= len(dashes)
	end := i + len(dashes) + head
	end += run(d[end:], func(c byte) bool { return isUpperAlnum(c) || c == ' ' || c == '-' })
	body := end
	// Between the lines there may be headers, numbers of lines and marks of quotations.
	in := func(c byte) bool { return isBase64(c) || c >= 0x80 || strings.IndexByte(" \t\\\r\n:,._>|()", c) >= 0 }
	for {
		end += run(d[end:], in)
		if end == len(d) || d[end] != '-' || bytes.HasPrefix(d[end:], []byte(dashes)) {
			break
		}
		end++
	}
	if rest := d[end:]; bytes.HasPrefix(rest, []byte(dashes+"END ")) {
		end += run(rest, func(c byte) bool { return isUpperAlnum(c) || c == ' ' || c == '-' })
	} else if end-body < 64 {
		return // a mention, such as the pattern of a search
	}
	s.replace(i, end, PrivateKey.placeholder(), PrivateKey)
}

// metadata learns the names that a terminal's metadata states: "username" and "hostname"
// beside each other. i is the end of the second key.
func (s *scrubber) metadata(i int) {
	const near = 160
	d := s.view.text
	from, to := max(0, i-near), min(len(d), i+near)
	at := bytes.Index(d[from:to], []byte(`"username"`))
	if at < 0 {
		return
	}
	s.learn(name{word: value(d[i:]), kind: HostName})
	s.learn(name{word: value(d[from+at+len(`"username"`):]), kind: UserName})
}

// stated learns the name that an environment variable states. i is the first quote of the key.
func (s *scrubber) stated(i int, kind Kind) {
	d := s.view.text
	end := i + 1 + bytes.IndexByte(d[i+1:], '"') + 1
	s.learn(name{word: value(d[end:]), kind: kind})
}

// value returns the string behind a JSON key, "" when there is none of plain characters.
func value(d []byte) string {
	d = bytes.TrimLeft(d[:min(len(d), 300)], " \t\r\n")
	if len(d) == 0 || d[0] != ':' {
		return ""
	}
	d = bytes.TrimLeft(d[1:], " \t\r\n")
	if len(d) == 0 || d[0] != '"' {
		return ""
	}
	n := run(d[1:], isLogin)
	if 1+n >= len(d) || d[1+n] != '"' {
		return ""
	}
	return string(d[1 : 1+n])
}

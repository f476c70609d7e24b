package privacy

import (
	"bytes"
	"strings"
)

// rule finds one kind of private text by the beginning of a word in it.
type rule struct {
	words []string // at least three bytes each

	// find looks around the word at i of the text, and replaces what it finds or learns a
	// name.
	find func(s *scrubber, i int)
}

func (r *rule) begins(d []byte) bool {
	for _, w := range r.words {
		if len(d) >= len(w) && string(d[:len(w)]) == w {
			return true
		}
	}
	return false
}

var rules = []rule{
	{[]string{"/home", "-home", "_home"}, func(s *scrubber, i int) { s.home(i+1, len("home")) }},
	{[]string{"/Users", `\Users`, "-Users", "_Users", "/users", `\users`}, func(s *scrubber, i int) { s.home(i+1, len("Users")) }},
	{[]string{"sk-"}, modelKey},
	{[]string{"sk_live_", "rk_live_", "sk_test_", "rk_test_"}, func(s *scrubber, i int) {
		s.token(i, i+8, token{kind: StripeKey, least: 16, in: isAlnum, bound: true})
	}},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, func(s *scrubber, i int) {
		s.token(i, i+4, token{kind: GitHubToken, least: 30, in: isAlnum})
	}},
	{[]string{"_pat_"}, func(s *scrubber, i int) {
		if back(s.text, i, "github") {
			s.token(i-6, i+5, token{kind: GitHubToken, least: 22, in: isName})
		}
	}},
	{[]string{"lpat-"}, func(s *scrubber, i int) {
		if back(s.text, i, "g") {
			s.token(i-1, i+5, token{kind: GitLabToken, least: 20, in: isURLSafe})
		}
	}},
	{[]string{"AKIA", "ASIA"}, func(s *scrubber, i int) {
		s.token(i, i+4, token{kind: AWSKeyID, least: 16, most: 16, in: isUpperAlnum, bound: true})
	}},
	{[]string{"s_key", "S_KEY", "sKey"}, awsSecret},
	{[]string{"AIza"}, func(s *scrubber, i int) {
		s.token(i, i+4, token{kind: GoogleKey, least: 35, most: 35, in: isURLSafe, bound: true})
	}},
	{[]string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"}, func(s *scrubber, i int) {
		s.token(i, i+5, token{kind: SlackToken, least: 20, in: isURLSafe, digit: true})
	}},
	{[]string{"hf_"}, func(s *scrubber, i int) {
		s.token(i, i+3, token{kind: HuggingFace, least: 30, in: isAlnum, bound: true})
	}},
	{[]string{"pm_"}, func(s *scrubber, i int) {
		if back(s.text, i, "n") {
			s.token(i-1, i+3, token{kind: NPMToken, least: 36, most: 36, in: isAlnum, bound: true})
		}
	}},
	{[]string{"AgE"}, func(s *scrubber, i int) {
		if back(s.text, i, "pypi-") {
			s.token(i-5, i, token{kind: PyPIToken, least: 40, in: isURLSafe})
		}
	}},
	{[]string{"SG."}, func(s *scrubber, i int) {
		if end := i + 3 + run(s.text[i+3:], isURLSafe); end-i-3 >= 16 && end < len(s.text) && s.text[end] == '.' {
			s.token(i, end+1, token{kind: SendGridKey, least: 30, in: isURLSafe, bound: true})
		}
	}},
	{[]string{"_v1_"}, func(s *scrubber, i int) {
		for _, p := range [...]string{"dop", "doo", "dor"} {
			if back(s.text, i, p) {
				s.token(i-3, i+4, token{kind: DigitalOcean, least: 64, in: isAlnum})
			}
		}
	}},
	{[]string{"eyJ"}, jwt},
	{[]string{"BEGIN "}, privateKey},
	{[]string{"Bearer ", "bearer "}, func(s *scrubber, i int) {
		s.token(i+7, i+7, token{kind: BearerToken, least: 20, in: isBearer, digit: true})
	}},
	{[]string{"tname\""}, func(s *scrubber, i int) {
		if back(s.text, i, "\"hos") {
			s.metadata(i + len("tname\""))
		}
	}},
	{[]string{`"USER"`, `"USERNAME"`, `"LOGNAME"`}, func(s *scrubber, i int) { s.stated(i, UserName) }},
	{[]string{`"HOSTNAME"`, `"COMPUTERNAME"`}, func(s *scrubber, i int) { s.stated(i, HostName) }},
}

// masks have a bit for each rule, by the first three bytes of its words.
var masks = masksOf(rules)

func masksOf(rules []rule) (m [3][256]uint32) {
	for bit, r := range rules {
		for _, w := range r.words {
			for j := range m {
				m[j][w[j]] |= 1 << bit
			}
		}
	}
	return m
}

// starts has the first and the second pair of bytes of each word, the earlier byte in the low
// half.
var starts = startsOf(rules)

func startsOf(rules []rule) *[1 << 16]bool {
	var pairs [1 << 16]bool
	for _, r := range rules {
		for _, w := range r.words {
			pairs[uint16(w[0])|uint16(w[1])<<8] = true
			pairs[uint16(w[1])|uint16(w[2])<<8] = true
		}
	}
	return &pairs
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

func isAlnum(c byte) bool      { return c-'0' < 10 || c|0x20-'a' < 26 }
func isName(c byte) bool       { return isAlnum(c) || c == '_' }
func isUpperAlnum(c byte) bool { return c-'0' < 10 || c-'A' < 26 }
func isURLSafe(c byte) bool    { return isAlnum(c) || c == '-' || c == '_' }
func isBearer(c byte) bool     { return isURLSafe(c) || strings.IndexByte(".~+/=", c) >= 0 }
func isBase64(c byte) bool     { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// token is the shape of a secret behind its prefix.
type token struct {
	kind        Kind
	least, most int // bytes behind the prefix; most 0 is no limit
	in          func(byte) bool
	bound       bool // the prefix begins a word
	digit       bool // there is a digit in it
}

// token replaces a secret whose prefix is text[from:rest].
func (s *scrubber) token(from, rest int, t token) {
	n := run(s.text[rest:], t.in)
	secret := s.text[rest : rest+n]
	switch {
	case n < t.least, t.most > 0 && n > t.most:
	case t.bound && !boundary(s.text, from), inEscape(s.text, from):
	case t.digit && !bytes.ContainsAny(secret, "0123456789"):
	default:
		s.replace(from, rest+n, t.kind.placeholder(), t.kind)
	}
}

// inEscape reports whether d[i] is the letter of an escape such as \n.
func inEscape(d []byte, i int) bool {
	before := len(bytes.TrimRight(d[:i], `\`))
	return (i-before)%2 == 1 && strings.IndexByte("nrtbfu", d[i]) >= 0
}

func (k Kind) placeholder() string { return "REDACTED_" + strings.ToUpper(string(k)) }

// modelKey finds the keys of model providers: sk-..., sk-proj-..., sk-ant-...
func modelKey(s *scrubber, i int) {
	t := token{kind: OpenAIKey, least: 20, in: isURLSafe, bound: true, digit: true}
	if bytes.HasPrefix(s.text[i:], []byte("sk-ant-")) {
		t.kind = AnthropicKey
	}
	s.token(i, i+3, t)
}

// awsSecret finds the value of a secret access key, which has no shape but its length.
func awsSecret(s *scrubber, i int) {
	d := s.text
	before := bytes.ToLower(d[max(0, i-len("secret_acces")):i])
	if !bytes.HasSuffix(before, []byte("secret_acces")) && !bytes.HasSuffix(before, []byte("secretacces")) {
		return
	}
	i += run(d[i:], isWord)
	const furthest = 8 // bytes of =, : and quotes between name and value
	i += min(furthest, run(d[i:], func(c byte) bool { return strings.IndexByte(" =:\\\"'", c) >= 0 }))
	if run(d[i:], isBase64) == 40 && !inEscape(d, i) {
		s.replace(i, i+40, AWSSecret.placeholder(), AWSSecret)
	}
}

// jwt finds a JSON web token: a header, a payload and a signature.
func jwt(s *scrubber, i int) {
	d := s.text
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
	d := s.text
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
	end += run(d[end:], func(c byte) bool { return isBase64(c) || strings.IndexByte(" \\\r\n:,._", c) >= 0 })
	if rest := d[end:]; bytes.HasPrefix(rest, []byte(dashes+"END ")) {
		end += run(rest, func(c byte) bool { return isUpperAlnum(c) || c == ' ' || c == '-' })
	} else if end-body < 64 {
		return // a mention, such as the pattern of a search
	}
	// What ends in a backslash would escape the quote behind it.
	for end > body && d[end-1] == '\\' {
		end--
	}
	s.replace(i, end, PrivateKey.placeholder(), PrivateKey)
}

// metadata learns the names that a terminal's metadata states: "username" and "hostname"
// beside each other. i is the end of the second key.
func (s *scrubber) metadata(i int) {
	const near = 160
	from, to := max(0, i-near), min(len(s.text), i+near)
	at := bytes.Index(s.text[from:to], []byte(`"username"`))
	if at < 0 {
		return
	}
	s.learn(name{word: value(s.text[i:]), kind: HostName})
	s.learn(name{word: value(s.text[from+at+len(`"username"`):]), kind: UserName})
}

// stated learns the name that an environment variable states. i is the first quote of the key.
func (s *scrubber) stated(i int, kind Kind) {
	end := i + 1 + bytes.IndexByte(s.text[i+1:], '"') + 1
	s.learn(name{word: value(s.text[end:]), kind: kind})
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
	n := run(d[1:], func(c byte) bool { return isWord(c) || c == '-' || c == '.' })
	if 1+n >= len(d) || d[1+n] != '"' {
		return ""
	}
	return string(d[1 : 1+n])
}

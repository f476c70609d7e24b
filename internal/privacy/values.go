package privacy

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// valueRules find secrets by what they are said to be.
var valueRules = []rule{
	{words: cases("secret", "passw", "passphrase", "token", "api_key", "api-key", "apikey", "access_key", "accesskey", "account_key", "accountkey",
		"private_key", "privatekey", "auth_key", "authkey", "signature", "encryption_key", "signing_key", "master_key", "role_key"),
		hint: hintAssignment, find: assigned},
	{words: []string{"apiKey", "ApiKey", "APIKey", "Api-Key", "Api_Key", "accessKey", "AccessKey", "AccountKey", "accountKey", "privateKey", "PrivateKey", "authKey", "AuthKey",
		"_KEY", "_PASS", "_pass", "_PWD", "_pwd", "_PW=", "_SALT", "?key=", "&key=", "?sig=", "&sig=", "pwd=", "Pwd=", "PWD=", "_auth", "X-Amz-", "x-amz-"},
		hint: hintAssignment, find: assigned},
	{words: []string{`"auth`}, hint: func(d []byte, i int) bool { return hintAssignment(d, i+1) }, find: func(s *scrubber, i int) { assigned(s, i+1) }},
	{words: []string{"uthorization", "UTHORIZATION"}, hint: hintHeader, find: authorization},
	{words: []string{"Bearer ", "bearer ", "BEARER "}, raw: true, find: bearer},
	{words: []string{"Basic ", "basic "}, hint: hintBasic, find: basic},
	{words: []string{"ookie", "OOKIE"}, hint: hintHeader, find: cookie},
	{words: []string{"passw"}, hint: func(d []byte, i int) bool { return netrcValue(d, i) > 0 }, find: netrc},
	{words: []string{" -u ", "--user "}, hint: func(d []byte, i int) bool { return bytes.Contains(d[max(0, i-200):i], []byte("curl")) }, find: curlUser},
	{words: []string{"ivate key", "ivate_key", "ivateKey", "ecretKey", "ecret_key"}, raw: true, find: numbers},
}

// cases returns words as they are, in capitals, and with a capital first.
func cases(words ...string) (out []string) {
	for _, w := range words {
		out = append(out, w, strings.ToUpper(w), strings.ToUpper(w[:1])+w[1:])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// assignment is a name and the value that is given to it.
type assignment struct {
	key, value string
	quoted     bool // the value stands in quotes
	colon      bool // as in YAML and JSON, else as in a shell
	spaced     bool // blanks around an equals sign
	query      bool // in the address of a page
	flag       bool // --key value
	last       bool // nothing stands behind the value in its line

	from, to int // of the value
}

// keyBytes are those that names of settings have.
var keyBytes = func() (in [256]bool) {
	for c := range 256 {
		b := byte(c)
		in[c] = isAlnum(b) || b == '_' || b == '-' || b == '.'
	}
	return in
}()

// assignmentAt reads what the word at i is a part of. ok is false when that is no assignment.
func assignmentAt(d []byte, i int) (a assignment, ok bool) {
	const longest = 80
	if d[i] == '?' || d[i] == '&' {
		i++
	}
	at := i
	for at < len(d) && keyBytes[d[at]] {
		at++
	}
	if at-i > longest || at == len(d) || strings.IndexByte("\"'`\\]:= \t", d[at]) < 0 {
		return a, false
	}
	from := i
	for from > 0 && i-from < longest && keyBytes[d[from-1]] {
		from--
	}
	if from < i && inEscape(d, from) {
		from++
	}
	a.key = string(d[from:at])
	a.query = from > 0 && (d[from-1] == '?' || d[from-1] == '&' || d[from-1] == ';' && back(d, from, "&amp;"))
	quote := run(d[at:], func(c byte) bool { return c == '"' || c == '\'' || c == '\\' || c == ']' || c == '`' })
	if quote > 12 {
		return a, false
	}
	at += quote
	blanks := run(d[at:], isBlank)
	if blanks > 20 || at+blanks >= len(d) {
		return a, false
	}
	switch c := d[at+blanks]; {
	case c == ':' && at+blanks+1 < len(d) && d[at+blanks+1] == ':':
		return a, false
	case c == ':':
		a.colon = true
		at += blanks + 1
		if at < len(d) && d[at] == '=' {
			a.colon = false
			at++
		}
	case c == '=':
		a.spaced = blanks > 0
		at += blanks + 1
		if at < len(d) && d[at] == '>' {
			at++
		} else if at < len(d) && (d[at] == '=' || d[at] == '~') {
			return a, false
		}
	case blanks > 0 && quote == 0 && strings.HasPrefix(a.key, "-"):
		a.flag = true
		at += blanks
	default:
		return a, false
	}
	n := run(d[at:], isBlank)
	a.spaced = a.spaced || n > 0 && !a.colon
	at += n
	open := run(d[at:], func(c byte) bool { return c == '\\' })
	if at+open < len(d) && (d[at+open] == '"' || d[at+open] == '\'' || d[at+open] == '`') {
		a.quoted = true
		at += open + 1
	} else if open > 0 {
		at += 0
	}
	a.from = at
	in := func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"'`\\,;&()[]{}<>|", c) < 0 }
	if a.quoted {
		in = func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`\\<>{}", c) < 0 }
	}
	a.to = at + run(d[at:], in)
	a.value = string(d[a.from:a.to])
	if !a.quoted {
		trimmed := strings.TrimRight(a.value, ".:")
		a.to -= len(a.value) - len(trimmed)
		a.value = trimmed
	}
	if a.to < len(d) && strings.IndexByte("([{", d[a.to]) >= 0 {
		return a, false // a call, an index, a template
	}
	a.last = a.to == len(d) || strings.IndexByte(" \t\r\n\"'`\\&|;", d[a.to]) >= 0
	return a, true
}

// hintAssignment passes what may be an assignment whose value is spelled with escapes too.
func hintAssignment(d []byte, i int) bool {
	a, ok := assignmentAt(d, i)
	if !ok {
		return false
	}
	if a.to < len(d) && d[a.to] == '\\' && isSecretKey(a.key) && (a.from < a.to || a.to+1 < len(d) && strings.IndexByte("/u", d[a.to+1]) >= 0) {
		return true
	}
	return a.secret()
}

func assigned(s *scrubber, i int) {
	a, ok := assignmentAt(s.view.text, i)
	if !ok || !a.secret() {
		return
	}
	kind := SecretValue
	switch key := plainKey(a.key); {
	case strings.HasSuffix(key, "secretaccesskey") && len(a.value) == 40 && run([]byte(a.value), isBase64) == 40:
		kind = AWSSecret
	case strings.HasSuffix(key, "accountkey"), strings.HasSuffix(key, "sharedaccesskey"):
		kind = Azure
	}
	if kind == SecretValue && len(a.value) >= 8 && run([]byte(a.value), isBearer) == len(a.value) && drawn(a.value) {
		s.learn(name{word: a.value, kind: SecretValue})
	}
	s.replace(a.from, a.to, kind.placeholder(), kind)
}

// plainKey returns a name in lower case without what stands between its words.
func plainKey(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(key))
}

// isSecretKey reports whether a name is that of a secret.
func isSecretKey(key string) bool {
	k := plainKey(key)
	switch k {
	case "nexttoken", "pagetoken", "nextpagetoken", "continuationtoken", "eostoken", "bostoken", "padtoken", "unktoken", "septoken", "clstoken", "masktoken",
		"synctoken", "cancellationtoken", "csrfmiddlewaretoken", "lasttoken", "currenttoken", "signature", "key":
		return false
	case "auth", "sig", "apikey", "pwd":
		return true
	}
	for _, end := range [...]string{"secret", "password", "passwd", "passphrase", "passwort", "token", "apikey", "accesskey", "secretkey", "accountkey", "privatekey",
		"authkey", "encryptionkey", "signingkey", "masterkey", "licensekey", "servicerolekey", "credential", "credentials", "privatekeyid", "secretid",
		"xamzsignature", "xamzcredential", "dbpass", "mysqlpass", "userpass", "smtppass", "pwd"} {
		if strings.HasSuffix(k, end) {
			return true
		}
	}
	return strings.HasSuffix(key, "_PASS") || strings.HasSuffix(key, "_pass") || strings.HasSuffix(key, "_PW") || key == "_auth" || strings.HasSuffix(key, ":_auth") || isKeyVariable(key)
}

// isKeyVariable reports whether a name is that of a variable of the environment for a key.
func isKeyVariable(key string) bool {
	stem, ok := strings.CutSuffix(key, "_KEY")
	if !ok || strings.ToUpper(stem) != stem {
		return false
	}
	for _, public := range [...]string{"PUBLIC", "PRIMARY", "FOREIGN", "CACHE", "SORT", "PARTITION", "SESSION", "ROUTING", "OBJECT", "INDEX", "UNIQUE"} {
		if strings.HasSuffix(stem, public) {
			return false
		}
	}
	return true
}

// secret reports whether the value is a secret, and not a word, a type, a template or a
// reference to where it is kept.
func (a *assignment) secret() bool {
	v := a.value
	const longest = 4096
	isSig := a.query && (a.key == "sig" || a.key == "key" || plainKey(a.key) == "signature")
	switch {
	case len(v) < 6, len(v) > longest, 3*strings.Count(v, "%") == len(v), !isSecretKey(a.key) && !isSig:
		return false
	case strings.ContainsAny(v[:1], "$/.~-*<") || strings.HasPrefix(v, "REDACTED") || strings.HasPrefix(v, "%("):
		return false
	}
	for _, template := range [...]string{"${", "$(", "{{", "{", "%s", "...", "…", "***", "://", "REDACTED_"} {
		if strings.Contains(v, template) {
			return false
		}
	}
	if strings.HasSuffix(plainKey(a.key), "secretaccesskey") && len(v) == 40 && run([]byte(v), isBase64) == 40 || isUUID(v) && !isKeyVariable(a.key) {
		return true
	}
	if isWords(v) || repeats([]byte(v)) {
		return false
	}
	letters, digits := strings.ContainsFunc(v, isLetter), strings.ContainsAny(v, "0123456789")
	key := plainKey(a.key)
	password := strings.HasSuffix(key, "password") || strings.HasSuffix(key, "passwd") || strings.HasSuffix(key, "passphrase") || strings.HasSuffix(key, "pwd") || strings.HasSuffix(key, "pass") || strings.HasSuffix(key, "pw")
	switch {
	case !letters || !digits:
		return false
	case key == "auth" || a.key == "_auth":
		return isUserPass(v)
	case isSig || isKeyVariable(a.key) && !isSecretKey(strings.ToLower(a.key)):
		return drawn(v)
	case a.flag:
		return drawn(v) || password
	case a.quoted:
		return drawn(v) || password && len(v) >= 8
	case a.spaced && !a.colon:
		return isDrawnHard(v) && a.last
	case isDotted1(v):
		return false // a member of something
	case a.colon, a.query:
		return drawn(v) || password && a.last
	case strings.ToUpper(a.key) == a.key:
		return drawn(v) || a.last && len(v) >= 6
	}
	return drawn(v) || password && a.last
}

func isLetterByte(c byte) bool { return c|0x20-'a' < 26 }

func isLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// isDotted1 reports whether a value is written as names with dots between them.
func isDotted1(v string) bool {
	parts := strings.Split(v, ".")
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if p == "" || !isLetter(rune(p[0])) && p[0] != '_' || run([]byte(p), isName) < len(p) || drawn(p) {
			return false
		}
	}
	return true
}

func isUUID(v string) bool {
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' && run([]byte(v), isHexDash) == 36
}

// drawn reports whether a value looks as drawn by lot: long, and letters and digits by turns.
func drawn(v string) bool {
	const least = 10
	if len(v) < least {
		return false
	}
	turns, last, upper, lower, digits := 0, byte(0), false, false, 0
	for i := range len(v) {
		c := v[i]
		var class byte
		switch {
		case c-'0' < 10:
			class, digits = 'd', digits+1
		case c-'a' < 26:
			class, lower = 'l', true
		case c-'A' < 26:
			class, upper = 'l', true
		}
		if class != last && class != 0 && last != 0 {
			turns++
		}
		last = class
	}
	return digits > 0 && (turns >= 3 || upper && lower && turns >= 2) && digits*60 >= len(v)
}

func isDrawnHard(v string) bool {
	return drawn(v) && (strings.ToLower(v) != v || len(v) >= 20) && strings.Count(v, "_") < 2
}

// fillers are words that stand where a secret would.
var fillers = strings.Fields(`password passwd passphrase secret token apikey access key api user admin root test testing example sample dummy fake mock
	foo bar baz changeme change placeholder your here insert value string none null true false hidden my the some invalid valid wrong correct
	new old abc abcdef qwerty letmein default config environ env getenv process self client server data name hash md5 sha1 sha256 sha512 base64 utf8 v1 v2
	pass word pw pwd login demo str int bytes private public basic bearer auth jwt oauth id mufasa`)

// isWords reports whether hardly anything is left of a value without such words and digits.
func isWords(v string) bool {
	const least = 4
	rest := strings.ToLower(v)
	left := 0
	for rest != "" {
		n := 0
		for _, f := range fillers {
			if len(f) > n && strings.HasPrefix(rest, f) {
				n = len(f)
			}
		}
		switch {
		case n > 0:
		case isLetter(rune(rest[0])):
			n, left = 1, left+1
		default:
			n = 1
		}
		rest = rest[n:]
	}
	return left < least && !drawn(v)
}

// isUserPass reports whether a value is a name and a password in base64.
func isUserPass(v string) bool {
	v = strings.TrimRight(v, "=")
	decoded, err := base64.RawStdEncoding.DecodeString(v)
	if err != nil {
		if decoded, err = base64.RawURLEncoding.DecodeString(v); err != nil {
			return false
		}
	}
	user, password, ok := strings.Cut(string(decoded), ":")
	if !ok || !utf8.Valid(decoded) || strings.ContainsFunc(string(decoded), func(r rune) bool { return r < ' ' }) {
		return false
	}
	return user+password != "" && !isWords(user+password)
}

// header returns where the value of the header whose name ends at i, or is followed by
// quotes, begins.
func header(d []byte, i int) (from int, ok bool) {
	at := i + run(d[i:], func(c byte) bool { return c == '"' || c == '\'' || c == '\\' || c == ']' || isBlank(c) })
	if at-i > 12 || at >= len(d) || strings.IndexByte(":=,", d[at]) < 0 {
		return 0, false
	}
	at++
	if rest := bytes.TrimLeft(d[at:min(len(d), at+24)], " \"'\\"); bytes.HasPrefix(rest, []byte("value")) {
		at = at + bytes.Index(d[at:], []byte("value")) + len("value") // "name": ..., "value": ...
	}
	n := run(d[at:], func(c byte) bool { return strings.IndexByte(" \t\"'\\:=`", c) >= 0 })
	return at + n, n <= 16
}

func hintHeader(d []byte, i int) bool {
	if i += run(d[i:], isLetterByte); i < len(d) && isWord(d[i]) {
		return false
	}
	at, ok := header(d, i+run(d[i:], func(c byte) bool { return isAlnum(c) || c == '-' }))
	return ok && at < len(d) && isWord(d[at])
}

// authorization finds what stands in an Authorization header behind its scheme.
func authorization(s *scrubber, i int) {
	d := s.view.text
	at, ok := header(d, i+run(d[i:], isAlnum))
	if !ok {
		return
	}
	kind := HeaderSecret
	scheme := at + run(d[at:], func(c byte) bool { return isAlnum(c) || c == '-' || c == '_' })
	if scheme < len(d) && d[scheme] == ' ' {
		word := strings.ToLower(string(d[at:scheme]))
		if word == "digest" || strings.HasPrefix(word, "aws4") {
			s.digest(scheme)
			return
		}
		if word == "bearer" {
			kind = BearerToken
		}
		at = scheme + run(d[scheme:], isBlank)
		if bytes.HasPrefix(d[at:], []byte("token=")) || bytes.HasPrefix(d[at:], []byte("api_key=")) {
			at += bytes.IndexByte(d[at:], '=') + 1
			at += run(d[at:], func(c byte) bool { return c == '"' || c == '\\' })
		}
	}
	end := at + run(d[at:], func(c byte) bool { return isBearer(c) || c == ':' || c == '%' || c == '!' || c == '#' })
	v := string(d[at:end])
	if len(v) >= 8 && !strings.HasPrefix(v, "REDACTED") && !isWords(v) && (drawn(v) || isUserPass(v)) && !repeats([]byte(v)) {
		s.replace(at, end, kind.placeholder(), kind)
	}
}

// digest finds the values of a header that has several.
func (s *scrubber) digest(at int) {
	d := s.view.text
	const longest = 1024
	end := at + run(d[at:min(len(d), at+longest)], func(c byte) bool { return c != '\n' && c != '\r' })
	for _, key := range [...]string{"username", "response", "cnonce", "nonce", "Signature", "Credential", "opaque"} {
		n := bytes.Index(d[at:end], []byte(key))
		if n < 0 || n > 0 && isWord(d[at+n-1]) {
			continue
		}
		from := at + n + len(key)
		from += run(d[from:end], func(c byte) bool { return c == '=' || c == '"' || c == '\\' || c == ' ' })
		to := from + run(d[from:end], func(c byte) bool { return isBearer(c) || c == '@' })
		if v := string(d[from:to]); len(v) >= 3 && !isWords(v) && !strings.HasPrefix(v, "REDACTED") {
			done := s.done
			s.done = 0
			s.replace(from, to, HeaderSecret.placeholder(), HeaderSecret)
			s.done = max(done, s.done)
		}
	}
}

// bearer finds a token behind the word of its scheme.
func bearer(s *scrubber, i int) {
	d := s.view.text
	at := i + len("Bearer ")
	if bytes.HasPrefix(d[at:], []byte("REDACTED")) {
		return
	}
	t := token{kind: BearerToken, least: 20, in: isBearer, digit: true}
	if bytes.HasSuffix(d[:i], []byte(": ")) || bytes.HasSuffix(d[:i], []byte(`"`)) {
		t.least = 12
	}
	s.token(at, at, t)
}

func hintBasic(d []byte, i int) bool {
	at := i + len("Basic ")
	n := run(d[at:], isBase64)
	return n >= 8 && isUserPass(string(d[at:at+n])) || at+n+1 < len(d) && d[at+n] == '\\' && (d[at+n+1] == '/' || d[at+n+1] == 'u')
}

// basic finds a name and a password in base64.
func basic(s *scrubber, i int) {
	d := s.view.text
	at := i + len("Basic ")
	n := run(d[at:], func(c byte) bool { return isBase64(c) || c == '-' || c == '_' })
	if v := string(d[at : at+n]); n >= 8 && isUserPass(v) {
		s.replace(at, at+n, HeaderSecret.placeholder(), HeaderSecret)
	}
}

// cookie finds the values of cookies.
func cookie(s *scrubber, i int) {
	d := s.view.text
	at, ok := header(d, i+run(d[i:], func(c byte) bool { return isAlnum(c) || c == '-' }))
	if !ok {
		return
	}
	for at < len(d) {
		n := run(d[at:], func(c byte) bool { return isURLSafe(c) || c == '.' })
		if n == 0 || at+n >= len(d) || d[at+n] != '=' {
			return
		}
		from := at + n + 1
		to := from + run(d[from:], func(c byte) bool { return isBearer(c) || c == '%' || c == ':' || c == '|' || c == '*' })
		if v := string(d[from:to]); drawn(v) && !isWords(v) && !strings.HasPrefix(v, "REDACTED") {
			s.replace(from, to, HeaderSecret.placeholder(), HeaderSecret)
		}
		at = to
		at += run(d[at:], func(c byte) bool { return c == ';' || c == ' ' })
		if at == to {
			return
		}
	}
}

// netrcValue returns where the password of a machine begins, 0 when the word at i is no part
// of a line of .netrc.
func netrcValue(d []byte, i int) int {
	const longest = 200
	before := d[max(0, i-longest):i]
	login := bytes.LastIndex(before, []byte("login"))
	if login < 0 || !bytes.HasPrefix(d[i:], []byte("password")) || !bytes.Contains(before[:login], []byte("machine")) && !bytes.Contains(before[:login], []byte("default")) {
		return 0
	}
	at := i + len("password")
	n := run(d[at:], isBlank)
	if n == 0 {
		return 0
	}
	return at + n
}

// netrc finds the password of a machine.
func netrc(s *scrubber, i int) {
	d := s.view.text
	from := netrcValue(d, i)
	if from == 0 {
		return
	}
	to := from + run(d[from:], func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`\\<>$", c) < 0 })
	if v := string(d[from:to]); len(v) >= 5 && !isWords(v) && !strings.HasPrefix(v, "REDACTED") {
		s.replace(from, to, SecretValue.placeholder(), SecretValue)
	}
}

// curlUser finds the name and password that a command is given.
func curlUser(s *scrubber, i int) {
	d := s.view.text
	at := i + run(d[i:], isBlank)
	at += run(d[at:], func(c byte) bool { return c == '-' || isAlnum(c) })
	at += run(d[at:], func(c byte) bool { return isBlank(c) || c == '"' || c == '\'' || c == '\\' })
	n := run(d[at:], func(c byte) bool { return isWord(c) || c == '.' || c == '@' || c == '-' })
	if n == 0 || at+n >= len(d) || d[at+n] != ':' {
		return
	}
	from := at + n + 1
	to := from + run(d[from:], func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`\\<>${}", c) < 0 })
	if v := string(d[from:to]); len(v) >= 5 && strings.ContainsAny(v, "0123456789") && strings.ContainsFunc(v, isLetter) && !isWords(v) && !strings.HasPrefix(v, "REDACTED") && bytes.Contains(d[max(0, i-200):i], []byte("curl")) {
		s.replace(from, to, URLCredentials.placeholder(), URLCredentials)
	}
}

// numbers finds a private key that is written as a list of its bytes.
func numbers(s *scrubber, i int) {
	d := s.view.text
	const furthest = 16
	open := bytes.IndexByte(d[i:min(len(d), i+len("ivate key")+furthest)], '[')
	if open < 0 {
		return
	}
	from := i + open + 1
	to := from + run(d[from:], func(c byte) bool { return c-'0' < 10 || c == ',' || c == ' ' || c == '\n' })
	if bytes.Count(d[from:to], []byte(",")) >= 31 {
		s.replace(from, to, "0", PrivateKey) // a list stays one
	}
}

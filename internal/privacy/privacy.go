package privacy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Kind is what was replaced; it is the key of the counts.
type Kind string

// The kinds that a person or machine is known by; those of the providers' tokens are beside
// their shapes. All but the names and paths are secrets.
const (
	HomePath   Kind = "home_path"
	UserName   Kind = "user_name"
	HostName   Kind = "host_name"
	PersonName Kind = "person_name"
	Email      Kind = "email"

	AWSSecret      Kind = "aws_secret_key"
	BearerToken    Kind = "bearer_token"
	HeaderSecret   Kind = "header_secret"
	JWT            Kind = "jwt"
	PrivateKey     Kind = "private_key"
	SecretValue    Kind = "secret"
	URLCredentials Kind = "url_credentials"
)

const (
	maxNames     = 64 // names of one record that are looked for
	shortestName = 3  // shorter names are no words to look for
)

// Counts says how often each kind was replaced.
type Counts map[Kind]int64

// Options of Scrub.
type Options struct {
	// KeepPaths leaves home directories and the names of users; secrets and the names of
	// machines are always replaced.
	KeepPaths bool
}

// Scrub returns a record without what is private, and what it replaced. When there is
// nothing to replace it returns text itself, else a copy; text is never changed. A record in
// JSON stays JSON, and so does JSON in its strings.
func (o Options) Scrub(text []byte) ([]byte, Counts) {
	return o.scrub(text, isJSON(text))
}

// ScrubText is Scrub for a text that no record stands around.
func (o Options) ScrubText(text string) (string, Counts) {
	out, counts := o.scrub([]byte(text), false)
	if len(counts) == 0 {
		return text, nil
	}
	return string(out), counts
}

// ScrubString is ScrubText without the counts.
func (o Options) ScrubString(text string) string {
	out, _ := o.ScrubText(text)
	return out
}

func (o Options) scrub(text []byte, json bool) ([]byte, Counts) {
	p := pass{keep: o.KeepPaths, json: json, text: text}
	const most = 16 // passes: a placeholder may look private again with what stands beside it
	for n := 0; n < most && p.run(); n++ {
	}
	return p.text, p.counts
}

// isJSON reports whether a text begins as an object, an array of values, or a string does.
func isJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 {
		return false
	}
	switch text[0] {
	case '"':
		return true
	case '{', '[':
		rest := bytes.TrimLeft(text[1:], " \t\r\n")
		return len(rest) == 0 || strings.IndexByte(`{["]}-0123456789tfn`, rest[0]) >= 0
	}
	return false
}

// pass is one look at a whole text.
type pass struct {
	keep, json bool
	text       []byte
	edits      []edit
	names      []name
	counts     Counts
	found      bool
	seen       int // end of the last string that was decoded
}

// edit replaces text[from:to].
type edit struct {
	from, to    int
	placeholder string
	kind        Kind
}

// name is a name or secret that the text states.
type name struct {
	word string
	kind Kind
	at   bool // replaced only before an @
}

// run replaces what the text has, and reports whether it had anything.
func (p *pass) run() bool {
	p.edits, p.names, p.found = p.edits[:0], p.names[:0], false
	if p.json {
		p.record()
	} else {
		p.plain(plainView(p.text), 0)
	}
	p.apply()
	for _, n := range p.names {
		p.text = p.replaceName(p.text, n)
	}
	return p.found
}

// record looks at a record in JSON: at its text as it was written, and at the strings where
// that is not enough as they are meant.
func (p *pass) record() {
	d := p.text
	s := scrubber{pass: p, view: plainView(d), raw: true}
	p.seen = 0
	allRules.scan(d, func(e *entry, i int) {
		switch {
		case e.rule.raw:
			if i >= s.done {
				e.rule.find(&s, i)
			}
			if s.unsure {
				s.unsure = false
				p.decode(i)
			}
		case e.rule.hint == nil || e.rule.hint(d, i):
			p.decode(i)
		}
	})
}

// decode looks at the string around a place as it is meant, once.
func (p *pass) decode(i int) {
	if i < p.seen {
		return
	}
	if p.text[i] == '"' {
		i++ // the word has the quote
	}
	from, to := stringAround(p.text, i)
	p.seen = to
	if from > 0 && p.text[from-1] == '"' && to < len(p.text) && p.text[to] == '"' {
		p.member(from, to)
	}
	v, _ := plainView(p.text[from:to]).escapes()
	p.plain(v, from)
}

// plain looks at a plain text that begins at a place of the record, at what its escapes
// mean, and what the escapes in that mean.
func (p *pass) plain(v view, base int) {
	const most = 5 // levels of JSON in JSON
	for range most {
		deeper := p.look(v, base)
		u := v
		for range 3 {
			var done bool
			if u, done = u.percents(); !done {
				break
			}
			p.look(u, base)
		}
		if !deeper {
			return
		}
		var done bool
		if v, done = v.escapes(); !done {
			return
		}
	}
}

// look looks at one text, and reports whether it has anything that could be of interest.
func (p *pass) look(v view, base int) (deeper bool) {
	s := scrubber{pass: p, view: v, base: base}
	allRules.scan(v.text, func(e *entry, i int) {
		deeper = deeper || e.rule.raw || e.rule.hint == nil || e.rule.hint(v.text, i)
		if i >= s.done {
			e.rule.find(&s, i)
		}
	})
	return deeper
}

// stringAround returns where the content of the string around d[i] begins and ends; of a long
// one, the words around i. For the name of a member whose value is a string the end is that of
// the value.
func stringAround(d []byte, i int) (from, to int) {
	const before, behind = 4 << 10, 16 << 10
	for from = i; from > 0 && (d[from-1] != '"' || isEscaped(d, from-1)); from-- {
		if i-from >= before && d[from-1] == ' ' {
			return from, wordEnd(d, i, behind)
		}
	}
	if to = wordEnd(d, i, behind); to < len(d) && d[to] == ' ' {
		return from, to
	}
	rest := bytes.TrimLeft(d[min(to+1, len(d)):], " \t\r\n")
	if len(rest) == 0 || rest[0] != ':' {
		return from, to
	}
	rest = bytes.TrimLeft(rest[1:], " \t\r\n")
	if len(rest) == 0 || rest[0] != '"' {
		return from, to
	}
	return from, wordEnd(d, len(d)-len(rest)+1, behind)
}

// wordEnd returns where the string around d[i] ends, or the first blank that far behind.
func wordEnd(d []byte, i, far int) int {
	near := d[:min(len(d), i+far)]
	end := stringEnd(near, i)
	if end < len(near) || len(near) == len(d) {
		return end
	}
	for end < len(d) && d[end] != ' ' && (d[end] != '"' || isEscaped(d, end)) {
		end++
	}
	return end
}

func stringEnd(d []byte, i int) int {
	for ; i < len(d); i++ {
		n := bytes.IndexByte(d[i:], '"')
		if n < 0 {
			break
		}
		i += n
		if !isEscaped(d, i) {
			return i
		}
	}
	return len(d)
}

// isEscaped reports whether an odd number of backslashes stands before d[i].
func isEscaped(d []byte, i int) bool {
	n := 0
	for n < i && d[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// member looks at a member whose name and value are d[from:to], without the outer quotes: a
// secret that is the whole value may hold quotes.
func (p *pass) member(from, to int) {
	d := p.text[from:to]
	end := stringEnd(d, 0)
	if end == len(d) {
		return
	}
	value := end + 1 + bytes.IndexByte(d[end+1:], '"') + 1
	k, _ := plainView(d[:end]).escapes()
	v, _ := plainView(d[value:]).escapes()
	if a := (assignment{key: string(k.text), value: string(v.text), quoted: true, colon: true}); a.secret() && !strings.ContainsAny(a.value, " \n{<") {
		p.edits = append(p.edits, edit{from + value, to, SecretValue.placeholder(), SecretValue})
	}
}

// apply makes the edits. Those that overlap become one, of the kind that says most.
func (p *pass) apply() {
	if len(p.edits) == 0 {
		return
	}
	slices.SortStableFunc(p.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.kind.vague(), b.kind.vague()), cmp.Compare(b.to, a.to), cmp.Compare(a.kind, b.kind))
	})
	merged := p.edits[:1]
	for _, e := range p.edits[1:] {
		last := &merged[len(merged)-1]
		if e.from >= last.to {
			merged = append(merged, e)
			continue
		}
		last.to = max(last.to, e.to)
		if e.kind.vague() < last.kind.vague() {
			last.kind, last.placeholder = e.kind, e.placeholder
		}
	}
	out := make([]byte, 0, len(p.text))
	done := 0
	for _, e := range merged {
		out = append(append(out, p.text[done:e.from]...), e.placeholder...)
		done = e.to
		p.count(e.kind)
	}
	p.text = append(out, p.text[done:]...)
}

// vague orders the kinds: a token of a known provider says more than a secret of an unknown.
func (k Kind) vague() int {
	switch k {
	case Email:
		return 1
	case BearerToken, HeaderSecret, URLCredentials:
		return 2
	case SecretValue:
		return 3
	}
	return 0
}

func (p *pass) count(kind Kind) {
	if p.counts == nil {
		p.counts = Counts{}
	}
	p.counts[kind]++
	p.found = true
}

// learn notes a name to be replaced in the whole text.
func (p *pass) learn(n name) {
	if len(n.word) < shortestName || common(n.word) || p.keep && n.kind == UserName || len(p.names) == maxNames || slices.Contains(p.names, n) {
		return
	}
	p.names = append(p.names, n)
}

// replaceName replaces a name where it stands as a word.
func (p *pass) replaceName(text []byte, n name) []byte {
	out, count := Replace(text, n.word, n.kind, n.at)
	if count > 0 {
		p.count(n.kind)
		p.counts[n.kind] += int64(count) - 1
	}
	return out
}

// Replace replaces a name, or a secret without a shape, where it stands as a word; with at
// set only before an @. It returns text itself when it doesn't.
func Replace(text []byte, name string, kind Kind, at bool) (out []byte, count int) {
	word := []byte(name)
	if !bytes.Contains(text, word) || bytes.Contains(text, []byte(`"`+name+`":`)) {
		return text, 0 // or a word of the format
	}
	placeholder := kind.placeholder()
	done := 0
	for from := 0; ; {
		i := bytes.Index(text[from:], word)
		if i < 0 {
			break
		}
		i += from
		end := i + len(word)
		from = end
		if !boundary(text, i) || end < len(text) && isWord(text[end]) || at && (end == len(text) || text[end] != '@') {
			continue
		}
		out = append(append(out, text[done:i]...), placeholder...)
		done = end
		count++
	}
	if done == 0 {
		return text, 0
	}
	return append(out, text[done:]...), count
}

// scrubber looks at one view of a text.
type scrubber struct {
	*pass
	view
	base int  // of the view in the text
	raw  bool // the view is a record as it was written
	done int  // end of the last replaced bytes

	unsure bool // set by a raw rule whose word wants a look at the plain text
}

// replace puts a placeholder in the place of text[from:to]. It leaves escapes whole.
func (s *scrubber) replace(from, to int, placeholder string, kind Kind) {
	d := s.view.text
	if inEscape(d, from) {
		from++
	}
	for to > from && d[to-1] == '\\' && isEscaped(d, to) {
		to--
	}
	if from < s.done || from >= to {
		return // a part of what was replaced
	}
	s.done = to
	if string(d[from:to]) == placeholder {
		return
	}
	a, b := s.view.span(from, to)
	s.edits = append(s.edits, edit{s.base + a, s.base + b, placeholder, kind})
}

// common reports whether a name is that of no person or machine in particular.
func common(word string) bool {
	switch word {
	case "root", "user", "users", "username", "admin", "administrator", "agent", "app", "circleci", "coder", "codespace", "default",
		"dev", "docker", "ec2-user", "git", "guest", "home", "host", "hostname", "jenkins", "jovyan", "linuxbrew", "localhost", "node",
		"nobody", "node-user", "nonroot", "openhands", "project", "public", "python", "runner", "sandbox", "server", "shared", "swe-agent",
		"test", "testbed", "travis", "ubuntu", "vagrant", "vscode", "work", "workspace",
		"Administrator", "Default", "Public", "Shared", "All Users":
		return true
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || c-'0' < 10 || c|0x20-'a' < 26 || c >= 0x80
}

// boundary reports whether a word may begin at d[i]: behind anything but a letter or digit,
// behind an escape such as \n, or behind the code of a colour.
func boundary(d []byte, i int) bool {
	if i == 0 || !isWord(d[i-1]) {
		return true
	}
	if i == 1 {
		return false
	}
	if d[i-2] == '\\' {
		switch d[i-1] {
		case 'n', 'r', 't', 'b', 'f':
			return true
		}
	}
	if d[i-1] == 'm' {
		for j := i - 2; j >= 0; j-- {
			switch c := d[j]; {
			case c == '[':
				return true
			case c != ';' && c-'0' >= 10:
				return false
			}
		}
	}
	return false
}

package privacy

import (
	"bytes"
	"math/bits"
	"slices"
)

// Kind is what was replaced; it is the key of the counts.
type Kind string

// The kinds. All but the first three are secrets.
const (
	HomePath     Kind = "home_path"
	UserName     Kind = "user_name"
	HostName     Kind = "host_name"
	AnthropicKey Kind = "anthropic_key"
	AWSKeyID     Kind = "aws_key_id"
	AWSSecret    Kind = "aws_secret_key"
	BearerToken  Kind = "bearer_token"
	GitHubToken  Kind = "github_token"
	GitLabToken  Kind = "gitlab_token"
	GoogleKey    Kind = "google_key"
	HuggingFace  Kind = "huggingface_token"
	JWT          Kind = "jwt"
	NPMToken     Kind = "npm_token"
	OpenAIKey    Kind = "openai_key"
	PrivateKey   Kind = "private_key"
	PyPIToken    Kind = "pypi_token"
	SendGridKey  Kind = "sendgrid_key"
	SlackToken   Kind = "slack_token"
	StripeKey    Kind = "stripe_key"
	DigitalOcean Kind = "digitalocean_token"
	maxNames          = 16 // names of one record that are looked for
	shortestName      = 3  // shorter names are no words to look for
)

// Counts says how often each kind was replaced.
type Counts map[Kind]int64

// Options of Scrub.
type Options struct {
	// KeepPaths leaves home directories and the names of users; secrets and the names of
	// machines are always replaced.
	KeepPaths bool
}

// Scrub returns text without what is private, and what it replaced. When there is nothing to
// replace it returns text itself, else a copy; text is never changed.
func (o Options) Scrub(text []byte) ([]byte, Counts) {
	s := scrubber{text: text, keep: o.KeepPaths}
	const most = 16 // passes: a placeholder may look private again with what stands beside it
	for n := 0; n < most && s.pass(); n++ {
	}
	return s.text, s.counts
}

// ScrubString is Scrub for a short text.
func (o Options) ScrubString(text string) string {
	out, counts := o.Scrub([]byte(text))
	if len(counts) == 0 {
		return text
	}
	return string(out)
}

type scrubber struct {
	text   []byte
	keep   bool
	out    []byte // nil until something was replaced
	done   int    // bytes of text that out covers
	names  []name
	found  bool
	counts Counts
}

// name is a name that the text states.
type name struct {
	word string
	kind Kind
	at   bool // replaced only before an @
}

// pass replaces what the text has, and reports whether it had anything.
func (s *scrubber) pass() bool {
	s.out, s.done, s.names, s.found = nil, 0, nil, false
	s.scan()
	if s.out != nil {
		s.text = append(s.out, s.text[s.done:]...)
	}
	for _, n := range s.names {
		s.text = s.replaceName(s.text, n)
	}
	return s.found
}

// scan looks at every second pair of bytes. Where a pair is one of those that the rules'
// words begin with, or the next one, it compares the words.
func (s *scrubber) scan() {
	d := s.text
	for i := 0; i+1 < len(d); i += 2 {
		if starts[uint16(d[i])|uint16(d[i+1])<<8] {
			s.try(i - 1)
			s.try(i)
		}
	}
}

func (s *scrubber) try(i int) {
	if i < s.done || i+2 >= len(s.text) {
		return
	}
	d := s.text[i:]
	for m := masks[0][d[0]] & masks[1][d[1]] & masks[2][d[2]]; m != 0; m &= m - 1 {
		if r := &rules[bits.TrailingZeros32(m)]; r.begins(d) {
			r.find(s, i)
		}
	}
}

// replace puts a placeholder in the place of text[from:to].
func (s *scrubber) replace(from, to int, placeholder string, kind Kind) {
	if from < s.done {
		return // a part of what was replaced
	}
	if s.out == nil {
		s.out = make([]byte, 0, len(s.text))
	}
	s.out = append(append(s.out, s.text[s.done:from]...), placeholder...)
	s.done = to
	s.count(kind)
}

func (s *scrubber) count(kind Kind) {
	if s.counts == nil {
		s.counts = Counts{}
	}
	s.counts[kind]++
	s.found = true
}

// learn notes a name to be replaced in the whole text.
func (s *scrubber) learn(n name) {
	if len(n.word) < shortestName || common(n.word) || s.keep && n.kind == UserName || len(s.names) == maxNames || slices.Contains(s.names, n) {
		return
	}
	s.names = append(s.names, n)
}

// replaceName replaces a name where it stands as a word.
func (s *scrubber) replaceName(text []byte, n name) []byte {
	placeholder := "user"
	if n.kind == HostName {
		placeholder = "host"
	}
	word := []byte(n.word)
	if bytes.Contains(text, []byte(`"`+n.word+`":`)) {
		return text // a word of the format
	}
	var out []byte
	done := 0
	for from := 0; ; {
		at := bytes.Index(text[from:], word)
		if at < 0 {
			break
		}
		at += from
		end := at + len(word)
		from = end
		if !boundary(text, at) || end < len(text) && isWord(text[end]) || n.at && (end == len(text) || text[end] != '@') {
			continue
		}
		out = append(append(out, text[done:at]...), placeholder...)
		done = end
		s.count(n.kind)
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// common reports whether a name is that of no person or machine in particular.
func common(word string) bool {
	switch word {
	case "root", "user", "users", "username", "admin", "administrator", "agent", "app", "circleci", "coder", "codespace", "default",
		"dev", "docker", "ec2-user", "git", "guest", "home", "host", "hostname", "jenkins", "jovyan", "linuxbrew", "localhost", "node",
		"nobody", "node-user", "openhands", "project", "public", "python", "runner", "sandbox", "server", "shared", "swe-agent",
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

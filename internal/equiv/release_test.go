package equiv

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

var commandParts = strings.Split(
	" |  |\n|\t|&&|;|&|cd|cd x && |cd /testbed;|a|x.py|src/a.py|/abs|-r|-n|'|\"|pattern|grep|rg|ag|egrep|cat|head|more|sed|sed -n|"+
		"python|python3|Python3|python3.9|xpython3|npm i|npm  i|npm install|npm i-x|bash|sh|perl|node|run|.md|.cfg|>|é|GREP", "|")

func drawText(t *rapid.T, name string, parts []string) string {
	return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(parts), rapid.Just(" ")), 0, 12).Draw(t, name), "")
}

var (
	slowCD      = regexp.MustCompile(`\Acd\s+[^\s&;]+\s*[&;]+\s*`)
	slowPython  = regexp.MustCompile(`\bpython3?\b`)
	slowNpm     = regexp.MustCompile(`\bnpm i\b`)
	slowSearch  = regexp.MustCompile(`\A(?:grep|rg|ag|ack|fgrep|egrep)\b|\bgrep\b`)
	slowView    = regexp.MustCompile(`\A(?:cat|head|tail|less|more)\b|\Ased\s+-?n`)
	slowExecute = regexp.MustCompile(`\A(?:python|node|bash|sh|ruby|perl)\s`)
	slowQuoted  = regexp.MustCompile(`["']([^"']+)["']`)
	slowFile    = regexp.MustCompile(`/|\.(?:py|js|ts|c|h|java|rs|go|rb|txt|md|json|yaml|yml|toml|cfg|ini)\z`)
	slowProgram = regexp.MustCompile(`\b(?:python|node|bash|sh|ruby|perl)\s+(\S+)`)
)

// slowCommand normalises and classifies by the plain patterns.
func slowCommand(raw string) command {
	s := slowCD.ReplaceAllString(raw, "")
	s = slowNpm.ReplaceAllString(slowPython.ReplaceAllString(s, "python"), "npm install")
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	words := strings.Fields(s)
	c := command{text: s}
	if len(words) > 0 {
		c.first = words[0]
	}
	switch {
	case slowSearch.MatchString(s):
		c.group = search
		if m := slowQuoted.FindStringSubmatch(s); m != nil {
			c.target = m[1]
		} else {
			for _, w := range words[1:] {
				if w[0] != '-' && w[0] != '/' {
					c.target = w
					break
				}
			}
		}
		c.words = strings.Fields(c.target)
		slices.Sort(c.words)
		c.words = slices.Compact(c.words)
	case slowView.MatchString(s):
		c.group = view
		for _, w := range slices.Backward(words) {
			if slowFile.MatchString(w) {
				c.target = w
				break
			}
		}
	case slowExecute.MatchString(s):
		c.group = execute
		if m := slowProgram.FindStringSubmatch(s); m != nil {
			c.target = m[1]
		}
	}
	return c
}

func checkCommand(t interface{ Fatalf(string, ...any) }, raw string) {
	got, want := newCommand(raw), slowCommand(raw)
	if got.text != want.text || got.first != want.first || got.group != want.group || got.target != want.target ||
		!slices.Equal(got.words, want.words) {
		t.Fatalf("%q:\n got %+v\nwant %+v", raw, *got, want)
	}
}

func TestCommandsEqualPatterns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			if s := strings.TrimSpace(drawText(t, "command", commandParts)); s != "" {
				checkCommand(t, s)
			}
		}
	})
}

func FuzzCommand(f *testing.F) {
	f.Add("cd /testbed && python3 -m pytest")
	f.Add(`grep -rn "a" 'b`)
	f.Add("sed -n 1,2p x.py")
	f.Fuzz(func(t *testing.T, s string) {
		ascii := strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 || r < ' ' && r != '\n' && r != '\t' }) < 0
		if s = strings.TrimSpace(s); ascii && s != "" && len(s) < 1000 {
			checkCommand(t, s)
		} else if s != "" {
			newCommand(s)
		}
	})
}

func TestSameWords(t *testing.T) {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.String().Draw(t, "x")
		y := rapid.OneOf(rapid.String(), rapid.Just(strings.ToUpper(x)), rapid.Just("  "+strings.ReplaceAll(x, " ", "\n")+"\t")).Draw(t, "y")
		if got, want := sameWords(x, y), plain(x) == plain(y); got != want {
			t.Fatalf("%q and %q: %v, want %v", x, y, got, want)
		}
	})
}

var (
	slowQuotedName = regexp.MustCompile(`'([A-Za-z_]\w*)'`)
	slowName       = regexp.MustCompile(`\A[A-Za-z_]\w*\z`)
)

func slowSymbols(s string) []string {
	var out []string
	for _, m := range slowQuotedName.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1])
	}
	for _, p := range []*regexp.Regexp{listedFunctions, listedClasses} {
		for _, m := range p.FindAllStringSubmatch(s, -1) {
			for piece := range strings.SplitSeq(m[1], ",") {
				if piece = strings.TrimSpace(piece); slowName.MatchString(piece) {
					out = append(out, piece)
				}
			}
		}
	}
	for _, p := range []*regexp.Regexp{changedSymbol, namedSymbol, renamedSymbols} {
		for _, m := range p.FindAllStringSubmatch(s, -1) {
			out = append(out, m[1:]...)
		}
	}
	out = slices.DeleteFunc(out, notSymbol)
	slices.Sort(out)
	return slices.Compact(out)
}

func TestSymbolsEqualPatterns(t *testing.T) {
	parts := strings.Split("'|\"| |,|:|a|_b|C9|9|foo|function|Functions:|functions: |classes:|class|method|def |added |removed |"+
		"renamed | to |in|from|é|Modified", "|")
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t, "description", parts)
		if got, want := symbols(s), slowSymbols(s); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
	})
}

func TestNormalisePath(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "/workspace/src/A.py": "src/a.py", `\\home\x`: "home/x", "/home/tmp/x": "x", "/tmp/home/x": "home/x",
		"workspace/workspaces/home/tmp/x": "x", "WORKSPACE/x": "x", "tmp": "tmp",
	} {
		if got := normalisePath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestOverlapRatio(t *testing.T) {
	for _, tc := range []struct {
		start1, end1, start2, end2 int64
		want                       float64
	}{
		{1, 10, 1, 10, 1}, {1, 10, 6, 15, 5.0 / 15}, {1, 5, 6, 10, 0}, {1, 5, 50, 60, 0}, {5, -1, 7, -1, 0}, {3, 3, 3, 3, 1},
	} {
		if got := overlapRatio(tc.start1, tc.end1, tc.start2, tc.end2); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestSameJSON(t *testing.T) {
	for _, tc := range []struct {
		x, y string
		want bool
	}{
		{`{"a":1,"b":[2]}`, `{ "b":[2.0], "a":1 }`, true}, {`{"a":1}`, `{"a":2}`, false}, {``, ``, true},
		{``, `{}`, false}, {`not json`, `not json`, true}, {`not json`, `{}`, false},
	} {
		if got := sameJSON(tc.x, tc.y); got != tc.want {
			t.Errorf("%s and %s: %v", tc.x, tc.y, got)
		}
	}
}

// TestStepEqualsItself holds for any state at any position.
func TestStepEqualsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "a", "b"})
		s := trajectory.State{
			Tool:        rapid.SampledFrom([]string{"", "think", "read_file", "run_in_terminal", "grep_search", "odd"}).Draw(t, "tool"),
			Observation: text.Draw(t, "observation"), FilePath: text.Draw(t, "file"), ContentHash: text.Draw(t, "hash"),
			ResultingState: text.Draw(t, "result"), Stage: trajectory.Stage(rapid.IntRange(0, 4).Draw(t, "stage")),
		}
		a := NewReleaseStep(&s)
		if v := a.Compare(&a, rapid.IntRange(0, 3).Draw(t, "position")); !v.Equivalent || v.Confidence != 1 {
			t.Fatalf("%+v: %+v", s, v)
		}
		other := s
		other.Stage = s.Stage%4 + 1
		b := NewReleaseStep(&other)
		if v := a.Compare(&b, 1); s.Stage != trajectory.NoStage && (v.Equivalent || v.Method != StageMismatch) {
			t.Fatalf("stages %v and %v: %+v", s.Stage, other.Stage, v)
		}
		if v := a.Compare(&b, 0); v.Method != PositionZero {
			t.Fatalf("position 0: %+v", v)
		}
	})
}

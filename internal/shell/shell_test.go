package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance"
)

// oracleCommand is one line of the expected results for commands.
type oracleCommand struct {
	Command      string   `json:"command"`
	ParseOK      bool     `json:"parse_ok"`
	Actions      [][]any  `json:"actions"`
	Group        string   `json:"group"`
	Written      []string `json:"written"`
	Read         []string `json:"read"`
	WrittenClass []string `json:"written_class"`
	Tokens       []string `json:"tokens"`
}

func oracleCommands(t testing.TB, set *conformance.Set) []oracleCommand {
	return conformance.Lines[oracleCommand](t, set, "oracle", "profiles", "commands_clean.jsonl")
}

func TestConformance(t *testing.T) { conformance.Each(t, checkConformance) }

func checkConformance(t *testing.T, set *conformance.Set) {
	p := New(Options{})
	cases := oracleCommands(t, set)
	if want := set.Count(289, 3000); len(cases) != want {
		t.Fatalf("%d commands, want %d", len(cases), want)
	}
	for _, c := range cases {
		r := p.Parse(c.Command)
		written := Written(r.Actions)
		var classes []string
		for _, f := range written {
			classes = append(classes, p.Class(f).String())
		}
		if got, want := describe(r.Actions), describeOracle(c.Actions); got != want {
			t.Errorf("%q\nactions %s\nwant    %s", c.Command, got, want)
		}
		if r.OK != c.ParseOK || Group(r.Actions) != c.Group || !slices.Equal(written, c.Written) ||
			!slices.Equal(Viewed(r.Actions), c.Read) || !slices.Equal(classes, c.WrittenClass) {
			t.Errorf("%q\ngot  %v %s %q %q %q\nwant %v %s %q %q %q", c.Command, r.OK, Group(r.Actions), written, Viewed(r.Actions), classes,
				c.ParseOK, c.Group, c.Written, c.Read, c.WrittenClass)
		}
		if got := Tokens(c.Command); c.Tokens != nil && !slices.Equal(got, c.Tokens) {
			t.Errorf("%q\ntokens %q\nwant   %q", c.Command, got, c.Tokens)
		}
	}
}

// describe writes actions as KIND(path,path) or OTHER:name, separated by spaces.
func describe(actions []Action) string {
	var out []string
	for _, a := range actions {
		s := a.Kind.String()
		if a.Kind == Other {
			s += ":" + a.Name
		} else if len(a.Paths) > 0 {
			s += "(" + strings.Join(a.Paths, ",") + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func describeOracle(actions [][]any) string {
	var out []string
	for _, a := range actions {
		s := a[0].(string)
		var paths []string
		for _, p := range a[1].([]any) {
			paths = append(paths, p.(string))
		}
		if s == "OTHER" {
			s += ":" + a[2].(string)
		} else if len(paths) > 0 {
			s += "(" + strings.Join(paths, ",") + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestActions(t *testing.T) {
	p := New(Options{})
	for _, c := range []struct{ command, want string }{
		{"", ""},
		{"   \n", ""},
		{"# nothing but a comment", ""},
		{"> out/a.py", "WRITE(out/a.py)"},
		{"FOO=1", ""},
		{"FOO=$(pytest a)", "TEST"},
		{"env FOO=1 timeout -k 5 60s nice -n pytest", "TEST"},
		{"timeout 60 sudo -E bash -lc 'cd a && pytest x'", "TEST"},
		{"xvfb-run -a python3.9 t.py", "RUN"},
		{"cd src && cat a.py ../b.py", "READ(src/a.py,b.py)"},
		{"cd ~/x; cat a", "READ(a)"},
		{"(cd sub); cat a", "READ(sub/a)"},
		{"cat /testbed/A.py /testbedder/b", "READ(a.py,testbedder/b)"},
		{"cat a.py 2> err.txt | head -5", "READ(a.py)"},
		{"echo x >&2", ""},
		{"echo x &> log/a.txt", "WRITE(log/a.txt)"},
		{"echo x > /dev/null", ""},
		{"cat > a/b.py << 'EOF'\npytest $(rm x)\nEOF", "WRITE(a/b.py)"},
		{"echo x | tee a/b.py", "WRITE(a/b.py)"},
		{"python - <<'PY'\nopen('lib/a.py', 'w').write(x)\nopen(\"lib/b.py\")\nPY", "WRITE(lib/a.py,lib/b.py)"},
		{"python -c 'print(1)'", "CODE"},
		{"echo 1 | python", "CODE"},
		{"python --version", "INFO"},
		{"python -W error -m pytest", "TEST"},
		{"python -m flake8 x", "LINT"},
		{"python -m pip install x", "INSTALL"},
		{"python -m build", "RUN"},
		{"python setup.py test", "TEST"},
		{"python setup.py build_ext", "INSTALL"},
		{"python manage.py test app", "TEST"},
		{"python tests/runtests.py", "TEST"},
		{"python test_x.py", "RUN"},
		{"python lib/test_x.py", "TEST"},
		{"bin/test x", "TEST"},
		{"./bin/doctest", "TEST"},
		{"npx jest", "TEST"},
		{"npm run test", "TEST"},
		{"npm run build", "RUN"},
		{"perl -pi -e s/a/b/ lib/a.pm", "WRITE(lib/a.pm)"},
		{"perl -e 1", "CODE"},
		{"sed -n 1,5p lib/a.py", "READ(lib/a.py)"},
		{"sed -i -e s/a/b/ lib/a.py", "WRITE(lib/a.py)"},
		{"sed -i --file=x.sed lib/a.py", "WRITE(lib/a.py)"},
		{"sed --expression=p -f y.sed lib/a.py", "READ(lib/a.py)"},
		{"sed -n p", ""},
		{"perl -i lib/a.pm", "WRITE"},
		{"ruby x.rb", "RUN"},
		{"git -c a=b", "FS"},
		{"git grep x | git grep y", "SEARCH"},
		{"git commit -m x", "FS"},
		{"find . | xargs wc -l", "FIND"},
		{"wc", "INFO"},
		{"bash", ""},
		{"sh -c", ""},
		{"cd a; bash -c 'cd b; cat x'; cat y", "READ(a/b/x) READ(a/y)"},
		{"zsh <<< 'ls'", "LIST"},
		{"sed --in-place s/a/b/ lib/a.py", "WRITE(lib/a.py)"},
		{"grep x a | sed s/a/b/", "SEARCH"},
		{"head -n 5 a +3", "READ(a)"},
		{"git -C dir --no-pager diff", "GITDIFF"},
		{"git", "FS"},
		{"git stash", "GITRESTORE"},
		{"git apply <<'E'\n--- a/x/y.py\n+++ b/x/y.py\nE", "WRITE(x/y.py)"},
		{"apply_patch <<'E'\n*** Begin Patch\n*** Update File: x/y.py\n+a\nE", "WRITE(x/y.py)"},
		{"git log | grep x | wc -l", "GITLOG"},
		{"grep x a | (grep y; ls) | sort", "SEARCH SEARCH LIST"},
		{"true | grep x", "SEARCH"},
		{"cp a.py lib/b.py", "WRITE(lib/b.py)"},
		{"cp lib/b.py /tmp/b.py", "FS"},
		{"mv lib/b.py lib/b.py.bak", "FS"},
		{"wc -l lib/a.py", "READ(lib/a.py)"},
		{"awk '{print $1}' lib/a.py", "READ(lib/a.py)"},
		{"pwd", "INFO"},
		{"export X=$(which python)", "INFO"},
		{"[[ -f a ]] && ls", "LIST"},
		{"C-c", ""},
		{"bash run.sh", "RUN"},
		{"bash <<'E'\npytest\nls\nE", "TEST LIST"},
		{"bash -c 'echo \"'", `OTHER:echo`},
		{"./configure", "RUN"},
		{"/usr/bin/made", "RUN"},
		{"frobnicate", "OTHER:frobnicate"},
		{"for f in $(ls); do cat $f; done", "LIST READ($f)"},
		{"f() { ls; }; time pytest", "LIST TEST"},
		{"ls > >(grep x)", "LIST SEARCH"},
		{"if grep -q x a; then ls; else pwd; fi", "SEARCH LIST INFO"},
		{"echo \"a $(find .)\"", "FIND"},
		{"cat \"a\\\"b\" 'c d' e\\ f $'g\\n'", "READ(a\"b,c d,e f,g\\n)"},
		{"grep 'x", "OTHER:grep"},
		{"ls\ngrep 'x", "LIST"},
	} {
		if got := describe(p.Parse(c.command).Actions); got != c.want {
			t.Errorf("%q: %s, want %s", c.command, got, c.want)
		}
	}
}

func TestWrittenText(t *testing.T) {
	p := New(Options{})
	for _, c := range []struct{ command, want string }{
		{"cat > a <<E\n\tx\n  y\nE", "\tx\n  y\n"},
		{"cat > a <<-E\n\tx\n\tE", "\tx\n"},
		{"cat > a <<E\nE", ""},
		{"cat > a <<'E'\n$x \\\n\ty\nE\nls", "$x \\\n\ty\n"},
		{"cat > a <<< 'x y'", "x y"},
		{"cat > a <<E <<F\none\nE\ntwo $x\nF", "two $x\n"},
		{"echo -e 'x' \"y\" > a", "-e x y"},
		{"sed -i 's/a/b/' f", "-i s/a/b/ f"},
		{"> a", ""},
	} {
		actions := p.Parse(c.command).Actions
		if len(actions) == 0 || actions[0].Text != c.want {
			t.Errorf("%q: %+v, want text %q", c.command, actions, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	p := New(Options{WorkspaceRoot: "/workspace/repo/", ScratchPrefixes: []string{"scratch/"}})
	got := describe(p.Parse("cat a.py /workspace/repo/lib/B.py /testbed/c; cd /; cat x").Actions)
	if want := "READ(a.py,lib/b.py,testbed/c) READ(x)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p.Class("tmp/a.py") != ClassSource || p.Class("scratch/a.py") != ClassScratch {
		t.Error("the scratch prefixes of the options do not hold")
	}
}

func TestClass(t *testing.T) {
	p := New(Options{})
	for file, want := range map[string]PathClass{
		"": ClassNone, "tmp/a.py": ClassScratch, "agent/x/y.py": ClassScratch, "a/b.py.bak": ClassScratch, "a/b.py~": ClassScratch,
		"a.py": ClassScratch, "setup.cfg": ClassSource, "makefile": ClassSource, "lib/a.py": ClassSource, "lib/test_a.py": ClassTest,
		"lib/a_test.go": ClassTest, "tests/a.txt": ClassTest, "lib/testing/a": ClassTest, "lib/conftest.py": ClassTest,
		"lib/tests.py": ClassTest, "lib/contest.py": ClassSource, "lib/latest/a.py": ClassSource, "a/__tests__/b.js": ClassTest,
	} {
		if got := p.Class(file); got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
}

func TestTestPathMatchesPattern(t *testing.T) {
	pattern := regexp.MustCompile(`(^|/)(test_[^/]*|[^/]*_test\.[^/]*|tests?/.*|testing/.*|conftest\.[^/]*|__tests__/.*|tests?\.py)$`)
	part := rapid.SampledFrom([]string{"test", "tests", "testing", "__tests__", "_test", "test_", "conftest", ".", ".py", "/", "a", "\n"})
	rapid.Check(t, func(t *rapid.T) {
		file := strings.Join(rapid.SliceOfN(part, 1, 7).Draw(t, "parts"), "")
		if got, want := isTest(file), pattern.MatchString(file); got != want {
			t.Fatalf("%q: %v, want %v", file, got, want)
		}
	})
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"", nil},
		{"cd /a && cd b; LS -l L", []string{"l", "ls"}},
		{"cd /a;ls", []string{"ls"}},
		{"cd /a", []string{"a", "cd"}},
		{" cd a &&", nil},
		{"é_x1", []string{"_x1"}},
	} {
		if got := Tokens(c.command); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.command, got, c.want)
		}
	}
}

func TestHostileCommands(t *testing.T) {
	p := New(Options{})
	for name, command := range map[string]string{
		"parentheses":   strings.Repeat("(", maxBrackets), // the most stack per byte
		"more brackets": strings.Repeat("(", maxCommand),
		"quotes":        strings.Repeat("\"$(", maxBrackets),
		"pipes":         strings.Repeat("a|", maxCommand/2-1) + "a",
		"too long":      strings.Repeat("a", maxCommand+1),
	} {
		t.Run(name, func(t *testing.T) { p.Parse(command) })
	}
	nested := "pytest"
	for i := range maxNesting + 1 {
		nested = fmt.Sprintf("bash <<'E%d'\n%s\nE%d", i, nested, i)
	}
	if got := describe(p.Parse(nested).Actions); got != "OTHER:pytest" {
		t.Errorf("nested too deeply: %s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "ls", "cat <<E >a\nx\nE", "a | b |& c", "bash -c 'bash -c \"ls\"'", "x=$(y) z", "`a`", "${x:-$(b)}", "<<<a", "\\"} {
		f.Add(s)
	}
	for _, c := range oracleCommands(f, conformance.Extract(f)) {
		f.Add(c.Command)
	}
	p := New(Options{})
	f.Fuzz(func(t *testing.T, command string) {
		r := p.Parse(command)
		again := p.Parse(command)
		if r.OK != again.OK || describe(r.Actions) != describe(again.Actions) {
			t.Fatalf("%q: %s, then %s", command, describe(r.Actions), describe(again.Actions))
		}
		for _, a := range r.Actions {
			for _, file := range a.Paths {
				if strings.HasPrefix(file, "/") || strings.HasSuffix(file, "/") || file != strings.ToLower(file) {
					t.Fatalf("%q: path %q", command, file)
				}
				p.Class(file)
			}
		}
		Group(r.Actions)
		tokens := Tokens(command)
		if !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != len(tokens) {
			t.Fatalf("%q: tokens %q", command, tokens)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	cases := oracleCommands(b, conformance.Extract(b))
	p := New(Options{})
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range cases {
			p.Parse(c.Command)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(cases)), "ns/command")
}

func BenchmarkTokens(b *testing.B) {
	cases := oracleCommands(b, conformance.Extract(b))
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range cases {
			Tokens(c.Command)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(cases)), "ns/command")
}

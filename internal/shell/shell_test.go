package shell

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

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

func oracleCommands(t testing.TB) []oracleCommand {
	f, err := os.Open(conformance.Dir(t, "oracle", "profiles", "commands_clean.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []oracleCommand
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<22)
	for sc.Scan() {
		var c oracleCommand
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestConformance(t *testing.T) {
	p := New(Options{})
	cases := oracleCommands(t)
	if len(cases) != 3000 {
		t.Fatalf("%d commands, want 3000", len(cases))
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

package equiv

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/conformance/released"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestStrictConformance(t *testing.T) { conformance.Each(t, checkStrictConformance) }

func checkStrictConformance(t *testing.T, set *conformance.Set) {
	rows := set.Table(t, "oracle", "profiles", "equivalence_strict_t.tsv")
	if want := set.Count(540, 3850); len(rows) != want {
		t.Fatalf("%d pairs, want %d", len(rows), want)
	}
	needed := map[string]bool{}
	var tasks []string
	for _, r := range rows {
		task, _, _ := strings.Cut(r["trajectory_a"], "-logs-")
		tasks = append(tasks, task)
		needed[r["trajectory_a"]], needed[r["trajectory_b"]] = true, true
	}
	clean := stage.NewClean(shell.New(shell.Options{}))
	table := NewStrictTable()
	steps := map[string][]StrictStep{}
	for _, run := range released.Trajectories(t, set, tasks...) {
		if !needed[run.ID] {
			continue
		}
		for _, s := range clean.Steps(run) {
			steps[run.ID] = append(steps[run.ID], table.Step(s.State, s.Stage, s.Actions))
		}
	}
	for _, r := range rows {
		at := func(side string) *StrictStep {
			i, err := strconv.Atoi(r["step_"+side])
			if err != nil {
				t.Fatal(err)
			}
			return &steps[r["trajectory_"+side]][i]
		}
		a, b := at("a"), at("b")
		same, confidence, reason := StrictT(a, b)
		if same != (r["equivalent"] == "1") || string(reason) != r["reason"] {
			t.Errorf("%v: %v by %s", r, same, reason)
		}
		if same != (confidence >= 0.7) || confidence > 1 {
			t.Errorf("%v: confidence %v", r, confidence)
		}
	}
}

func TestStrictStepConformance(t *testing.T) { conformance.Each(t, checkStrictStepConformance) }

func checkStrictStepConformance(t *testing.T, set *conformance.Set) {
	rows := set.Table(t, "oracle", "profiles", "states_3tasks.tsv")
	expected := map[string][]map[string]string{}
	tasks := map[string]bool{}
	for _, r := range rows {
		id := r["trajectory_id"]
		expected[id] = append(expected[id], r)
		task, _, _ := strings.Cut(id, "-logs-")
		tasks[task] = true
	}
	var names []string
	for task := range tasks {
		names = append(names, task)
	}
	parser := shell.New(shell.Options{})
	clean := stage.NewClean(parser)
	table := NewStrictTable()
	seen := 0
	for _, run := range released.Trajectories(t, set, names...) {
		steps := clean.Steps(run)
		want := expected[run.ID]
		if len(steps) != len(want) {
			t.Errorf("%s: %d steps, want %d", run.ID, len(steps), len(want))
			continue
		}
		for i, s := range steps {
			seen++
			if got := describeStep(i, s, table.Step(s.State, s.Stage, s.Actions), parser); !equalRows(got, want[i]) {
				t.Errorf("%s step %d\ngot  %v\nwant %v", run.ID, i, got, want[i])
			}
		}
	}
	if seen != len(rows) || seen != set.Count(1678, 3543) {
		t.Errorf("%d steps, want %d", seen, len(rows))
	}
}

func describeStep(i int, s stage.CleanStep, k StrictStep, parser *shell.Parser) map[string]string {
	row := map[string]string{
		"step": strconv.Itoa(i), "class": k.Class, "group": k.Group, "path": "", "path_class": "", "range": "", "n_tokens": "", "actions": "",
		"release": string(s.State.Stage.Letter()), "clean": string(s.Stage.Letter()),
	}
	if k.Class == "term" {
		row["n_tokens"] = strconv.Itoa(k.Tokens())
		var kinds []string
		for _, a := range s.Actions {
			kinds = append(kinds, a.Kind.String())
		}
		row["actions"] = strings.Join(kinds, ",")
	} else if k.Path != "" {
		row["path"] = k.Path
		if k.Class == "read" || k.Class == "edit" {
			row["path_class"] = parser.Class(k.Path).String()
		}
	}
	if k.Lines.Valid {
		row["range"] = fmt.Sprintf("%d-%d", k.Lines.Start, k.Lines.End)
	}
	return row
}

func equalRows(got, want map[string]string) bool {
	for name, v := range got {
		if want[name] != v {
			return false
		}
	}
	return len(got) == len(want)-1 // all columns but the trajectory's id
}

// randomSteps draws steps that agree often enough for every rule to decide some pair.
func randomSteps(t *rapid.T, n int) []StrictStep {
	table := NewStrictTable()
	parser := shell.New(shell.Options{})
	var out []StrictStep
	for range n {
		pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
		s := &trajectory.State{
			Tool:            pick("tool", "read_file", "replace_string_in_file", "create_file", "run_in_terminal", "list_dir", "think", "glob"),
			FilePath:        pick("path", "", "a/b.py", "a/c.py"),
			ScopePath:       pick("scope", "", "", "f", "g"),
			ContentHash:     pick("content", "", "", "", "x", "y"),
			ObservationHash: pick("observation", "", "", "", "x", "y"),
			ResponsePreview: pick("preview", "", "text\n  1\tx", "  7\tx", " 9\tx\n"),
			Log: &trajectory.LogEntry{Args: trajectory.Args{
				Command:   strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"grep", "ls", "x", "y", "z", "|", "pytest"}), 0, 8).Draw(t, "command"), " "),
				Code:      pick("code", "", "print x y"),
				NewString: pick("new", "", "a\nb\nc"),
			}},
		}
		if rapid.Bool().Draw(t, "ranged") {
			from := rapid.Int64Range(1, 9).Draw(t, "from")
			s.Lines = trajectory.LineRange{Start: from, End: from + rapid.Int64Range(0, 9).Draw(t, "length"), Valid: true}
		}
		label := rapid.SampledFrom([]trajectory.Stage{trajectory.Exploration, trajectory.Verification}).Draw(t, "label")
		out = append(out, table.Step(s, label, parser.Parse(s.Command()).Actions))
	}
	return out
}

func TestStrictIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := randomSteps(t, 6)
		for i := range steps {
			for j := range steps {
				same, confidence, reason := StrictT(&steps[i], &steps[j])
				same2, confidence2, reason2 := StrictT(&steps[j], &steps[i])
				if same != same2 || confidence != confidence2 || reason != reason2 {
					t.Fatalf("%+v\n%+v\n%v %v %s, reversed %v %v %s", steps[i], steps[j], same, confidence, reason, same2, confidence2, reason2)
				}
				if same && (steps[i].Label != steps[j].Label || confidence < 0.7 || confidence > 1) || !same && confidence != 0 {
					t.Fatalf("%+v\n%+v\n%v with confidence %v", steps[i], steps[j], same, confidence)
				}
			}
		}
	})
}

// The bound by bit masks must never turn away a pair of sets that has enough in common.
func TestStrictTokensMatchDefinition(t *testing.T) {
	words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,2}`), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		table := NewStrictTable()
		common := words.Draw(t, "common")
		step := func(name string) (StrictStep, map[string]bool) {
			all := append(words.Draw(t, name), common...)
			s := &trajectory.State{Tool: "run_in_terminal", Log: &trajectory.LogEntry{Args: trajectory.Args{Command: strings.Join(all, " ")}}}
			set := map[string]bool{}
			for _, w := range all {
				set[w] = true
			}
			if len(all) == 0 {
				s.Log.Args.Command = "-"
			}
			return table.Step(s, trajectory.Exploration, nil), set
		}
		a, x := step("a")
		b, y := step("b")
		both := 0
		for w := range x {
			if y[w] {
				both++
			}
		}
		union := len(x) + len(y) - both
		want := union > 0 && float64(both)/float64(union) > 0.5
		if same, _, reason := StrictT(&a, &b); same != want {
			t.Fatalf("%v and %v: %v by %s, want %v", x, y, same, reason, want)
		}
	})
}

func TestFirstNumberedLine(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"", 0, false},
		{"12\tx", 12, true},
		{"edited\n  \t 7\tx\n8\ty", 7, true},
		{"\n\n   3\t", 3, true},
		{"x 5\ty", 0, false},
		{"5 \ty\n6\t", 6, true},
		{"5\n\tx", 0, false},
		{"\tx\n9\ty", 9, true},
		{"99999999999999999999\tx", 0, false},
	} {
		if got, ok := firstNumberedLine(c.text); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %d %v, want %d %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

func TestFirstNumberedLineMatchesPattern(t *testing.T) {
	pattern := regexp.MustCompile(`(?m)^\s*(\d+)\t`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("12 \t\n\r\fx"))).Draw(t, "text")
		m := pattern.FindStringSubmatch(text)
		got, ok := firstNumberedLine(text)
		if m == nil {
			if ok {
				t.Fatalf("%q: %d, want none", text, got)
			}
			return
		}
		if want, err := strconv.ParseInt(m[1], 10, 48); ok != (err == nil) || ok && got != want {
			t.Fatalf("%q: %d %v, want %s", text, got, ok, m[1])
		}
	})
}

func BenchmarkStrictT(b *testing.B) {
	clean := stage.NewClean(shell.New(shell.Options{}))
	table := NewStrictTable()
	var steps []StrictStep
	for _, run := range released.Trajectories(b, conformance.Whole(b), "pydata__xarray-3151") {
		for _, s := range clean.Steps(run) {
			steps = append(steps, table.Step(s.State, s.Stage, s.Actions))
		}
	}
	pairs, equal := 0, 0
	for b.Loop() {
		for i := range steps {
			for j := range steps[:i] {
				if same, _, _ := StrictT(&steps[i], &steps[j]); same {
					equal++
				}
			}
		}
		pairs += len(steps) * (len(steps) - 1) / 2
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(pairs), "ns/pair")
	b.ReportMetric(100*float64(equal)/float64(pairs), "%equal")
}

func BenchmarkStrictStep(b *testing.B) {
	clean := stage.NewClean(shell.New(shell.Options{}))
	var runs [][]stage.CleanStep
	steps := 0
	for _, run := range released.Trajectories(b, conformance.Whole(b), "pydata__xarray-3151", "sympy__sympy-13372") {
		runs = append(runs, clean.Steps(run))
		steps += len(runs[len(runs)-1])
	}
	b.ReportAllocs()
	for b.Loop() {
		table := NewStrictTable()
		for _, run := range runs {
			for _, s := range run {
				table.Step(s.State, s.Stage, s.Actions)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/step")
}

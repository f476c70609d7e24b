package paper

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/schema"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// places are the figures by place, counted in the paper's tables: rows times columns with a
// figure, plus captions and the text about the table.
var places = []struct {
	name    string
	figures int
}{
	{"Table 1", 5 * 2},                          // runs and share of five categories
	{"Table 2", 8*5 + 1},                        // pass rate, score, two ranks and Lucky share of eight models; overall Lucky share
	{"Table 2 counts", 8 * 6},                   // runs, failing runs and four tiers of eight models
	{"Table 3", 5*3 + 2},                        // AUROC, weight and p of four signals and the score; accuracy and F1
	{"Table 4", 5 * 2},                          // runs and models of five datasets
	{"Table 5", 4},                              // two domain counts and two kappas
	{"Table 6", 5 * 2},                          // stage and comparison of five kinds of tools
	{"Table 7", 4 * (4*2 + 1)},                  // four ranges and the prevalence of four profiles
	{"Table 8", 5 * 5},                          // two shares, their ratio and two wastes of five detectors
	{"Table 9", 5*5 + 2},                        // the same, and the two sizes
	{"Table 10", 4*2 + 2 + 3},                   // kappa and agreement of four rows; states agreed on of all; raters
	{"Table 11", 4*4 + 3},                       // four figures of four stages; states, accuracy and macro F1
	{"Table 12", 4 * 4},                         // four figures of four methods
	{"Table 13", 5 * 4},                         // four figures of five categories
	{"Table 14", 9 * 6},                         // eight models and all by five categories and in total
	{"Table 15", 6*2 + 15 + 2 + 5},              // runs and models of six tasks; 15 category counts; two counts of one model; tasks, top ten, caption
	{"Table 16", 5*6 + 3*2 + 1},                 // six figures of five runs; category and stages of three; tokens of one
	{"Table 17", 5*2 + 4*2},                     // counts of five categories and shares of four
	{"Table 18", 1 + 4*2 + 3},                   // the full score; AUROC and change without one of four signals; size, step and sensitivity
	{"Table 19", 6*5 + 1},                       // five figures of six k; resamples
	{"Table 20", 10*2 + 4 + 10},                 // mean and mark of ten combinations; four deviations; overall figures and text
	{"Table 21", 5*5 + 5},                       // five figures of five categories; text
	{"Table 22", 2 * 4},                         // four figures of two tests
	{"Curation table", 3 * 7},                   // seven figures of three strategies
	{"Figure 5", 2*5 + 2*5 + 2 + 1 + 2*3 + 2*4}, // moves and coherence; counts and F1; recall and precision of one; header; coverage; divergences and temporal signal
	{"Figure 7", 1},                             // threshold
	{"Figure 9", 8 * 2},                         // Lucky passes and passes of eight models
	{"Text", 49},                                // corpus 5, scored runs 6, tiers 10, cuts 3, score 2, shift 2, pilot 6, weights 4, coherence 2, Lucky failures 2, categories 2, references 3, machine 2
	{"Appendix D.7", 12 + 5 + 9 + 7 + 8},        // five case studies
}

func TestNoFigureLeftOut(t *testing.T) {
	defs, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, d := range defs {
		got[d.place]++
	}
	total := 0
	for _, p := range places {
		if got[p.name] != p.figures {
			t.Errorf("%s: %d figures, want %d", p.name, got[p.name], p.figures)
		}
		total += p.figures
	}
	if len(defs) != total {
		t.Errorf("%d figures, want %d", len(defs), total)
	}
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Reasons() {
		if seen[r.Code] || r.Title == "" || !strings.HasSuffix(r.Text, ".") || strings.Contains(r.Title, "\n") {
			t.Errorf("reason %q: used twice, or without a title of one line and a text of sentences", r.Code)
		}
		seen[r.Code] = true
	}
	defs, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{"unexpected": true, "draw_variation": true, "missing_states": true, "missing_tasks": true, "missing_references": true, "undefined": true}
	for _, d := range defs {
		if d.reason != "" {
			used[d.reason] = true
		}
	}
	if !reflect.DeepEqual(seen, used) {
		t.Errorf("reasons %v, used %v", seen, used)
	}
	if _, ok := Explain("no_such_code"); ok {
		t.Error("an unknown code is explained")
	}
}

func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		printed string
		value   float64
		want    bool
	}{
		{"86.8", 86.75, true}, {"86.8", 86.849, true}, {"86.8", 86.851, false}, {"86.8", 86.74, false},
		{"93.8", 93.75, true}, // half-way
		{"34,032", 34031.53, true}, {"34,032", 34031.4, false},
		{"-0.037", -0.037, true}, {"-0.037", 0.037, false},
		{"~18", 18.4, true}, {"~18", 18.6, false},
		{"<0.0001", 2e-10, true}, {"<0.0001", 0.0001, false},
		{"<=8", 8, true}, {"<=8", 8.01, false},
		{">99", 99.5, true}, {">99", 99, false},
	} {
		p, err := parsePrinted(c.printed, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.agrees(number(c.value)); got != c.want {
			t.Errorf("printed %s, value %v: agrees %v, want %v", c.printed, c.value, got, c.want)
		}
	}
	p, err := parsePrinted("EIIE", "text")
	if err != nil || !p.agrees(text("EIIE")) || p.agrees(text("EIE")) || p.agrees(number(0)) {
		t.Errorf("text: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	good := "x\tText\tname\t1.0\t\tcount\tmodel=m\t\tmatch\t\t"
	if defs, err := parseDefinitions(header + "\n" + good + "\n"); err != nil || len(defs) != 1 {
		t.Fatalf("%d figures, %v", len(defs), err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"columns":   {"\tname", "", "columns"},
		"number":    {"1.0", "one", "one"},
		"recipe":    {"count", "guess", "guess"},
		"no recipe": {"count\tmodel=m", "\t", "no recipe"},
		"argument":  {"model=m", "colour=m", "colour"},
		"no value":  {"model=m", "model", "model"},
		"status":    {"match", "maybe", "maybe"},
		"reason":    {"match\t", "differs\tmood", "mood"},
		"needless":  {"match\t", "match\tcut_40", "match has no reason"},
		"rebuild":   {"count\tmodel=m", "draws\tof=auroc", "rebuild"},
	} {
		if _, err := parseDefinitions(header + "\n" + strings.Replace(good, c.old, c.new, 1) + "\n"); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: error %v, want %q and the line", name, err, c.want)
		}
	}
	if _, err := parseDefinitions(header + "\n" + good + "\n" + good + "\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("an id twice: %v", err)
	}
	if _, err := parseDefinitions(good + "\n"); err == nil {
		t.Error("no header, no error")
	}
}

func TestCycle(t *testing.T) {
	text := header + "\na\tText\ta\t1\t\tratio\ta=b b=b\t\tmatch\t\t\nb\tText\tb\t1\t\tratio\ta=a b=a\t\tmatch\t\t\n"
	defs, err := parseDefinitions(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEnv(Source{}, []schema.Features{{TrajectoryID: "r"}}, defs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.value("a"); err != errCycle {
		t.Errorf("error %v, want a cycle", err)
	}
}

// Published percentages made of any counts give the reference path's counts back, and the
// signal wherever it is said to be known.
func TestExplorationFromColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var totals, matched [4]int
		path, pairs := 1, 1
		var got, all, met, present float64
		for s := range totals {
			totals[s] = rapid.IntRange(0, 14).Draw(t, "total")
			matched[s] = rapid.IntRange(0, totals[s]).Draw(t, "matched")
			path += totals[s]
			pairs += matched[s]
			got += stageWeights[s] * float64(matched[s])
			all += stageWeights[s] * float64(totals[s])
			if totals[s] > 0 {
				present++
			}
			if matched[s] > 0 {
				met++
			}
		}
		if present == 0 {
			t.Skip("no labelled state")
		}
		steps := int64(rapid.IntRange(pairs, 150).Draw(t, "steps"))
		percent := func(a, b int) *float64 {
			x := 0.0
			if b > 0 {
				x = float64(a) / float64(b) * 100
			}
			return &x
		}
		n := steps - 1
		weighted, completeness := got/all*100, met/present
		f := &schema.Features{
			NStates: &n, CoveragePercent: percent(pairs, path), PrecisionPercent: percent(pairs, int(steps)),
			StageCoverageE: percent(matched[0], totals[0]), StageCoverageI: percent(matched[1], totals[1]),
			StageCoverageV: percent(matched[2], totals[2]), StageCoverageO: percent(matched[3], totals[3]),
			WeightedScore: &weighted, StageCompleteness: &completeness,
		}
		c, ok := countMatches(f)
		if want := (matchCounts{int(steps), path, pairs}); !ok || c != want {
			t.Fatalf("counts %+v, %v; want %+v", c, ok, want)
		}
		if e := explorationTotals(f); !slices.Contains(e, totals[0]) {
			t.Fatalf("totals %v lack %d", e, totals[0])
		}
		explored := rapid.IntRange(0, int(n)).Draw(t, "explored")
		want := totals[0] > 0 && float64(explored)/float64(totals[0]) > 2
		if signal, ok := excessiveExploration(f, explored); ok && signal != want {
			t.Fatalf("excessive %v with %d of %d", signal, explored, totals[0])
		}
	})
}

func TestParseStatus(t *testing.T) {
	for _, s := range Statuses() {
		for _, text := range []string{string(s), s.words(), strings.ReplaceAll(string(s), "_", "-")} {
			if got, err := ParseStatus(text); got != s || err != nil {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
	}
	if _, err := ParseStatus("wrong"); err == nil {
		t.Error("an unknown status is accepted")
	}
}

func TestRanksShareTheBetterPlace(t *testing.T) {
	if got := ranks([]float64{3, 5, 5, 1}); !slices.Equal(got, []int{3, 1, 1, 4}) {
		t.Errorf("ranks %v", got)
	}
}

func sampleLedger() Ledger {
	figure := func(id, place, name, published, unit string, v *Value, s Status, reason, explanation string) Figure {
		p, err := parsePrinted(published, unit)
		if err != nil {
			panic(err)
		}
		return Figure{ID: id, Place: place, Name: name, Published: published, Unit: unit, Recomputed: v, Basis: FromColumns, Status: s, Reason: reason, Explanation: explanation, printed: p}
	}
	n := func(x float64) *Value { v := number(x); return &v }
	words := text("EIIE")
	l := Ledger{[]Figure{
		figure("t1.a", "Table 1", "a share", "34.4", "%", n(34.42622950819672), Match, "", ""),
		figure("t1.b", "Table 1", "tokens", "34,032", "tokens", n(34031.52631578947), Match, "", ""),
		figure("t2.a", "Table 2", "p | q", "<0.0001", "", n(2.006e-10), Match, "", ""),
		figure("t2.b", "Table 2", "AUROC", "0.766", "", n(0.8857870159), Differs, "score_outcome_term", "the released score contains the outcome: more"),
		figure("t2.c", "Table 2", "stages", "EIIE", "text", &words, Match, "", ""),
		figure("t3.a", "Table 3", "first", "1.0", "", nil, NotRecomputable, "pilot_runs", "needs the pilot runs"),
		figure("t3.b", "Table 3", "second", "~2", "K", nil, NotRecomputable, "pilot_runs", "needs the pilot runs"),
		figure("t3.c", "Table 3", "third", "3", "", nil, NotRecomputable, "pilot_runs", "needs the pilot runs"),
		figure("t4.a", "Table 4", "redrawn", "0.72", "", n(0.7254), WithinDraws, "draw_variation", "between 0.710 and 0.740"),
	}}
	l.Figures[3].Rebuilt = n(0.7353917)
	return l
}

func TestRenderings(t *testing.T) {
	l := sampleLedger()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"ledger.txt":  func(b *bytes.Buffer) error { return WriteText(b, l, false) },
		"full.txt":    func(b *bytes.Buffer) error { return WriteText(b, l, true) },
		"differs.txt": func(b *bytes.Buffer) error { return WriteText(b, l.Only(Differs), false) },
		"ledger.md":   func(b *bytes.Buffer) error { return WriteMarkdown(b, l) },
		"ledger.json": func(b *bytes.Buffer) error { return WriteJSON(b, l) },
		"explain.txt": func(b *bytes.Buffer) error { return WriteReasons(b, "cut_40", "truncated") },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s (-update rewrites it):\n%s", name, b.Bytes())
		}
	}
	if err := WriteReasons(&bytes.Buffer{}, "no_such_code"); err == nil || !strings.Contains(err.Error(), "cut_40") {
		t.Errorf("unknown code: %v, want the known ones", err)
	}
}

// Another JSON library reads the figures with their types.
func TestJSONTypes(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, sampleLedger()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Figures []map[string]any `json:"figures"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if f := got.Figures[1]; f["published"] != 34032.0 || math.Abs(f["recomputed"].(float64)-34031.52631578947) > 0 || f["reason"] != nil {
		t.Errorf("a number: %v", f)
	}
	if f := got.Figures[2]; f["published"] != "<0.0001" || f["recomputed"] != 2.006e-10 {
		t.Errorf("a bound: %v", f)
	}
	if f := got.Figures[5]; f["recomputed"] != nil || f["status"] != "not_recomputable" || f["reason"] != "pilot_runs" {
		t.Errorf("a missing figure: %v", f)
	}
}

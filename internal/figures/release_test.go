package figures

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

// published writes the release's columns and its runs' totals as a dataset without profiles.
func published(t *testing.T) *dataset {
	t.Helper()
	archive := conformance.Release(t)
	var mu sync.Mutex
	var columns []schema.Published
	var runs []schema.Trajectory
	_, err := ingest.Read(context.Background(), []string{archive}, ingest.Options{Jobs: 2}, func(it ingest.Item) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case it.Published != nil:
			columns = append(columns, *it.Published)
		case it.Trajectory != nil:
			r := schema.Trajectory{TrajectoryID: it.Trajectory.ID, TaskID: "task", Model: "model", Format: "f", Outcome: "unknown", StagesRelease: it.Trajectory.StageString()}
			for i := range it.Trajectory.States {
				r.InputTokens += it.Trajectory.States[i].InputTokens.Or(0)
				r.OutputTokens += it.Trajectory.States[i].OutputTokens.Or(0)
			}
			runs = append(runs, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(columns, func(a, b schema.Published) int { return strings.Compare(a.TrajectoryID, b.TrajectoryID) })
	slices.SortFunc(runs, func(a, b schema.Trajectory) int { return strings.Compare(a.TrajectoryID, b.TrajectoryID) })
	dir := t.TempDir()
	w, err := store.Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, err := range []error{
		w.Append("tasks", "", []schema.Task{{TaskID: "task"}}), w.Append("models", "", []schema.Model{{Model: "model"}}),
		w.Append("trajectories", "", runs), w.Append("published", "", columns),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &dataset{dir: dir, db: db, have: []Source{Published}}
}

// TestPaper compares figures of the published columns with what the paper prints.
func TestPaper(t *testing.T) {
	req := &request{ctx: context.Background(), dataset: published(t), source: Published, all: true, loaded: map[Source]*data{}}
	tables := map[string]Table{}
	for _, k := range kinds() {
		f, err := k.make(req)
		if err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		f.Name = k.name
		checkText(t, f)
		if !strings.Contains(f.page.title, "published") {
			t.Errorf("%s: title %q does not name the source", k.name, f.page.title)
		}
		for _, table := range f.Tables {
			tables[table.Name] = table
		}
	}
	// cell finds a value of the row whose first cells are key.
	cell := func(table, column string, key ...string) float64 {
		t.Helper()
		tab := tables[table]
		for _, r := range tab.Rows {
			if slices.Equal(r[:len(key)], key) {
				x, err := strconv.ParseFloat(r[slices.Index(tab.Header, column)], 64)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
		}
		t.Fatalf("%s: no row %v", table, key)
		return 0
	}
	near := func(what string, got, want, within float64) {
		t.Helper()
		if !(math.Abs(got-want) <= within) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}

	// Tables 2 and 14.
	for _, m := range []struct {
		model                      string
		passRate, score            float64
		passRank, scoreRank        float64
		ideal, solid, lucky        float64
		partial, off               float64
		c1, c2, c3, c4, categoryC5 float64
	}{
		{"sonnet-4.5", 86.8, 67.4, 2, 1, 71, 124, 2, 29, 1, 0, 2, 0, 0, 0},
		{"opus-4.5", 87.9, 66.2, 1, 2, 62, 133, 1, 26, 1, 0, 0, 0, 0, 1},
		{"gpt-4o", 34.9, 63.4, 8, 3, 17, 53, 3, 103, 33, 0, 2, 1, 0, 0},
		{"gemini-2.5-pro", 42.9, 59.2, 7, 4, 11, 86, 8, 66, 74, 0, 2, 5, 0, 1},
		{"gpt-5.3-codex", 45.9, 58.3, 6, 5, 21, 73, 17, 55, 76, 2, 1, 12, 0, 2},
		{"opus-4.6", 77.3, 56.7, 3, 6, 23, 129, 35, 36, 19, 17, 5, 8, 0, 5},
		{"gpt-5.2-codex", 64.6, 56.1, 4, 7, 17, 108, 30, 35, 50, 0, 12, 14, 0, 4},
		{"gpt-4.1", 59.9, 54.7, 5, 8, 7, 79, 26, 23, 52, 0, 18, 1, 5, 2},
	} {
		near(m.model+" pass rate", cell("ranks", "pass_rate_percent", m.model), m.passRate, 0.05)
		near(m.model+" score", cell("ranks", "mean_score_of_passes", m.model), m.score, 0.051)
		near(m.model+" pass rank", cell("ranks", "pass_rank", m.model), m.passRank, 0)
		near(m.model+" score rank", cell("ranks", "score_rank", m.model), m.scoreRank, 0)
		for i, n := range []float64{m.ideal, m.solid, m.lucky, m.partial, m.off} {
			near(m.model+" "+string(tiers[i]), cell("tiers", "runs", m.model, string(tiers[i])), n, 0)
		}
		for i, n := range []float64{m.c1, m.c2, m.c3, m.c4, m.categoryC5} {
			near(m.model+" "+categories[i].Code, cell("lucky", "lucky_passes", m.model, categories[i].Code), n, 0)
		}
	}
	// Table 9.
	for kind, want := range map[string][4]float64{
		"regression_loop": {47.6, 18.0, 18.6, 7.1}, "blind_retry": {44.5, 39.3, 2.7, 11.4}, "redundant_step": {57.2, 24.6, 2.9, 4.3},
		"unnecessary_exploration": {6.6, 0.8, 2.0, 1.0}, "cyclic_pattern": {41.5, 15.6, 3.9, 3.4},
	} {
		near(kind+" of ideal", cell("waste", "prevalence_percent", kind, "ideal"), want[0], 0.05)
		near(kind+" of lucky", cell("waste", "prevalence_percent", kind, "lucky"), want[1], 0.05)
		near(kind+" of ideal, steps", cell("waste", "mean_steps_of_affected", kind, "ideal"), want[2], 0.051)
		near(kind+" of lucky, steps", cell("waste", "mean_steps_of_affected", kind, "lucky"), want[3], 0.051)
	}
	// Table 21.
	for code, want := range map[string][3]float64{"C1": {19, 34032, 1}, "C3": {41, 162024, 4.8}, "C5": {15, 232854, 6.8}, "C2": {42, 856512, 25.2}, "C4": {5, 1377226, 40.5}} {
		near(code+" runs", cell("tokens", "runs", code), want[0], 0)
		near(code+" tokens", cell("tokens", "mean_tokens", code), want[1], 0.5)
		near(code+" factor", cell("tokens", "times_cheapest", code), want[2], 0.05)
	}
	if got := len(tables["tokens.runs"].Rows); got != 122 {
		t.Errorf("%d runs with tokens, want 122", got)
	}
	// Table 16.
	strips := map[string]string{}
	order := []string{}
	for _, r := range tables["timelines"].Rows {
		if strips[r[0]] == "" {
			order = append(order, r[2]+" "+r[1]+" "+r[4]+" "+r[3])
		}
		strips[r[0]] += r[6]
	}
	if want := []string{"ideal gpt-4o 88 ", "solid opus-4.5 67 ", "lucky opus-4.6 33 C1", "lucky gpt-5.3-codex 32 C3", "lucky gpt-4.1 22 C2"}; !slices.Equal(order, want) {
		t.Errorf("timelines of %q, want %q", order, want)
	}
	if got := strips[paperRuns[2]]; got != "EIIE" {
		t.Errorf("stages %s, want EIIE", got)
	}
	near("AUROC", cell("scores.thresholds", "auroc", "published"), 0.886, 0.0005)
}

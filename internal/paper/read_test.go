package paper_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/paper"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

func ptr[T any](x T) *T { return &x }

// dataset writes tables and opens them. Rows of a profile's table are under "profile/table".
func dataset(t *testing.T, profiles []string, tables []string, rows map[string]any) *store.DB {
	t.Helper()
	dir := t.TempDir()
	w, err := store.Create(dir, profiles)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, name := range tables {
		profile, table, ok := strings.Cut(name, "/")
		if !ok {
			profile, table = "", name
		}
		if err := w.Append(table, profile, rows[name]); err != nil {
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
	return db
}

func TestRead(t *testing.T) {
	run := func(id string) schema.Trajectory {
		return schema.Trajectory{TrajectoryID: id, TaskID: "a__b-1", Model: "m", Format: "f", Outcome: "pass", InputTokens: 7, StagesRelease: "-EI"}
	}
	state := func(id string, step int64, tool *string) schema.State {
		return schema.State{TrajectoryID: id, Step: step, StateID: "s", Tool: tool}
	}
	column := func(id string) schema.Features {
		return schema.Features{TaskID: "a__b-1", Model: "m", TrajectoryID: id, Passed: ptr(true), QualityScore: ptr(int64(80)), QualityTier: ptr("ideal")}
	}
	signals := func(id string) schema.SignalsPaper {
		return schema.SignalsPaper{TrajectoryID: id, Labels: "release", PTAID: "a__b-1#0", PaperScore: 50}
	}
	tables := []string{"tasks", "models", "trajectories", "states", "published", "published_tasks", "published_references",
		"release/features", "paper/pta", "paper/signals"}
	rows := map[string]any{
		"tasks":                []schema.Task{{TaskID: "a__b-1"}},
		"models":               []schema.Model{{Model: "m"}},
		"trajectories":         []schema.Trajectory{run("other"), run("r1")},
		"states":               []schema.State{state("other", 1, ptr("bash")), state("r1", 0, nil), state("r1", 1, ptr("bash")), state("r1", 2, ptr("bash")), state("r1", 3, ptr("edit"))},
		"published":            []schema.Published{column("r1"), column("r2")},
		"published_tasks":      []schema.PublishedTask{{TaskID: "a__b-1", NPassing: ptr(int64(2))}},
		"published_references": []schema.PublishedReference{{TaskID: "a__b-1", NTraces: 2}},
		"release/features":     []schema.Features{column("other"), column("r1")},
		"paper/pta":            []schema.PTA{{PTAID: "a__b-1#0", TaskID: "a__b-1"}},
		"paper/signals":        []schema.SignalsPaper{signals("other"), signals("r1")},
	}
	got, err := paper.Read(context.Background(), dataset(t, []string{"release", "paper"}, tables, rows))
	if err != nil {
		t.Fatal(err)
	}
	want := paper.Source{
		Published:    []schema.Published{column("r1"), column("r2")},
		Trajectories: []schema.Trajectory{run("r1")},
		Tasks:        []schema.PublishedTask{{TaskID: "a__b-1", NPassing: ptr(int64(2))}},
		References:   []schema.PublishedReference{{TaskID: "a__b-1", NTraces: 2}},
		ToolCalls:    []paper.ToolCalls{{TrajectoryID: "r1", Tool: "bash", Calls: 2}, {TrajectoryID: "r1", Tool: "edit", Calls: 1}},
		Rebuilt:      []schema.Features{column("r1")},
		Paper:        []schema.SignalsPaper{signals("r1")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}

	// Profiles that were not computed are no error.
	got, err = paper.Read(context.Background(), dataset(t, []string{"process"}, tables[:7], rows))
	want.Rebuilt, want.Paper = nil, nil
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("without profiles: %v\n%+v\nwant\n%+v", err, got, want)
	}

	_, err = paper.Read(context.Background(), dataset(t, []string{"process"}, tables[:4], rows))
	if !errors.Is(err, paper.ErrNoPublished) {
		t.Errorf("without published columns: %v", err)
	}
}

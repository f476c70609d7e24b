package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/store"
)

// said runs a command that ends well and returns what it printed.
func said(t *testing.T, args ...string) string {
	t.Helper()
	return saidAt(t, exitOK, args...)
}

func saidAt(t *testing.T, code int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(context.Background(), args, &stdout, &stderr); got != code {
		t.Fatalf("%q: exit code %d\n%s", args, got, stderr.String())
	}
	return stdout.String()
}

func decoded[T any](t *testing.T, text string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return out
}

// scoreFacts are what the database says of a score.
type scoreFacts struct {
	byRun map[string]float64
	mean  float64 // over all scored runs
	auroc float64 // by counting pairs
}

func factsOf(t *testing.T, dir string, of profile.Profile) scoreFacts {
	t.Helper()
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := of.Score()
	rows, err := db.QueryContext(t.Context(), fmt.Sprintf("SELECT s.trajectory_id, s.%s, t.outcome FROM %s s JOIN trajectories t USING (trajectory_id) WHERE s.%[1]s IS NOT NULL ORDER BY 1", s.Column, s.View(of.Name())))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := scoreFacts{byRun: map[string]float64{}}
	var pass, fail []float64
	for rows.Next() {
		var id, outcome string
		var score float64
		if err := rows.Scan(&id, &score, &outcome); err != nil {
			t.Fatal(err)
		}
		out.byRun[id] = score
		out.mean += score
		switch outcome {
		case "pass":
			pass = append(pass, score)
		case "fail":
			fail = append(fail, score)
		}
	}
	if err := rows.Err(); err != nil || len(pass)*len(fail) == 0 {
		t.Fatal(len(pass), len(fail), err)
	}
	out.mean /= float64(len(out.byRun))
	for _, x := range pass {
		for _, y := range fail {
			switch {
			case x > y:
				out.auroc++
			case x == y:
				out.auroc += 0.5
			}
		}
	}
	out.auroc /= float64(len(pass) * len(fail))
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// There is one answer to what the score of a profile is: every command names the same column
// and gives the same numbers, those of the database, with draws of references or without.
func TestEveryCommandHasTheSameScore(t *testing.T) {
	root := t.TempDir()
	t.Setenv(cachedir.Variable, filepath.Join(root, "cache"))
	plain := filepath.Join(root, "plain")
	said(t, "build", "--out", plain)
	for _, draws := range []string{"4", "0"} {
		dir := plain
		if draws != "0" {
			dir = filepath.Join(root, "drawn")
			said(t, "build", "--draws", draws, "--out", dir)
		}
		m, err := bench.ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		before, err := bench.ReadManifest(plain)
		if err != nil {
			t.Fatal(err)
		}
		hub, drawn := filepath.Join(root, "hub"+draws), filepath.Join(root, "figures"+draws)
		said(t, "publish", dir, "--out", hub, "--license", "Apache-2.0")
		card, err := os.ReadFile(filepath.Join(hub, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		said(t, "figures", dir, "--out", drawn, "--only", "scores", "--format", "svg")
		thresholds, err := os.ReadFile(filepath.Join(drawn, "scores.thresholds.csv"))
		if err != nil {
			t.Fatal(err)
		}
		profiles, err := m.Parameters.With()
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range profiles {
			t.Run(of.Name()+" draws "+draws, func(t *testing.T) {
				score, want := of.Score(), factsOf(t, dir, of)
				line := regexp.MustCompile("(?m)^\\| `" + of.Name() + "` \\|.*$").FindString(string(card))
				for _, cell := range []string{"`" + score.Column + "`", fmt.Sprintf(" %.1f ", want.mean), fmt.Sprintf(" %.3f ", want.auroc)} {
					if !strings.Contains(line, cell) {
						t.Errorf("card: no %s in %q", cell, line)
					}
				}

				rows, err := csv.NewReader(bytes.NewReader(thresholds)).ReadAll()
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, row := range rows[1:] {
					if row[0] != of.Name() {
						continue
					}
					n++
					var auroc float64
					fmt.Sscan(row[3], &auroc)
					if row[len(row)-1] != score.Column || !near(auroc, want.auroc) {
						t.Errorf("figures: %q, want %s and %v", row, score.Column, want.auroc)
					}
				}
				if n == 0 {
					t.Error("figures: no thresholds")
				}

				stats := decoded[struct {
					Parameters map[string]string `json:"parameters"`
					Results    []struct {
						Figures map[string]float64 `json:"figures"`
					} `json:"results"`
				}](t, said(t, "stats", "auroc", dir, "--profile", of.Name(), "--json"))
				if stats.Parameters["score"] != score.Name() || !near(stats.Results[0].Figures["auroc"], want.auroc) {
					t.Errorf("stats: %+v, want %s and %v", stats, score.Name(), want.auroc)
				}

				set := decoded[struct {
					Selection struct {
						Score string  `json:"score"`
						Runs  int     `json:"runs"`
						Mean  float64 `json:"mean_score"`
					} `json:"selection"`
				}](t, said(t, "curate", dir, "--profile", of.Name(), "--target", "ids", "--outcome", "pass,fail,unknown", "--min-score", "0", "--dry-run", "--json")).Selection
				if set.Score != score.Name() || set.Runs != len(want.byRun) || !near(set.Mean, want.mean) {
					t.Errorf("curate: %+v, want %s of %d runs and %v", set, score.Name(), len(want.byRun), want.mean)
				}

				for id, value := range want.byRun {
					r, err := bench.Show(t.Context(), dir, id, of.Name())
					if err != nil {
						t.Fatal(err)
					}
					if r.Score == nil || r.Score.Column != score.Column || r.Score.Score != value || !near(profile.Total(r.Score.Parts), value) {
						t.Fatalf("show: %+v of %s, want %s and %v", r.Score, id, score.Column, value)
					}
				}

				was, err := before.Parameters.Profile(of.Name())
				if err != nil {
					t.Fatal(err)
				}
				name := of.Name() + " " + score.Column
				if was.Score().Column != score.Column {
					name = of.Name() + " " + was.Score().Column + " to " + name
				}
				code, old := exitOK, factsOf(t, plain, was)
				if dir != plain {
					code = exitFailure
				}
				found := false
				for _, change := range decoded[bench.Difference](t, saidAt(t, code, "diff", plain, dir, "--json")).Scores {
					changed := 0
					for id, value := range want.byRun {
						if old.byRun[id] != value {
							changed++
						}
					}
					if change.Score == name {
						found = near(change.MeanDiff, want.mean-old.mean) && int(change.Changed) == changed
					}
				}
				if !found && dir != plain { // equal sides have no scores to show
					t.Errorf("diff: no change of %s by %v", name, want.mean-old.mean)
				}

				if _, ok := of.(profile.Weighted); !ok {
					return
				}
				for _, args := range [][]string{
					{"calibrate", dir, "--step", "0.5"}, {"ablate", "signals", dir}, {"ablate", "weights", dir},
				} {
					got := decoded[struct {
						Separation struct {
							Scores []struct {
								Name  string `json:"name"`
								Micro struct {
									AUROC float64 `json:"auroc"`
								} `json:"micro"`
							} `json:"scores"`
						} `json:"separation"`
					}](t, said(t, append(args, "--profile", of.Name(), "--resamples", "2", "--json")...)).Separation.Scores[0]
					if got.Name != score.Column || !near(got.Micro.AUROC, want.auroc) {
						t.Errorf("%s: %+v, want %s and %v", args[0], got, score.Column, want.auroc)
					}
				}
			})
		}
	}
}

// The strip of stages is that of the labels which the profile judges by.
func TestShowPrintsTheLabelsOfItsProfile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bench")
	said(t, "build", "--paper-labels", "clean", "--out", dir)
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var id, byRelease, byClean string
	row := db.QueryRowContext(t.Context(), "SELECT trajectory_id, stages_release, stages_clean FROM trajectories WHERE stages_release <> stages_clean LIMIT 1")
	if err := row.Scan(&id, &byRelease, &byClean); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"release": byRelease, "paper": byClean, "process": byClean} {
		r, err := bench.Show(t.Context(), dir, id, name)
		if err != nil || r.Stages != want {
			t.Errorf("%s: %s, want %s: %v", name, r.Stages, want, err)
		}
	}
}

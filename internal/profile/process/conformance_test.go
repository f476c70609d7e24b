package process_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/profiletest"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

func TestProcessScores(t *testing.T) { conformance.Each(t, checkProcessScores) }

func checkProcessScores(t *testing.T, set *conformance.Set) {
	rows := set.Table(t, "oracle", "profiles", "process_scores.tsv")
	if want := set.Count(149, 1815); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	_, all := profiletest.Load(t, set)
	var out profiletest.Collector
	for _, task := range all {
		if err := process.AssessSteps(context.Background(), task, process.DefaultParams(), &out); err != nil {
			t.Fatal(err)
		}
	}
	ours := out.ByID()
	diffs := profiletest.Mismatches{T: t}
	for _, want := range rows {
		id := want["trajectory_id"]
		run, ok := ours[id]
		if !ok {
			diffs.Add("%s: no row", id)
			continue
		}
		got := profiletest.Columns(run.Signals.(*schema.SignalsProcess))
		got["P3"] = got["process_score"]
		for name, w := range want {
			if g, ok := got[name]; !ok || !profiletest.Same(w, g) {
				diffs.Add("%s: %s is %q, want %q", id, name, g, w)
			}
		}
		if tier := run.Tier.Tier; tier == nil || *tier != want["tier"] || *run.Tier.Borderline != (want["borderline"] == "1") {
			diffs.Add("%s: tier row differs from %s", id, want["tier"])
		}
	}
	diffs.Done(len(rows))
}

func TestProcessHalves(t *testing.T) { conformance.Each(t, checkProcessHalves) }

func checkProcessHalves(t *testing.T, set *conformance.Set) {
	want := map[string]map[string]string{}
	for _, row := range set.Table(t, "oracle", "profiles", "process_halves.tsv") {
		want[row["trajectory_id"]] = row
	}
	_, all := profiletest.Load(t, set)
	diffs := profiletest.Mismatches{T: t}
	n := 0
	for _, task := range all {
		var passing []string
		for _, r := range task.Runs {
			if r.Outcome == trajectory.Pass {
				passing = append(passing, r.ID)
			}
		}
		for seed := 1; seed <= 6; seed++ {
			half := map[string]int{}
			for i, id := range profile.HashOrder(passing, fmt.Sprintf("half%d:", seed)) {
				half[id] = i % 2
			}
			for h := range 2 {
				scores, err := process.Scores(context.Background(), task, process.DefaultParams(),
					func(r *steps.Run) bool { return half[r.ID] == h })
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range task.Runs {
					got := ""
					if scores[i] != nil {
						got = profiletest.Number(*scores[i])
					}
					n++
					if w := want[r.ID][fmt.Sprintf("P3_seed%d_half%d", seed, h)]; !profiletest.Same(w, got) {
						diffs.Add("%s seed %d half %d: %q, want %q", r.ID, seed, h, got, w)
					}
				}
			}
		}
	}
	diffs.Done(n)
}

func BenchmarkProcess(b *testing.B) {
	_, all := profiletest.Load(b, conformance.Whole(b))
	for b.Loop() {
		var out profiletest.Collector
		for _, task := range all {
			if err := process.AssessSteps(context.Background(), task, process.DefaultParams(), &out); err != nil {
				b.Fatal(err)
			}
		}
	}
}

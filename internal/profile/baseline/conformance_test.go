package baseline_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/profile/baseline"
	"github.com/agentlens-bench/agentlens/internal/profile/profiletest"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
)

func TestBaselines(t *testing.T) { conformance.Each(t, checkBaselines) }

func checkBaselines(t *testing.T, set *conformance.Set) {
	rows := set.Table(t, "oracle", "profiles", "baselines.tsv")
	if want := set.Count(149, 1815); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	sources, all := profiletest.Load(t, set)
	ctx := context.Background()
	ours := map[string]map[string]baseline.Score{"individual_release": {}, "individual_clean": {}, "tfidf": {}}
	for i, task := range all {
		for name, f := range map[string]func() ([]baseline.Score, error){
			"individual_release": func() ([]baseline.Score, error) {
				return baseline.Individual(ctx, task, steps.Release, 5)
			},
			"individual_clean": func() ([]baseline.Score, error) {
				return baseline.Individual(ctx, task, steps.Clean, 5)
			},
			"tfidf": func() ([]baseline.Score, error) { return baseline.TFIDF(ctx, sources[i], 5) },
		} {
			scores, err := f()
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range scores {
				ours[name][s.ID] = s
			}
		}
	}
	diffs := profiletest.Mismatches{T: t}
	for _, want := range rows {
		id := want["trajectory_id"]
		for name, scores := range ours {
			got := scores[id]
			if !profiletest.Same(want[name], profiletest.Number(got.Value)) || want[name+"_ref"] != strconv.Itoa(got.Index) {
				diffs.Add("%s: %s is %v of reference %d, want %s of %s", id, name, got.Value, got.Index, want[name], want[name+"_ref"])
			}
		}
	}
	diffs.Done(len(rows))
}

func BenchmarkTFIDF(b *testing.B) {
	sources, _ := profiletest.Load(b, conformance.Whole(b))
	for b.Loop() {
		for _, task := range sources {
			if _, err := baseline.TFIDF(context.Background(), task, 5); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDenseOffline(b *testing.B) {
	sources, _ := profiletest.Load(b, conformance.Whole(b))
	for b.Loop() {
		for _, task := range sources[:3] {
			if _, err := baseline.Dense(context.Background(), task, 5, baseline.LSA(64)); err != nil {
				b.Fatal(err)
			}
		}
	}
}

package paper_test

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/profiletest"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

func assessPaper(t testing.TB, set *conformance.Set, params paper.Params) *profiletest.Collector {
	_, all := profiletest.Load(t, set)
	var out profiletest.Collector
	for _, task := range all {
		if err := paper.AssessSteps(context.Background(), task, params, &out); err != nil {
			t.Fatal(err)
		}
	}
	return &out
}

func withLabels(set string) paper.Params {
	p := paper.DefaultParams()
	p.Labels = steps.LabelSet(set)
	return p
}

func TestPaperScores(t *testing.T) { conformance.Each(t, checkPaperScores) }

func checkPaperScores(t *testing.T, set *conformance.Set) {
	rows := set.Table(t, "oracle", "profiles", "paper_scores.tsv")
	if want := set.Count(298, 3630); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	diffs := profiletest.Mismatches{T: t}
	for _, labels := range []string{"release", "clean"} {
		ours := assessPaper(t, set, withLabels(labels)).ByID()
		for _, want := range rows {
			if want["labels"] != labels {
				continue
			}
			id := want["trajectory_id"]
			run, ok := ours[id]
			if !ok {
				diffs.Add("%s: no row", id)
				continue
			}
			got := map[string]string{}
			if run.Signals != nil {
				got = profiletest.Columns(run.Signals.(*schema.SignalsPaper))
				got["f"] = got["paper_score"]
			}
			for name, w := range want {
				if g, ok := got[name]; !ok || !profiletest.Same(w, g) {
					diffs.Add("%s %s: %s is %q, want %q", labels, id, name, g, w)
				}
			}
			if tier := run.Tier.Tier; tier == nil || *tier != want["tier"] {
				diffs.Add("%s %s: tier row has %v, want %s", labels, id, tier, want["tier"])
			}
		}
	}
	diffs.Done(len(rows))
}

func TestPaperReferences(t *testing.T) { conformance.Each(t, checkPaperReferences) }

func checkPaperReferences(t *testing.T, set *conformance.Set) {
	type golden struct {
		Task   string   `json:"task"`
		Labels string   `json:"labels"`
		Refs   []string `json:"refs"`
		Nodes  [][2]int `json:"nodes"`
		Paths  [][]int  `json:"paths"`
	}
	ours := map[string]struct {
		nodes [][2]int
		paths [][]int
	}{}
	for _, labels := range []string{"release", "clean"} {
		for _, ref := range assessPaper(t, set, withLabels(labels)).References {
			var refs []string
			for _, m := range ref.Members {
				refs = append(refs, m.TrajectoryID)
			}
			got := ours[labels+strings.Join(refs, ",")]
			for _, n := range ref.Nodes {
				// The release has one step per state, so a state id is its step index + 1.
				var ids []string
				if err := json.Unmarshal([]byte(n.OriginalIDs), &ids); err != nil {
					t.Fatal(err)
				}
				member, state, _ := strings.Cut(ids[0], ":")
				m, _ := strconv.Atoi(member)
				s, _ := strconv.Atoi(strings.TrimPrefix(state, "state_"))
				got.nodes = append(got.nodes, [2]int{m, s - 1})
			}
			for _, p := range ref.Paths {
				var nodes []int
				if err := json.Unmarshal([]byte(p.Nodes), &nodes); err != nil {
					t.Fatal(err)
				}
				got.paths = append(got.paths, nodes)
			}
			ours[labels+strings.Join(refs, ",")] = got
		}
	}
	graphs := conformance.Lines[golden](t, set, "oracle", "profiles", "pta_3tasks.jsonl")
	for _, want := range graphs {
		got, ok := ours[want.Labels+strings.Join(want.Refs, ",")]
		if !ok {
			t.Errorf("%s %s: no reference of %v", want.Task, want.Labels, want.Refs)
			continue
		}
		if !slices.Equal(got.nodes, want.Nodes) || !slices.EqualFunc(got.paths, want.Paths, slices.Equal) {
			t.Errorf("%s %s: reference of %v differs", want.Task, want.Labels, want.Refs)
		}
	}
	if want := set.Count(20, 28); len(graphs) != want {
		t.Errorf("%d graphs, want %d", len(graphs), want)
	}
}

func BenchmarkPaper(b *testing.B) {
	_, all := profiletest.Load(b, conformance.Whole(b))
	for b.Loop() {
		var out profiletest.Collector
		for _, task := range all {
			if err := paper.AssessSteps(context.Background(), task, paper.DefaultParams(), &out); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkPaperDraws(b *testing.B) {
	_, all := profiletest.Load(b, conformance.Whole(b))
	params := withLabels("clean")
	params.Draws = 12
	for b.Loop() {
		for _, task := range all {
			if _, err := paper.DrawScores(context.Background(), task, params); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkSteps(b *testing.B) {
	all, _ := profiletest.Load(b, conformance.Whole(b))
	for b.Loop() {
		for _, task := range all {
			profiletest.Steps(b, task)
		}
	}
}

// Every draw, and the mean, deviation, tier and share of the first twelve.
func TestPaperDraws(t *testing.T) { conformance.Each(t, checkPaperDraws) }

func checkPaperDraws(t *testing.T, set *conformance.Set) {
	rows := set.Table(t, "oracle", "profiles", "paper_draws.tsv")
	if want := set.Count(447, 5445); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	_, all := profiletest.Load(t, set)
	diffs := profiletest.Mismatches{T: t}
	for _, labels := range []string{"release", "clean", "clean_x"} {
		params := withLabels(strings.TrimSuffix(labels, "_x"))
		params.OtherModels = labels == "clean_x"
		params.Draws = 24
		scores := map[string][]float64{}
		outcome := map[string]trajectory.Outcome{}
		for _, task := range all {
			byRun, err := paper.DrawScores(context.Background(), task, params)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range task.Runs {
				scores[r.ID], outcome[r.ID] = byRun[i], r.Outcome
			}
		}
		for _, want := range rows {
			if want["labels"] != labels {
				continue
			}
			id := want["trajectory_id"]
			if scores[id] == nil {
				diffs.Add("%s %s: not scored", labels, id)
				continue
			}
			for d, f := range scores[id] {
				if w := want["f_draw"+strconv.Itoa(d+1)]; !profiletest.Same(w, profiletest.Number(f)) {
					diffs.Add("%s %s: draw %d is %v, want %s", labels, id, d+1, f, w)
				}
			}
			got := paper.Summarise(scores[id][:12], params.Cuts, outcome[id])
			if !profiletest.Same(want["f_mean12"], profiletest.Number(got.Mean)) || !profiletest.Same(want["f_sd12"], profiletest.Number(got.SD)) ||
				want["tier_mean12"] != string(got.Tier) || !profiletest.Same(want["tier_share"], profiletest.Number(got.Share)) {
				diffs.Add("%s %s: %+v, want %s, %s, %s, %s", labels, id, *got, want["f_mean12"], want["f_sd12"], want["tier_mean12"], want["tier_share"])
			}
		}
	}
	diffs.Done(len(rows))
}

func TestPaperDrawColumns(t *testing.T) { conformance.Each(t, checkPaperDrawColumns) }

func checkPaperDrawColumns(t *testing.T, set *conformance.Set) {
	params := withLabels("clean")
	params.Draws = 12
	ours := assessPaper(t, set, params).ByID()
	diffs := profiletest.Mismatches{T: t}
	n := 0
	for _, want := range set.Table(t, "oracle", "profiles", "paper_draws.tsv") {
		if want["labels"] != "clean" {
			continue
		}
		n++
		id := want["trajectory_id"]
		run := ours[id]
		got := profiletest.Columns(run.Signals.(*schema.SignalsPaper))
		for golden, column := range map[string]string{
			"f_mean12": "score_mean", "f_sd12": "score_sd", "tier_mean12": "tier_mean", "tier_share": "tier_share",
		} {
			if !profiletest.Same(want[golden], got[column]) {
				diffs.Add("%s: %s is %q, want %q", id, column, got[column], want[golden])
			}
		}
		mean, _ := strconv.ParseFloat(want["f_mean12"], 64)
		if tier := run.Tier.Tier; tier == nil || *tier != want["tier_mean12"] || *run.Features.QualityScore != int64(math.RoundToEven(mean)) {
			diffs.Add("%s: tier or quality score is not that of the mean", id)
		}
	}
	diffs.Done(n)
}

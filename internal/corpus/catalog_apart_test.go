package corpus

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/spill"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Runs of one id at different places are told apart by their place when they differ, and one
// of those that are the same is refused, in whatever order they come. What a file says about
// its run goes with the run.
func TestRunsOfOneID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file, err := spill.Create("")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		c := newCatalog(file)
		add := func(at, thought string) []ingest.Item {
			run := &trajectory.Trajectory{
				ID: "r", TaskID: "a__b-1", Model: "m", SourceFile: at + "/run.json", SourceNo: 1,
				States: []trajectory.State{{ID: "state_0", Initial: true}, {ID: "state_1", Step: 1, Thought: thought}},
			}
			outcome := trajectory.Fail
			if thought == "one" {
				outcome = trajectory.Pass
			}
			return []ingest.Item{{Trajectory: run}, {Evidence: &ingest.Evidence{Key: "r", Rank: ingest.RankColumn, Outcome: outcome, Source: "resolved", File: at + "/run.json", SourceNo: 1}}}
		}
		items := slices.Concat(add("a", "one"), add("b", "two"), add("c", "one"))
		for _, item := range rapid.Permutation(items).Draw(t, "items") {
			if err := c.add(item); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, r := range c.settle()[0].Runs {
			got = append(got, r.ID+" "+r.Verdict.Outcome.String())
		}
		if text := strings.Join(got, ", "); text != "r@a__run pass, r@b__run fail" || len(c.refused) != 1 || c.refused[0].Record != "r@a__run" {
			t.Fatalf("%s, refused %v", text, c.refused)
		}
	})
}

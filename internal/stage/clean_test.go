package stage

import (
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance/released"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func newClean() *Clean { return NewClean(shell.New(shell.Options{})) }

func TestCleanConformance(t *testing.T) {
	rows := released.Table(t, "oracle", "profiles", "clean_labels.tsv")
	runs := released.Trajectories(t)
	if len(rows) != 1815 || len(runs) != len(rows) {
		t.Fatalf("%d runs, %d expected, want 1815", len(runs), len(rows))
	}
	c := newClean()
	total, wrong := 0, 0
	for i, run := range runs {
		if rows[i]["trajectory_id"] != run.ID {
			t.Fatalf("row %d is %s, want %s", i, rows[i]["trajectory_id"], run.ID)
		}
		labels, rules := c.Label(run)
		steps := c.Steps(run)
		want := rows[i]["clean"]
		if len(steps) != len(want) {
			t.Errorf("%s: %d steps, want %d", run.ID, len(steps), len(want))
			continue
		}
		next := 0
		for j, s := range run.Ordered() {
			if s.Tool == "" {
				if labels[j] != trajectory.NoStage || rules[j] != "" {
					t.Errorf("%s: state %d without a tool got %s by %s", run.ID, j, labels[j], rules[j])
				}
				continue
			}
			total++
			if labels[j].Letter() != want[next] || rules[j] == "" || steps[next].Stage != labels[j] {
				if wrong++; wrong < 20 {
					t.Errorf("%s step %d: %c by %s, want %c: %s %q %q", run.ID, next, labels[j].Letter(), rules[j], want[next],
						s.Tool, s.FilePath, s.Command())
				}
			}
			next++
		}
	}
	t.Logf("%d steps, %d wrong", total, wrong)
	if total != 51388 {
		t.Errorf("%d steps, want 51388", total)
	}
}

package trajectory_test

import (
	"testing"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestLookupTool(t *testing.T) {
	unknown := trajectory.Tool{Hint: trajectory.Orchestration, Operation: "other"}
	for _, tc := range []struct {
		name string
		want trajectory.Tool
	}{
		{"run_in_terminal", trajectory.Tool{
			Category: trajectory.Execute, Group: "terminal", Operation: "terminal",
			Comparison: trajectory.ByCommand, Context: true, Exact: true,
		}},
		{"think", trajectory.Tool{
			Hint: trajectory.Orchestration, Operation: "other",
			Comparison: trajectory.ByNothing, Exact: true,
		}},
		{"mcp_pylance_new", trajectory.Tool{
			Category: trajectory.Search, Hint: trajectory.Exploration, Operation: "search",
		}},
		{"mcp_other", unknown},
		{"github-mcp-server-new", trajectory.Tool{
			Category: trajectory.Search, Hint: trajectory.Exploration, Operation: "search",
			Comparison: trajectory.ByQuery,
		}},
		{"", unknown},
		{"nobody_knows", unknown},
	} {
		if got := trajectory.LookupTool(tc.name); got != tc.want {
			t.Errorf("LookupTool(%q) = %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

package session

import "github.com/agentlens-bench/agentlens/internal/ingest/tools"

// Gives reports whether a call of a tool gives a step. What a response cost and said goes to
// its first call that does.
func (r *Run) Gives(c *Call) bool {
	tool, _ := r.Tools.Lookup(r.Family, c.Tool, c.Args)
	return tool.Canonical != tools.LeftOut && tool.Canonical != tools.Finish
}

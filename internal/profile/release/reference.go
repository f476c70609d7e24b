package release

import (
	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/pta"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
)

// reference is a merged graph with what every candidate needs of it.
type reference struct {
	id, task  string
	mode      profile.Mode
	requested int
	members   []string
	graph     *pta.Graph
	paths     []path
	rich      []int // indexes of the paths with most distinct stages: only these can win
	canonical int
	files     map[string]bool // of all nodes
}

// path is one enumerated path; position 0 is the initial node.
type path struct {
	nodes  []int
	stages []trajectory.Stage
	steps  []waste.Step
	totals [5]int // positions by stage
}

func newReference(task string, plan profile.Plan, id string, traces []*pta.Trace) *reference {
	r := &reference{
		id: id, task: task, mode: plan.Mode, requested: plan.K,
		graph: pta.Merge(traces), files: make(map[string]bool),
	}
	for _, t := range traces {
		r.members = append(r.members, t.Run.ID)
	}
	enumerated := r.graph.Paths()
	r.canonical = r.graph.Canonical(enumerated)
	most := 0
	for i, nodes := range enumerated {
		p := path{nodes: nodes}
		for _, n := range nodes {
			node := &r.graph.Nodes[n]
			p.stages = append(p.stages, node.Stage)
			p.steps = append(p.steps, waste.NewStep(node.State, node.Stage))
			p.totals[node.Stage]++
		}
		r.paths = append(r.paths, p)
		if n := r.graph.DistinctStages(nodes); n > most {
			most, r.rich = n, []int{i}
		} else if n == most {
			r.rich = append(r.rich, i)
		}
	}
	for i := range r.graph.Nodes {
		r.files[r.graph.Nodes[i].State.FilePath] = true
	}
	return r
}

func (r *reference) few() bool { return len(r.members) < r.requested }

// step returns the state at a position of a path, with the graph's label.
func (r *reference) step(p *path, position int) *equiv.ReleaseStep {
	return &r.graph.Nodes[p.nodes[position]].ReleaseStep
}

package paper

import (
	"github.com/agentlens-bench/agentlens/internal/matching"
)

// score is Eq. 1 for one run and one reference.
type score struct {
	structural float64 // 0-100
	coverage   float64 // 0-100
	coherence  float64 // 0-1
	temporal   float64 // 0-1
	f          float64 // 0-100

	best              int // index of the best path
	recall, precision float64
}

// candidate is the run being scored.
type candidate struct {
	donors    *donors
	run       int
	m         int // steps, at least 1
	walk      walk
	coherence float64
	matches   [][]matching.Row // by member: rows of its steps, columns of the run's
	matcher   matching.Matcher
	nodes     []matching.Row // scratch: one row per node of the reference in hand
	along     []matching.Row // scratch: one row per position of a path
}

// use makes c the candidate of run i, reusing its space.
func (c *candidate) use(d *donors, i int) {
	run := &d.task.Runs[i]
	c.donors, c.run, c.m = d, i, len(run.Steps)
	c.matches = make([][]matching.Row, len(d.task.Runs))
	c.walk = walk{}
	labels := run.Labels(d.params.Labels)
	for s := range run.Steps {
		c.walk.add(&run.Steps[s], labels[s])
	}
	c.coherence = coherence(c.walk)
}

// nodeRows says which steps of the run each node matches. The result is valid until the
// next call.
func (c *candidate) nodeRows(ref *reference) []matching.Row {
	for _, r := range ref.runs {
		if c.matches[r] == nil {
			c.matches[r] = c.donors.task.Matches(&c.donors.task.Runs[r], &c.donors.task.Runs[c.run], c.donors.params.Labels)
		}
	}
	c.nodes = c.nodes[:0]
	for _, o := range ref.Nodes {
		c.nodes = append(c.nodes, c.matches[ref.runs[o.Ref]][o.Step])
	}
	return c.nodes
}

// path gathers the rows of one path. The result is valid until the next call.
func (c *candidate) path(nodes []matching.Row, path []int) []matching.Row {
	c.along = c.along[:0]
	for _, x := range path {
		c.along = append(c.along, nodes[x])
	}
	return c.along
}

func (c *candidate) score(ref *reference) score {
	nodes := c.nodeRows(ref)
	s := score{coherence: c.coherence, temporal: temporal(c.donors.thirds[c.run], ref.mean)}
	most := -1.0
	for p, path := range ref.Paths {
		along := c.path(nodes, path)
		recall := 0.0
		if len(path) > 0 {
			recall = float64(matching.Scan(along)) / float64(len(path))
		}
		// No matching is larger than the path's matchable positions, so most paths are
		// ruled out before one is searched for.
		if harmonic(recall, float64(min(matchable(along), c.m))/float64(c.m)) <= most {
			continue
		}
		precision := float64(c.matcher.Size(along, c.m)) / float64(c.m)
		if h := harmonic(recall, precision); h > most {
			most = h
			s.best, s.recall, s.precision = p, recall, precision
		}
	}
	s.structural = 100 * most
	if len(nodes) > 0 {
		s.coverage = 100 * float64(c.matcher.Size(nodes, c.m)) / float64(len(nodes))
	}
	w := c.donors.params.Weights
	s.f = float64(w.Struct*s.structural) + float64(w.Cov*s.coverage)
	s.f += float64(w.Coh * float64(100*s.coherence))
	s.f += float64(w.Temp * float64(100*s.temporal))
	return s
}

func matchable(rows []matching.Row) int {
	n := 0
	for _, r := range rows {
		if !r.Empty() {
			n++
		}
	}
	return n
}

package paper

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/matching"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/pta"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// reference is the aligned graph of an ordered list of runs.
type reference struct {
	id   string
	runs []int // indexes of the members, in merge order
	pta.Aligned
	mean   thirds
	walks  []walk            // one per path, of the nodes' representatives
	labels []labelSet        // one per path
	files  map[steps.ID]bool // of all nodes
}

// donors chooses and merges references, each list once.
type donors struct {
	task    *steps.Task
	params  Params
	thirds  []thirds              // by run
	orders  map[string][]int      // passing runs in hash order, by salt
	refs    map[string]*reference // by list of members
	matches map[[2]int][]matching.Row
}

func newDonors(task *steps.Task, params Params) *donors {
	d := &donors{
		task:    task,
		params:  params,
		thirds:  make([]thirds, len(task.Runs)),
		orders:  map[string][]int{},
		refs:    map[string]*reference{},
		matches: map[[2]int][]matching.Row{},
	}
	for i := range task.Runs {
		d.thirds[i] = stageThirds(task.Runs[i].Labels(params.Labels))
	}
	return d
}

// salt of draw n; draw 0 is the plain hash order.
func salt(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + ":"
}

// order returns the passing runs in the hash order of a salt.
func (d *donors) order(salt string) []int {
	if order, ok := d.orders[salt]; ok {
		return order
	}
	at := map[string]int{}
	var ids []string
	for i := range d.task.Runs {
		if r := &d.task.Runs[i]; r.Outcome == trajectory.Pass {
			at[r.ID] = i
			ids = append(ids, r.ID)
		}
	}
	order := make([]int, len(ids))
	for k, id := range profile.HashOrder(ids, salt) {
		order[k] = at[id]
	}
	d.orders[salt] = order
	return order
}

// choose returns the first k runs of the order that may be a reference for run c.
func (d *donors) choose(c int, order []int) []int {
	model := d.task.Runs[c].Model
	list := make([]int, 0, d.params.K)
	if d.params.OtherModels {
		for _, r := range order {
			if r != c && d.task.Runs[r].Model != model && len(list) < d.params.K {
				list = append(list, r)
			}
		}
	}
	if len(list) == 0 {
		for _, r := range order {
			if r != c && len(list) < d.params.K {
				list = append(list, r)
			}
		}
	}
	return list
}

// reference returns the reference of run c in a draw, nil when the task has too few other
// passing runs. A limit to other models may leave a single one of them.
func (d *donors) reference(c, draw int) *reference {
	order := d.order(salt(draw))
	others := len(order)
	if d.task.Runs[c].Outcome == trajectory.Pass {
		others--
	}
	if others < profile.MinReferences {
		return nil
	}
	list := d.choose(c, order)
	key := make([]byte, 0, 16)
	for _, r := range list {
		key = binary.AppendUvarint(key, uint64(r))
	}
	ref, ok := d.refs[string(key)]
	if !ok {
		ref = d.merge(list)
		d.refs[string(key)] = ref
	}
	return ref
}

func (d *donors) merge(list []int) *reference {
	lengths := make([]int, len(list))
	ids := make([]string, len(list))
	parts := make([]thirds, len(list))
	for i, r := range list {
		lengths[i] = len(d.task.Runs[r].Steps)
		ids[i] = d.task.Runs[r].ID
		parts[i] = d.thirds[r]
	}
	ref := &reference{
		id:   profile.ReferenceID(d.task.ID, ids),
		runs: list,
		Aligned: pta.Align(lengths, func(o pta.Origin, other int) matching.Row {
			return d.pair(list[o.Ref], list[other])[o.Step]
		}),
		mean: meanThirds(parts),
	}
	return ref
}

// pair returns the matches between two members.
func (d *donors) pair(a, b int) []matching.Row {
	key := [2]int{a, b}
	rows, ok := d.matches[key]
	if !ok {
		rows = d.task.Matches(&d.task.Runs[a], &d.task.Runs[b], d.params.Labels)
		d.matches[key] = rows
	}
	return rows
}

// step returns the step that represents a node.
func (d *donors) step(ref *reference, node int) (*steps.Step, trajectory.Stage) {
	o := ref.Nodes[node]
	run := &d.task.Runs[ref.runs[o.Ref]]
	return &run.Steps[o.Step], run.Labels(d.params.Labels)[o.Step]
}

// describe fills what the detectors and tables need of a reference.
func (d *donors) describe(ref *reference) {
	if ref.walks != nil {
		return
	}
	ref.files = map[steps.ID]bool{}
	for x := range ref.Nodes {
		if s, _ := d.step(ref, x); s.File != 0 {
			ref.files[s.File] = true
		}
	}
	for _, path := range ref.Paths {
		var w walk
		for _, x := range path {
			s, label := d.step(ref, x)
			w.add(s, label)
		}
		ref.walks = append(ref.walks, w)
		ref.labels = append(ref.labels, countLabels(w.label))
	}
}

func (w *walk) add(s *steps.Step, label trajectory.Stage) {
	w.label = append(w.label, label)
	w.path = append(w.path, s.File)
	w.sig = append(w.sig, s.Signature(label))
}

// testlike reports whether a file's path names a test.
func (d *donors) testlike(file steps.ID) bool {
	name := d.task.Name(file)
	return strings.Contains(name, "test") || strings.Contains(name, "spec")
}

// plain returns the references of the plain hash order, sorted by id, and those of each run.
func (d *donors) plain() (all []*reference, of []*reference) {
	of = make([]*reference, len(d.task.Runs))
	seen := map[*reference]bool{}
	for c := range d.task.Runs {
		of[c] = d.reference(c, 0)
		if ref := of[c]; ref != nil && !seen[ref] {
			seen[ref] = true
			all = append(all, ref)
		}
	}
	slices.SortFunc(all, func(a, b *reference) int { return strings.Compare(a.id, b.id) })
	return all, of
}

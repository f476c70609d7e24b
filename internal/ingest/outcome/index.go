package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Codes of the warnings of Resolve.
const (
	WarnConflict  = "outcome_conflict"   // evidence contradicts the one that decided
	WarnAmbiguous = "ambiguous_evidence" // a file names an instance that several runs near it solved
)

// Resolved is the settled outcome of a run.
type Resolved struct {
	Outcome  trajectory.Outcome
	Source   string // of the evidence that decided, "" when there was none
	Detail   string
	Warnings []trajectory.Warning
}

// Index collects evidence and runs, and settles outcomes when all are added. It is not
// safe for concurrent use.
type Index struct {
	evidence map[string][]format.Evidence // by key
	runs     map[string][]run             // by task
	bindings map[string]*binding          // by task, made when first asked for
	former   map[string]bool              // ids that runs had before they were renamed
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{evidence: map[string][]format.Evidence{}, runs: map[string][]run{}, bindings: map[string]*binding{}, former: map[string]bool{}}
}

// Add notes evidence. It must not follow a Resolve.
func (x *Index) Add(e format.Evidence) { x.evidence[e.Key] = append(x.evidence[e.Key], e) }

// AddRun notes where a run stands, so that files which name instances can be bound to the
// runs they mean. Only its ids, model and place are kept. It must not follow a Resolve.
func (x *Index) AddRun(t *trajectory.Trajectory) {
	task := strings.Clone(t.TaskID)
	x.runs[task] = append(x.runs[task], run{
		id: strings.Clone(t.ID), model: strings.Clone(t.Model), file: strings.Clone(t.SourceFile), sourceNo: t.SourceNo,
	})
}

// Rename gives a run that was added another id, since one at another place has its id too. What
// the file of the run says goes with it; what others say about the id they share is said of
// both. It must not follow a Resolve.
func (x *Index) Rename(id, task, model, file string, sourceNo int, to string) {
	x.former[id] = true
	for i := range x.runs[task] {
		if r := &x.runs[task][i]; r.id == id && r.model == model && r.file == file && r.sourceNo == sourceNo {
			r.id = to
			break
		}
	}
	for _, e := range x.evidence[id] {
		if e.Rank == format.RankLabels || e.File == file && e.SourceNo == sourceNo {
			e.Key = to
			x.Add(e)
		}
	}
}

// Resolve settles the outcome of one run. A run that was not added gets every statement
// about its task.
func (x *Index) Resolve(trajectoryID, taskID, model string) Resolved {
	var about []format.Evidence
	take := func(e format.Evidence) {
		if e.Model == "" || e.Model == model {
			about = append(about, e)
		}
	}
	for _, e := range x.evidence[trajectoryID] {
		take(e)
	}
	var doubt *ambiguity
	if claims := x.evidence[taskID]; taskID != trajectoryID && len(claims) > 0 {
		b := x.bindings[taskID]
		if b == nil {
			b = bind(x.runs[taskID], claims)
			x.bindings[taskID] = b
		}
		if b.known[trajectoryID] {
			for _, i := range b.of[trajectoryID] {
				about = append(about, claims[i])
			}
			doubt = b.doubts[trajectoryID]
		} else {
			for _, e := range claims {
				take(e)
			}
		}
	}
	// A row of the labels file that names the run speaks louder than one that names its task.
	label := func(key string) func(format.Evidence) bool {
		return func(e format.Evidence) bool { return e.Rank == format.RankLabels && e.Key == key }
	}
	if taskID != trajectoryID && slices.ContainsFunc(about, label(trajectoryID)) {
		about = slices.DeleteFunc(about, label(taskID))
	}
	resolved := Settle(about)
	if doubt != nil {
		resolved.Warnings = append(resolved.Warnings, trajectory.Warning{Code: WarnAmbiguous, Detail: doubt.String()})
	}
	return resolved
}

// Unused returns, sorted, the ids in a labels file that name no run that was added.
func (x *Index) Unused() []string {
	named := map[string]bool{}
	for task, runs := range x.runs {
		named[task] = true
		for _, r := range runs {
			named[r.id] = true
		}
	}
	var unused []string
	for key, evidence := range x.evidence {
		if !named[key] && !x.former[key] && slices.ContainsFunc(evidence, func(e format.Evidence) bool { return e.Rank == format.RankLabels }) {
			unused = append(unused, key)
		}
	}
	slices.Sort(unused)
	return unused
}

// Settle decides between statements about one run: the best rank wins, and a contradiction
// inside it leaves the outcome unknown.
func Settle(about []format.Evidence) Resolved {
	if len(about) == 0 {
		return Resolved{}
	}
	about = slices.Clone(about)
	slices.SortFunc(about, func(a, b format.Evidence) int {
		return cmp.Or(
			cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(decided(b), decided(a)),
			cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Outcome, b.Outcome),
			cmp.Compare(a.Detail, b.Detail),
		)
	})
	best := about[0]
	resolved := Resolved{Outcome: best.Outcome, Source: best.Source, Detail: best.Detail}
	for _, e := range about[1:] {
		if e.Outcome == trajectory.Unknown || e.Outcome == best.Outcome {
			continue
		}
		resolved.Warnings = append(resolved.Warnings, trajectory.Warning{
			Code:   WarnConflict,
			Detail: fmt.Sprintf("%s says %s, %s says %s", place(best), best.Outcome, place(e), e.Outcome),
		})
		if e.Rank == best.Rank {
			resolved.Outcome, resolved.Detail = trajectory.Unknown, "conflict"
		}
	}
	return resolved
}

func decided(e format.Evidence) int {
	if e.Outcome == trajectory.Unknown {
		return 0
	}
	return 1
}

func place(e format.Evidence) string {
	if e.File == "" || e.File == e.Source {
		return e.Source
	}
	return e.Source + " (" + e.File + ")"
}

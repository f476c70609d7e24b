package outcome

import (
	"cmp"
	"fmt"
	"path"
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
}

type run struct {
	id, model, file string
	sourceNo        int
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{evidence: map[string][]format.Evidence{}, runs: map[string][]run{}}
}

// Add notes evidence.
func (x *Index) Add(e format.Evidence) { x.evidence[e.Key] = append(x.evidence[e.Key], e) }

// AddRun notes where a run stands, so that files which name instances can be bound to the
// runs they mean. Only its ids, model and place are kept.
func (x *Index) AddRun(t *trajectory.Trajectory) {
	task := strings.Clone(t.TaskID)
	x.runs[task] = append(x.runs[task], run{
		id: strings.Clone(t.ID), model: strings.Clone(t.Model), file: strings.Clone(t.SourceFile), sourceNo: t.SourceNo,
	})
}

// Resolve settles the outcome of one run. A run that was not added gets every statement
// about its task.
func (x *Index) Resolve(trajectoryID, taskID, model string) Resolved {
	var about []format.Evidence
	var warnings []trajectory.Warning
	for _, e := range x.evidence[trajectoryID] {
		if e.Model == "" || e.Model == model {
			about = append(about, e)
		}
	}
	if taskID != trajectoryID {
		for _, e := range x.evidence[taskID] {
			if e.Model != "" && e.Model != model {
				continue
			}
			switch meant, ambiguous := x.means(e, trajectoryID, taskID); {
			case ambiguous:
				warnings = append(warnings, trajectory.Warning{
					Code:   WarnAmbiguous,
					Detail: fmt.Sprintf("%s says %s of %s, but several runs stand equally near it", place(e), e.Outcome, e.Key),
				})
			case meant:
				about = append(about, e)
			}
		}
	}
	resolved := Settle(about)
	resolved.Warnings = append(resolved.Warnings, warnings...)
	slices.SortFunc(resolved.Warnings, func(a, b trajectory.Warning) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail))
	})
	resolved.Warnings = slices.Compact(resolved.Warnings)
	return resolved
}

// means reports whether evidence that names a task speaks about one of its runs.
func (x *Index) means(e format.Evidence, trajectoryID, taskID string) (meant, ambiguous bool) {
	if e.Rank == format.RankLabels {
		return true, false
	}
	var nearest []string
	best, known := -1, false
	for _, r := range x.runs[taskID] {
		known = known || r.id == trajectoryID
		if e.SourceNo != 0 && e.SourceNo != r.sourceNo || e.Model != "" && e.Model != r.model {
			continue
		}
		switch near := nearness(e.File, r); {
		case near > best:
			best, nearest = near, append(nearest[:0], r.id)
		case near == best && !slices.Contains(nearest, r.id):
			nearest = append(nearest, r.id)
		}
	}
	if !known {
		return true, false
	}
	if !slices.Contains(nearest, trajectoryID) {
		return false, false
	}
	return len(nearest) == 1, len(nearest) > 1
}

// nearness compares the place of a file and a run: the folders they share from the root
// count most, then folder names they share anywhere, then a folder named after the model.
func nearness(file string, r run) int {
	a, b := folders(file), folders(r.file)
	shared := 0
	for shared < len(a) && shared < len(b) && a[shared] == b[shared] {
		shared++
	}
	score := shared * 1000
	model := strings.ReplaceAll(r.model, "/", "__")
	for _, name := range a[shared:] {
		if slices.Contains(b[shared:], name) {
			score += 10
		}
		if model != "" && name == model {
			score++
		}
	}
	return score
}

func folders(file string) []string {
	dir := path.Dir(file)
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

// Settle decides between statements about one run (formats section 10.4).
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

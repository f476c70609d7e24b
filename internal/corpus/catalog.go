package corpus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/spill"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// unknownModel stands for a model that the log does not name.
const unknownModel = "unknown"

// A Run is what the corpus knows of a trajectory without loading it.
type Run struct {
	ID, Model string
	Verdict   outcome.Resolved

	task   string
	file   string
	record int64
	sha256 string
	digest string // of what it did
	logged string // the id in the log, "" when that is ID
	source int    // number of its source
	ref    spill.Ref
}

// A Task is a settled task: its runs sorted by id.
type Task struct {
	ID          string
	Repo        string // owner/name, "" when unknown
	Description string // of the run with the smallest id that has one
	Runs        []Run
}

// A catalog collects what a source yields. add may be called from many goroutines; the
// rest may not.
type catalog struct {
	spill *spill.File

	mu           sync.Mutex
	runs         []Run
	names        map[string]string // one copy of each task, model and file name
	outcomes     *outcome.Index
	descriptions map[string]described // by task
	repos        map[string]string    // by task
	published    []schema.Published
	tasks        []schema.PublishedTask
	references   []schema.PublishedReference
	refused      []ingest.RecordError
	repeated     ingest.Refusals // runs and rows that occur twice
	formats      map[string]int64
	warnings     map[string]int64
}

type described struct{ run, text string }

func newCatalog(f *spill.File) *catalog {
	return &catalog{
		spill:        f,
		names:        map[string]string{},
		outcomes:     outcome.NewIndex(),
		descriptions: map[string]described{},
		repos:        map[string]string{},
		formats:      map[string]int64{},
		warnings:     map[string]int64{},
	}
}

// add takes one item of a source.
func (c *catalog) add(item ingest.Item) error {
	var ref spill.Ref
	if t := item.Trajectory; t != nil {
		if t.Model == "" {
			t.Model = unknownModel
		}
		fit(t)
		var err error
		if ref, err = c.spill.Append(t); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case item.Trajectory != nil:
		c.addRun(item.Trajectory, ref)
	case item.Evidence != nil:
		c.outcomes.Add(*item.Evidence)
	case item.Published != nil:
		c.published = append(c.published, *item.Published)
	case item.Task != nil:
		c.tasks = append(c.tasks, *item.Task)
	case item.Reference != nil:
		c.references = append(c.references, *item.Reference)
	case item.Refused != nil:
		c.refused = append(c.refused, *item.Refused)
	}
	return nil
}

func (c *catalog) addRun(t *trajectory.Trajectory, ref spill.Ref) {
	r := Run{
		ID:     strings.Clone(t.ID),
		task:   c.name(t.TaskID),
		Model:  c.name(t.Model),
		file:   c.name(t.SourceFile),
		record: t.SourceRecord,
		sha256: strings.Clone(t.SourceSHA256),
		digest: digest(t),
		source: t.SourceNo,
		ref:    ref,
	}
	c.runs = append(c.runs, r)
	c.outcomes.AddRun(t)
	c.formats[c.name(t.Format)]++
	for _, w := range t.Warnings {
		c.warnings[c.name(w.Code)]++
	}
	// The description of the run with the smallest id speaks for the task, whatever order
	// the runs come in.
	if t.TaskDescription != "" {
		d, ok := c.descriptions[r.task]
		if !ok || r.ID < d.run || r.ID == d.run && t.TaskDescription < d.text {
			c.descriptions[r.task] = described{r.ID, strings.Clone(t.TaskDescription)}
		}
	}
	if t.Repo != "" {
		if old, ok := c.repos[r.task]; !ok || t.Repo < old {
			c.repos[r.task] = strings.Clone(t.Repo)
		}
	}
}

// name returns one shared copy of s, so that the catalog does not keep whole records alive.
func (c *catalog) name(s string) string {
	if v, ok := c.names[s]; ok {
		return v
	}
	s = strings.Clone(s)
	c.names[s] = s
	return s
}

// settle refuses duplicates, resolves outcomes and groups the runs by task. Tasks, runs,
// published rows and refused records come out sorted.
func (c *catalog) settle() []Task {
	slices.SortFunc(c.runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.ID, b.ID), cmp.Compare(a.file, b.file),
			cmp.Compare(a.record, b.record), cmp.Compare(a.sha256, b.sha256))
	})
	c.tellApart()
	c.refuseDuplicates()
	var tasks []Task
	for start := 0; start < len(c.runs); {
		end := start
		for end < len(c.runs) && c.runs[end].task == c.runs[start].task {
			r := &c.runs[end]
			r.Verdict = c.outcomes.Resolve(r.ID, r.task, r.Model)
			for _, w := range r.Verdict.Warnings {
				c.warnings[w.Code]++
			}
			end++
		}
		id := c.runs[start].task
		tasks = append(tasks, Task{
			ID:          id,
			Repo:        cmp.Or(c.repos[id], repoOf(id)),
			Description: c.descriptions[id].text,
			Runs:        c.runs[start:end],
		})
		start = end
	}
	c.settlePublished()
	c.refused = append(c.refused, c.repeated.List()...)
	slices.SortFunc(c.refused, func(a, b ingest.RecordError) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Record, b.Record),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return tasks
}

// digest returns what tells runs of one id apart: what was done and seen in them.
func digest(t *trajectory.Trajectory) string {
	sum := sha256.New()
	write := func(texts ...string) {
		for _, text := range texts {
			fmt.Fprintf(sum, "%d %s\n", len(text), text)
		}
	}
	write(t.TaskID, t.Model, t.TaskDescription)
	for i := range t.States {
		s := &t.States[i]
		write(s.Tool, s.RawTool, s.ResultingStateHash, s.ContentHash, s.ObservationHash, s.Thought, s.Timestamp)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// tellApart gives runs of one id that differ ids of their own: the place of each is added to
// it, whatever order they come in.
func (c *catalog) tellApart() {
	byID := map[string][]int{}
	for i := range c.runs {
		byID[c.runs[i].ID] = append(byID[c.runs[i].ID], i)
	}
	for _, group := range byID {
		first := map[string]string{} // place by digest, of the first run that is not like one before
		places := map[string]int{}
		for _, i := range group { // sorted by file and line
			r := &c.runs[i]
			if _, known := first[r.digest]; !known {
				first[r.digest] = suffix(r)
				places[suffix(r)]++
			}
		}
		if len(first) < 2 {
			continue
		}
		for _, i := range group {
			r := &c.runs[i]
			at := first[r.digest]
			if places[at] > 1 {
				at += "-" + r.digest[:8]
			}
			r.logged, r.ID = r.ID, r.ID+"@"+at
			c.outcomes.Rename(r.logged, r.task, r.Model, r.file, r.source, r.ID)
		}
	}
}

// suffix writes the place of a run as a part of an id.
func suffix(r *Run) string {
	at := strings.ReplaceAll(strings.TrimSuffix(r.file, path.Ext(r.file)), "/", "__")
	if r.record > 0 {
		at += fmt.Sprintf("-%d", r.record)
	}
	return at
}

// refuseDuplicates keeps the first run of each id, by file and line, and refuses those that
// are the same; runs of one id with other content have got ids of their own before.
func (c *catalog) refuseDuplicates() {
	byID := make([]int, len(c.runs))
	for i := range byID {
		byID[i] = i
	}
	slices.SortStableFunc(byID, func(i, j int) int {
		a, b := c.runs[i], c.runs[j]
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.file, b.file), cmp.Compare(a.record, b.record),
			cmp.Compare(a.sha256, b.sha256))
	})
	drop := map[int]bool{}
	for k := 1; k < len(byID); k++ {
		first, again := c.runs[byID[k-1]], c.runs[byID[k]]
		if first.ID != again.ID {
			continue
		}
		drop[byID[k]] = true
		what := "another run with this id"
		if first.sha256 == again.sha256 {
			what = "the same run"
		}
		c.repeated.Add(ingest.RecordError{
			File: again.file, Line: again.record, Record: again.ID, Code: "duplicate_id",
			Message: fmt.Sprintf("trajectory id %s occurs twice: %s stands in %s; ids must be unique in a dataset", again.ID, what, place(first)),
			Hint:    "remove one of the two from the source, or give the run an id of its own",
		})
		byID[k] = byID[k-1] // a third one is compared with the first
	}
	if len(drop) == 0 {
		return
	}
	kept := make([]Run, 0, len(c.runs)-len(drop))
	for i, r := range c.runs {
		if !drop[i] {
			kept = append(kept, r)
		}
	}
	c.runs = kept
}

func place(r Run) string {
	if r.record == 0 {
		return r.file
	}
	return fmt.Sprintf("%s line %d", r.file, r.record)
}

// settlePublished sorts the release's own tables and refuses rows that occur twice.
func (c *catalog) settlePublished() {
	c.published = unique(c, c.published, "annotations/trajectories.csv", func(r schema.Published) string { return r.TrajectoryID },
		func(a, b schema.Published) int {
			return cmp.Or(cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.TrajectoryID, b.TrajectoryID))
		})
	c.tasks = unique(c, c.tasks, "annotations/tasks.csv", func(r schema.PublishedTask) string { return r.TaskID },
		func(a, b schema.PublishedTask) int { return cmp.Compare(a.TaskID, b.TaskID) })
	c.references = unique(c, c.references, "ground_truth", func(r schema.PublishedReference) string { return r.TaskID },
		func(a, b schema.PublishedReference) int {
			return cmp.Or(cmp.Compare(a.TaskID, b.TaskID), cmp.Compare(a.SourceFile, b.SourceFile))
		})
}

// repoOf derives owner/name from a SWE-bench style instance id, such as
// psf__requests-1724.
func repoOf(task string) string {
	owner, rest, ok := strings.Cut(task, "__")
	if !ok {
		return ""
	}
	name := rest
	if i := strings.LastIndexByte(rest, '-'); i > 0 {
		name = rest[:i]
	}
	return owner + "/" + name
}

// unique sorts the rows and refuses those whose key was seen. Rows that order can't tell
// apart are ordered by their content, so that which one stays does not depend on the
// source's order.
func unique[T any](c *catalog, rows []T, file string, key func(T) string, order func(a, b T) int) []T {
	slices.SortFunc(rows, func(a, b T) int {
		if n := order(a, b); n != 0 {
			return n
		}
		return cmp.Compare(content(a), content(b))
	})
	seen := make(map[string]bool, len(rows))
	kept := rows[:0]
	for _, r := range rows {
		if seen[key(r)] {
			c.repeated.Add(ingest.RecordError{
				File: file, Record: key(r), Code: "duplicate_row",
				Message: fmt.Sprintf("%s occurs twice; of two rows the one that sorts first is kept", key(r)),
				Hint:    "remove the second row",
			})
			continue
		}
		seen[key(r)] = true
		kept = append(kept, r)
	}
	return kept
}

func content(row any) string {
	b, err := json.Marshal(row, json.Deterministic(true))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

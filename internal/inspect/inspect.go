package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// mostRefused is how many refused records a result shows.
const mostRefused = 10

// Result is what is in some sources.
type Result struct {
	Sources []ingest.SourceDigest `json:"sources"`
	Totals
	References int64                `json:"references"` // tasks that will get one
	Formats    []Format             `json:"formats"`    // by format and key
	Models     []Model              `json:"models"`
	Tasks      []Task               `json:"tasks"`
	Outcomes   []Outcome            `json:"outcomes"`
	Tools      []Tool               `json:"tools"` // most steps first
	Warnings   map[string]int64     `json:"warnings"`
	Skipped    map[string]int64     `json:"skipped_files"`
	Privacy    privacy.Counts       `json:"privacy"` // what was replaced, by kind
	Unused     []string             `json:"unused_labels"`
	Refused    int64                `json:"refused"`
	RefusedBy  map[string]int64     `json:"refused_by_code"`
	Records    []ingest.RecordError `json:"refused_records"` // the first ones
}

// Totals are sums over runs. Tokens count each response once.
type Totals struct {
	Runs         int64 `json:"runs"`
	Pass         int64 `json:"pass"`
	Fail         int64 `json:"fail"`
	Unknown      int64 `json:"unknown"`
	Steps        int64 `json:"steps"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	CachedTokens int64 `json:"cached_tokens"`
	Untold       int64 `json:"runs_without_tokens"` // whose log states none
}

// Format is how records were recognised.
type Format struct {
	Format  string `json:"format"`
	Key     string `json:"key"` // what decided
	Records int64  `json:"records"`
}

// Model is a model.
type Model struct {
	Name string `json:"model"`
	Totals
}

// Task is a task and whether a build gives it a reference.
type Task struct {
	Name string `json:"task_id"`
	Repo string `json:"repo"`
	Totals
	Reference bool   `json:"reference"`
	Why       string `json:"why"` // it gets none, "" when it does
}

// Outcome counts runs by what decided about them.
type Outcome struct {
	Outcome string `json:"outcome"`
	Source  string `json:"source"` // "" when nothing said anything
	Detail  string `json:"detail"`
	Runs    int64  `json:"runs"`
}

// Tool counts steps by tool.
type Tool struct {
	Tool  string `json:"tool"`  // canonical
	Raw   string `json:"raw"`   // in the log
	Known bool   `json:"known"` // whether the canonical name is one
	Steps int64  `json:"steps"`
}

// Sources reads sources. It fails when they hold no readable run.
func Sources(ctx context.Context, sources []string, opt ingest.Options) (res Result, err error) {
	c, err := corpus.Open(ctx, sources, opt, "")
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return Corpus(ctx, c)
}

// Corpus counts what is in a corpus.
func Corpus(ctx context.Context, c *corpus.Corpus) (Result, error) {
	r := Result{
		Sources: c.Input.Sources, Warnings: c.Warnings, Skipped: c.Input.Skipped, Privacy: c.Input.Privacy, Unused: c.Unused,
		Refused: c.CountRefused(), RefusedBy: map[string]int64{},
	}
	for _, e := range c.Refused {
		e.AddTo(r.RefusedBy)
		if len(r.Records) < mostRefused {
			r.Records = append(r.Records, e)
		}
	}
	for how, n := range c.Input.Recognised {
		id, key, _ := strings.Cut(how, " by ")
		r.Formats = append(r.Formats, Format{id, key, n})
	}
	slices.SortFunc(r.Formats, func(a, b Format) int {
		return cmp.Or(cmp.Compare(a.Format, b.Format), cmp.Compare(a.Key, b.Key))
	})
	t := tally{models: map[string]*Totals{}, outcomes: map[Outcome]int64{}, tools: map[Tool]int64{}}
	for i := range c.Tasks {
		task := Task{Name: c.Tasks[i].ID, Repo: c.Tasks[i].Repo}
		for j := range c.Tasks[i].Runs {
			if err := ctx.Err(); err != nil {
				return r, err
			}
			run, err := c.Read(&c.Tasks[i].Runs[j])
			if err != nil {
				return r, err
			}
			n := totalsOf(run)
			task.add(n)
			r.add(n)
			t.add(run, n)
		}
		if task.Reference = task.Pass >= profile.MinReferences; task.Reference {
			r.References++
		} else {
			task.Why = fmt.Sprintf("%d passing of at least %d runs that a reference merges", task.Pass, profile.MinReferences)
		}
		r.Tasks = append(r.Tasks, task)
	}
	t.report(&r)
	return r, nil
}

// tally counts by what is not known beforehand.
type tally struct {
	models   map[string]*Totals
	outcomes map[Outcome]int64 // by a key without Runs
	tools    map[Tool]int64    // by a key without Steps
}

func (t *tally) add(run *trajectory.Trajectory, n Totals) {
	if t.models[run.Model] == nil {
		t.models[run.Model] = &Totals{}
	}
	t.models[run.Model].add(n)
	t.outcomes[Outcome{Outcome: run.Outcome.String(), Source: run.OutcomeSource, Detail: run.OutcomeDetail}]++
	for i := range run.States {
		if s := &run.States[i]; s.Tool != "" {
			t.tools[Tool{Tool: s.Tool, Raw: cmp.Or(s.RawTool, s.Tool), Known: trajectory.LookupTool(s.Tool).Exact}]++
		}
	}
}

func (t *tally) report(r *Result) {
	for _, name := range slices.Sorted(maps.Keys(t.models)) {
		r.Models = append(r.Models, Model{name, *t.models[name]})
	}
	for o, n := range t.outcomes {
		o.Runs = n
		r.Outcomes = append(r.Outcomes, o)
	}
	order := []string{"pass", "fail", "unknown"}
	slices.SortFunc(r.Outcomes, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Outcome), slices.Index(order, b.Outcome)),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Detail, b.Detail))
	})
	for tool, n := range t.tools {
		tool.Steps = n
		r.Tools = append(r.Tools, tool)
	}
	slices.SortFunc(r.Tools, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(b.Steps, a.Steps), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Raw, b.Raw))
	})
}

func totalsOf(t *trajectory.Trajectory) Totals {
	n := Totals{Runs: 1}
	switch t.Outcome {
	case trajectory.Pass:
		n.Pass = 1
	case trajectory.Fail:
		n.Fail = 1
	default:
		n.Unknown = 1
	}
	told := false
	for i := range t.States {
		s := &t.States[i]
		if s.Tool != "" {
			n.Steps++
		}
		told = told || s.InputTokens.Valid || s.OutputTokens.Valid
		n.InputTokens += s.InputTokens.Or(0)
		n.OutputTokens += s.OutputTokens.Or(0)
		n.CachedTokens += s.CachedTokens.Or(0)
	}
	if !told {
		n.Untold = 1
	}
	return n
}

func (n *Totals) add(m Totals) {
	n.Runs += m.Runs
	n.Pass += m.Pass
	n.Fail += m.Fail
	n.Unknown += m.Unknown
	n.Steps += m.Steps
	n.InputTokens += m.InputTokens
	n.OutputTokens += m.OutputTokens
	n.CachedTokens += m.CachedTokens
	n.Untold += m.Untold
}

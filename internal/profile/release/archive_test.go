package release

import (
	"bytes"
	"encoding/csv"
	"io"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// archive is the published dataset, read without the product's own readers.
type archive struct {
	runs      map[string]*trajectory.Trajectory // by id
	published []map[string]string               // rows of trajectories.csv
	signals   map[string][]string               // quality signals of the analysis reports, by id
}

var (
	reading  sync.Mutex
	released = map[string]*archive{} // by the name of the set
)

// loadArchive reads the archive of a set once for all tests.
func loadArchive(t testing.TB, set *conformance.Set) *archive {
	t.Helper()
	reading.Lock()
	defer reading.Unlock()
	if released[set.Name] == nil {
		released[set.Name] = readArchive(t, set.Release())
	}
	return released[set.Name]
}

func readArchive(t testing.TB, archiveFile string) *archive {
	t.Helper()
	out := &archive{runs: make(map[string]*trajectory.Trajectory), signals: make(map[string][]string)}
	for name, r := range conformance.Files(t, archiveFile) {
		dir, file := filepath.Split(name)
		dir = strings.TrimPrefix(dir, "agentlens-bench/")
		switch {
		case strings.HasPrefix(dir, "trajectories/"):
			run, err := readTrajectory(r, strings.TrimSuffix(file, ".json"))
			if err != nil {
				t.Fatal(err)
			}
			out.runs[run.ID] = run
		case strings.HasPrefix(dir, "analysis/"):
			var report struct {
				ID      string   `json:"trajectory_id"`
				Signals []string `json:"quality_signals"`
			}
			if err := json.UnmarshalRead(r, &report); err != nil {
				t.Fatal(err)
			}
			out.signals[report.ID] = report.Signals
		case file == "trajectories.csv":
			records, err := csv.NewReader(r).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range records[1:] {
				row := make(map[string]string)
				for i, name := range records[0] {
					row[name] = rec[i]
				}
				out.published = append(out.published, row)
			}
		}
	}
	return out
}

type releasedState struct {
	ID          string  `json:"state_id"`
	Step        int64   `json:"step"`
	Observation string  `json:"observation"`
	Result      string  `json:"resulting_state"`
	Hash        string  `json:"content_hash"`
	Description string  `json:"content_description"`
	Tool        string  `json:"tool_used"`
	FilePath    string  `json:"file_path"`
	Lines       []int64 `json:"line_range"`
	Scope       string  `json:"scope_path"`
	Function    string  `json:"function_name"`
	Class       string  `json:"class_name"`
	Stage       string  `json:"intent_stage"`
	Log         *struct {
		Kind string         `json:"kind"`
		Tool string         `json:"tool"`
		Args jsontext.Value `json:"args"`
	} `json:"log_entry"`
	Metadata struct {
		Initial      bool  `json:"is_initial"`
		InputTokens  int64 `json:"input_tokens"`
		OutputTokens int64 `json:"output_tokens"`
	} `json:"metadata"`
}

func readTrajectory(r io.Reader, id string) (*trajectory.Trajectory, error) {
	var file struct {
		States      map[string]releasedState `json:"states"`
		Transitions []struct {
			ID     string `json:"transition_id"`
			From   string `json:"from_state"`
			To     string `json:"to_state"`
			Action string `json:"action_type"`
			Step   int64  `json:"step"`
		} `json:"transitions"`
	}
	if err := json.UnmarshalRead(r, &file, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, err
	}
	task, rest, _ := strings.Cut(id, "-logs-")
	t := &trajectory.Trajectory{ID: id, TaskID: task, Outcome: trajectory.Fail}
	cut := strings.LastIndex(rest, "-pass-")
	if cut >= 0 {
		t.Outcome = trajectory.Pass
	} else {
		cut = strings.LastIndex(rest, "-fail-")
	}
	t.Model = rest[:cut]
	for _, s := range file.States {
		state, err := s.state()
		if err != nil {
			return nil, err
		}
		t.States = append(t.States, state)
	}
	sort.Slice(t.States, func(i, j int) bool { return t.States[i].Step < t.States[j].Step })
	for _, tr := range file.Transitions {
		t.Transitions = append(t.Transitions, trajectory.Transition{
			ID: tr.ID, From: tr.From, To: tr.To, ActionType: tr.Action, Step: tr.Step,
		})
	}
	return t, nil
}

func (s *releasedState) state() (trajectory.State, error) {
	stage, err := trajectory.ParseStage(s.Stage)
	if err != nil {
		return trajectory.State{}, err
	}
	out := trajectory.State{
		ID: s.ID, Step: s.Step, Tool: s.Tool, Observation: s.Observation, ResultingState: s.Result,
		ContentHash: s.Hash, ContentDescription: s.Description, FilePath: s.FilePath, ScopePath: s.Scope,
		FunctionName: s.Function, ClassName: s.Class, Stage: stage, Initial: s.Metadata.Initial,
		InputTokens: trajectory.Some(s.Metadata.InputTokens), OutputTokens: trajectory.Some(s.Metadata.OutputTokens),
	}
	if len(s.Lines) == 2 {
		out.Lines = trajectory.LineRange{Start: s.Lines[0], End: s.Lines[1], Valid: true}
	}
	if s.Log == nil {
		return out, nil
	}
	var a struct {
		FilePath  *string `json:"filePath"`
		Path      *string `json:"path"`
		Command   string  `json:"command"`
		StartLine int64   `json:"startLine"`
		EndLine   int64   `json:"endLine"`
	}
	if err := json.Unmarshal(s.Log.Args, &a); err != nil {
		return out, err
	}
	args := trajectory.Args{Raw: string(s.Log.Args), Command: a.Command, StartLine: a.StartLine, EndLine: a.EndLine}
	if a.FilePath != nil {
		args.FilePath, args.Has = *a.FilePath, trajectory.HasFilePath
	}
	if a.Path != nil {
		args.Path, args.Has = *a.Path, args.Has|trajectory.HasPath
	}
	out.Log = &trajectory.LogEntry{Kind: s.Log.Kind, Tool: s.Log.Tool, Args: args}
	return out, nil
}

// tasks returns the runs as tasks, sorted.
func (a *archive) tasks() []profile.Task {
	byTask := make(map[string][]*trajectory.Trajectory)
	for _, t := range a.runs {
		byTask[t.TaskID] = append(byTask[t.TaskID], t)
	}
	var out []profile.Task
	for id, runs := range byTask {
		out = append(out, newTask(id, runs))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

// newTask makes a task of runs in memory, sorted by id.
func newTask(id string, runs []*trajectory.Trajectory) profile.Task {
	sort.Slice(runs, func(i, j int) bool { return runs[i].ID < runs[j].ID })
	task := profile.Task{ID: id, Load: func(i int) (*trajectory.Trajectory, error) { return runs[i], nil }}
	for _, t := range runs {
		task.Runs = append(task.Runs, profile.Run{ID: t.ID, Model: t.Model, Outcome: t.Outcome})
	}
	return task
}

// collector keeps what a profile emits.
type collector struct {
	references []profile.ReferenceRows
	runs       []profile.RunRows
}

func (c *collector) Reference(r profile.ReferenceRows) error {
	c.references = append(c.references, r)
	return nil
}

func (c *collector) Run(r profile.RunRows) error {
	c.runs = append(c.runs, r)
	return nil
}

// plans returns the donors of each draw as plans.
func plans(t testing.TB, set *conformance.Set) map[string]profile.Plan {
	out := make(map[string]profile.Plan)
	for _, row := range set.Table(t, "oracle", "donors.tsv") {
		p, ok := out[row["draw"]]
		if !ok {
			p = profile.Plan{Mode: profile.Donors, K: 5, Donors: make(map[string][]string)}
			out[row["draw"]] = p
		}
		p.Donors[row["task"]] = append(p.Donors[row["task"]], row["trajectory_id"])
	}
	return out
}

// csvTable reads a comma-separated file of the oracle.
func csvTable(t testing.TB, set *conformance.Set, name string) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(set.Read(t, "oracle", name))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, rec := range records[1:] {
		row := make(map[string]string)
		for i, name := range records[0] {
			row[name] = rec[i]
		}
		out = append(out, row)
	}
	return out
}

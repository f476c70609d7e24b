package messages

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// row is a row of a data set. Of columns that mean the same, a row has one.
type row struct {
	Messages      list `json:"messages"`
	Trajectory    list `json:"trajectory"`
	Conversations list `json:"conversations"`
	Conversation  list `json:"conversation"`

	ID           lenientjson.Ident `json:"id"`
	UUID         lenientjson.Ident `json:"uuid"`
	InstanceID   lenientjson.Ident `json:"instance_id"`
	TrajectoryID lenientjson.Ident `json:"trajectory_id"`
	TrajID       lenientjson.Ident `json:"traj_id"`
	RunID        lenientjson.Text  `json:"run_id"`
	Repo         lenientjson.Text  `json:"repo"`
	Model        lenientjson.Text  `json:"model"`
	ModelName    lenientjson.Text  `json:"model_name"`
	ExitStatus   lenientjson.Text  `json:"exit_status"`

	verdict
}

// list is an array of messages, or its text as JSON.
type list []message

// UnmarshalJSONFrom reads the messages; a text that is no array has none.
func (l *list) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	of := (*lenientjson.List[message])(l)
	if dec.PeekKind() != '"' {
		return of.UnmarshalJSONFrom(dec)
	}
	var text lenientjson.Text
	if err := text.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	if lenientjson.DecodeText(string(text), of) != nil {
		*l = nil
	}
	return nil
}

// verdict is what the columns of a row say about its outcome.
type verdict struct {
	Resolved lenientjson.Flag `json:"resolved"`
	Target   lenientjson.Flag `json:"target"`
	Success  lenientjson.Flag `json:"success"`
	Passed   lenientjson.Flag `json:"passed"`
	Reward   lenientjson.Flag `json:"reward"`

	EvalLogs       lenientjson.Text    `json:"eval_logs"`
	ModelPatch     lenientjson.OptText `json:"model_patch"`
	GeneratedPatch lenientjson.OptText `json:"generated_patch"`

	TestResult lenientjson.Of[struct {
		GitPatch lenientjson.OptText                 `json:"git_patch"`
		Report   lenientjson.Of[outcome.LooseReport] `json:"report"`
	}] `json:"test_result"`
}

// evidence returns what a row says about its outcome, each statement with its rank.
func (v *verdict) evidence(id string) []format.Item {
	var items []format.Item
	add := func(rank format.Rank, o trajectory.Outcome, source, detail string) {
		items = append(items, format.Item{Evidence: &format.Evidence{Key: id, Rank: rank, Outcome: o, Source: source, Detail: detail}})
	}
	if o, detail, ok := v.TestResult.V.Report.V.Verdict(); ok {
		add(format.RankReport, o, "test_result.report", detail)
	}
	// The evaluation of nebius ends its log with this line when the hidden tests pass.
	if strings.HasSuffix(strings.TrimSpace(string(v.EvalLogs)), "All tests passed.") {
		add(format.RankReport, trajectory.Pass, "eval_logs", "")
	}
	stated := false
	for _, column := range [...]struct {
		name string
		flag lenientjson.Flag
	}{{"resolved", v.Resolved}, {"target", v.Target}, {"passed", v.Passed}, {"success", v.Success}, {"reward", v.Reward}} {
		if !column.flag.Valid {
			continue
		}
		stated = true
		o := trajectory.Fail
		if column.flag.Value {
			o = trajectory.Pass
		}
		add(format.RankColumn, o, column.name, "")
		break
	}
	if !stated && len(items) == 0 {
		for _, patch := range [...]lenientjson.OptText{v.TestResult.V.GitPatch, v.ModelPatch, v.GeneratedPatch} {
			if patch.Valid && strings.TrimSpace(string(patch.Value)) == "" {
				add(format.RankColumn, trajectory.Fail, "patch", outcome.EmptyPatch)
				break
			}
		}
	}
	return items
}

func (r reader) readRows(rec format.Record) ([]format.Item, error) {
	if root := rec.Probe.Root; isMessage(root.First()) || isMessage(root) && !isRow(root) {
		var alone row
		damaged, err := alone.Messages.read(rec.Data)
		if err != nil {
			return nil, err
		}
		return r.row(rec, &alone, damaged)
	}
	return rows(rec, func(row *row) ([]format.Item, error) { return r.row(rec, row, 0) })
}

// read reads an array of messages, or messages by lines, and returns how many lines are
// damaged; it is an error when all are.
func (l *list) read(data []byte) (damaged int, err error) {
	if format.Value(bytes.TrimSpace(data)).Kind() == '[' {
		return 0, format.Decode(data, l)
	}
	var bad error
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var m message
		if err := format.Decode(line, &m); err != nil {
			bad = err
			damaged++
			continue
		}
		*l = append(*l, m)
	}
	if len(*l) == 0 {
		return 0, bad
	}
	return damaged, nil
}

func (r reader) row(rec format.Record, row *row, damaged int) ([]format.Item, error) {
	said := row.Messages
	for _, other := range [...]list{row.Trajectory, row.Conversations, row.Conversation} {
		if len(said) == 0 {
			said = other
		}
	}
	if len(said) == 0 {
		return nil, &format.RecordError{
			Code:    "no_messages",
			Message: "the row has no messages: want an array of role and content under messages, trajectory or conversations",
			Hint:    "choose another reader with option format",
		}
	}
	name := session.NameFile(rec.File)
	run := &session.Run{
		Tools: r.table, Family: ID,
		ID:         row.id(),
		Task:       session.Instance(string(row.InstanceID)),
		Model:      cmp.Or(string(row.Model), string(row.ModelName), modelOf(string(row.RunID))),
		Repo:       string(row.Repo),
		ExitStatus: string(row.ExitStatus),
	}
	if run.Task == "" && session.IsInstance(name.Task) {
		run.Task = name.Task
		run.Model = cmp.Or(run.Model, name.Model)
	}
	run.WarnN(session.WarnFormat, "damaged line", damaged)
	d := dialogue{run: run, dialect: dialectOf(said)}
	for i := range said {
		d.take(&said[i], i)
	}
	d.end()
	t := run.Trajectory(ID, d.version())
	items := append([]format.Item{{Trajectory: t}}, row.evidence(t.ID)...)
	return append(items, name.Evidence(t.ID)...), nil
}

// id returns the row's own id, "" for a row that has none: then the run's follows from what
// was said. The number of a row of a task is no id of its run.
func (r *row) id() string {
	return cmp.Or(string(r.TrajectoryID), string(r.TrajID), string(r.ID), string(r.UUID))
}

// modelOf returns the model that the id of an OpenHands evaluation begins with.
func modelOf(runID string) string {
	model, _, ok := strings.Cut(runID, "_maxiter_")
	if !ok {
		return ""
	}
	return model
}

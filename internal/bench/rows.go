package bench

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// Observations says how much observation text a dataset holds.
type Observations string

// The values of --observations.
const (
	ObservationsFull    Observations = "full"
	ObservationsPreview Observations = "preview"
	ObservationsNone    Observations = "none"
)

const previewChars = 1000

func (o Observations) text(s string) *string {
	switch o {
	case ObservationsNone:
		return nil
	case ObservationsPreview:
		n := 0
		for i := range s {
			if n == previewChars {
				s = strings.Clone(s[:i])
				break
			}
			n++
		}
	}
	return &s
}

// some is nil for absent text.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func stageText(s trajectory.Stage) *string { return some(s.String()) }

// command is the shell command of a terminal step; editors have an argument of that name,
// too.
func command(s *trajectory.State) *string {
	if trajectory.LookupTool(s.Tool).Category != trajectory.Execute {
		return nil
	}
	return some(s.Command())
}

func flag(i trajectory.Int) *bool {
	if !i.Valid {
		return nil
	}
	b := i.Value != 0
	return &b
}

func trajectoryRow(r *corpus.Labelled) schema.Trajectory {
	t := r.T
	row := schema.Trajectory{
		TrajectoryID:  t.ID,
		TaskID:        t.TaskID,
		Model:         t.Model,
		Agent:         some(t.Agent),
		AgentVersion:  some(t.Version),
		Format:        t.Format,
		FormatVersion: some(t.FormatVersion),
		Outcome:       t.Outcome.String(),
		Passed:        t.Outcome.Passed(),
		OutcomeSource: some(t.OutcomeSource),
		OutcomeDetail: some(t.OutcomeDetail),
		ExitStatus:    some(t.ExitStatus),
		SourceFile:    t.SourceFile,
		SourceSHA256:  t.SourceSHA256,
		NTransitions:  int64(len(t.Transitions)),
		Condensations: t.Condensations,
		Warnings:      warningsJSON(t.Warnings),
	}
	if t.SourceRecord != 0 {
		row.SourceRecord = &t.SourceRecord
	}
	byRelease, byClean := make([]byte, len(r.States)), make([]byte, len(r.States))
	for i, s := range r.States {
		byRelease[i], byClean[i] = s.Stage.Letter(), trajectory.NoStage.Letter()
		if c := r.CleanOf[i]; c >= 0 {
			byClean[i] = r.Clean[c].Stage.Letter()
		}
		if s.Stage != trajectory.NoStage {
			row.NStates++
		}
		row.InputTokens += s.InputTokens.Or(0)
		row.OutputTokens += s.OutputTokens.Or(0)
		row.CachedTokens += s.CachedTokens.Or(0)
	}
	row.StagesRelease, row.StagesClean = string(byRelease), string(byClean)
	return row
}

func stateRow(r *corpus.Labelled, i int, obs Observations) schema.State {
	s := r.States[i]
	row := schema.State{
		TrajectoryID:     r.T.ID,
		Step:             int64(i),
		StateID:          s.ID,
		Tool:             some(s.Tool),
		RawTool:          some(s.RawTool),
		Command:          command(s),
		FilePath:         some(s.FilePath),
		ScopePath:        some(s.ScopePath),
		FunctionName:     some(s.FunctionName),
		ClassName:        some(s.ClassName),
		OperationType:    some(s.OperationType),
		EditType:         some(s.EditType),
		ResultingState:   s.ResultingState,
		ContentHash:      some(s.ContentHash),
		StageSource:      stageText(r.Source[i]),
		StageRelease:     stageText(s.Stage),
		RuleRelease:      some(r.Rules[i]),
		InputTokens:      s.InputTokens.Ptr(),
		OutputTokens:     s.OutputTokens.Ptr(),
		CachedTokens:     s.CachedTokens.Ptr(),
		Timestamp:        some(s.Timestamp),
		ExitCode:         s.ExitCode.Ptr(),
		IsError:          flag(s.IsError),
		ErrorSource:      some(s.ErrorSource),
		ObservationChars: s.ObservationChars,
		ObservationHash:  s.ObservationHash,
		Observation:      obs.text(s.Observation),
	}
	if c := r.CleanOf[i]; c >= 0 {
		row.StageClean, row.RuleClean = stageText(r.Clean[c].Stage), some(r.Clean[c].Rule)
	}
	if s.Lines.Valid {
		row.LineStart, row.LineEnd = &s.Lines.Start, &s.Lines.End
	}
	return row
}

func warningsJSON(ws []trajectory.Warning) *string {
	if len(ws) == 0 {
		return nil
	}
	type warning struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	out := make([]warning, len(ws))
	for i, w := range ws {
		out[i] = warning{w.Code, w.Detail}
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // two strings always marshal; ingest repairs invalid UTF-8
	}
	s := string(b)
	return &s
}

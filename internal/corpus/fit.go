package corpus

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// maxTokens bounds a state's token count: sums over a dataset must stay far from overflow.
const maxTokens = 1 << 40

// fit makes a run storable whatever its reader let through: text without NUL and of valid
// UTF-8, token counts that can be added up. It warns where it changed something.
func fit(t *trajectory.Trajectory) {
	texts, counts := 0, 0
	clean := func(fields ...*string) {
		for _, s := range fields {
			if strings.IndexByte(*s, 0) >= 0 || !utf8.ValidString(*s) {
				*s = strings.ToValidUTF8(strings.ReplaceAll(*s, "\x00", "\uFFFD"), "\uFFFD")
				texts++
			}
		}
	}
	clean(&t.ID, &t.TaskID, &t.Model, &t.Repo, &t.Agent, &t.Version, &t.Format, &t.FormatVersion, &t.OutcomeSource,
		&t.OutcomeDetail, &t.ExitStatus, &t.SourceFile, &t.SourceSHA256, &t.TaskDescription, &t.Prompt, &t.Closing, &t.Workspace)
	for i := range t.Warnings {
		clean(&t.Warnings[i].Code, &t.Warnings[i].Detail)
	}
	for i := range t.Transitions {
		e := &t.Transitions[i]
		clean(&e.ID, &e.From, &e.To, &e.ActionType)
	}
	for i := range t.States {
		s := &t.States[i]
		clean(&s.ID, &s.Tool, &s.RawTool, &s.Observation, &s.ObservationHash, &s.ResultingState, &s.ResultingStateHash,
			&s.ContentHash, &s.ContentDescription, &s.FilePath, &s.RelativePosition, &s.OperationType, &s.EditType,
			&s.FunctionName, &s.ClassName, &s.ScopePath, &s.EntryID, &s.Thought, &s.ResponsePreview, &s.ResponseGroup,
			&s.LogModel, &s.Timestamp, &s.ErrorSource, &s.Response)
		for j := range s.FilesTouched {
			clean(&s.FilesTouched[j])
		}
		if s.Log != nil {
			a := &s.Log.Args
			clean(&s.Log.Kind, &s.Log.Tool, &a.Raw, &a.FilePath, &a.Path, &a.Command, &a.Query, &a.Code, &a.OldString,
				&a.NewString, &a.Content)
		}
		for _, n := range [...]*trajectory.Int{&s.InputTokens, &s.OutputTokens, &s.CachedTokens} {
			if n.Valid && (n.Value < 0 || n.Value > maxTokens) {
				*n = trajectory.Int{}
				counts++
			}
		}
	}
	if texts > 0 {
		t.Warnings = append(t.Warnings, trajectory.Warning{Code: "bad_text", Detail: fmt.Sprintf("NUL characters or bytes that are no UTF-8 replaced in %d texts", texts)})
	}
	if counts > 0 {
		t.Warnings = append(t.Warnings, trajectory.Warning{Code: "bad_tokens", Detail: fmt.Sprintf("%d token counts below 0 or above %d left out", counts, int64(maxTokens))})
	}
}

package spill

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

var errCorrupt = errors.New("stored trajectory is damaged")

// A codec walks a trajectory's fields once; the same walk writes and reads, so the two
// can't drift apart. Reading shares one string for all text of a trajectory.
type codec struct {
	out     []byte // writing
	in      string // reading
	reading bool
	texts   bool // whole texts are stored, too
	bad     bool
}

func encode(t *trajectory.Trajectory, texts bool) []byte {
	c := codec{out: make([]byte, 0, 64<<10), texts: texts}
	c.trajectory(t)
	return c.out
}

func decode(raw []byte, texts bool) (*trajectory.Trajectory, error) {
	c := codec{in: string(raw), reading: true, texts: texts}
	t := new(trajectory.Trajectory)
	c.trajectory(t)
	if c.bad || c.in != "" {
		return nil, errCorrupt
	}
	return t, nil
}

func (c *codec) int(v *int64) {
	if !c.reading {
		c.out = binary.AppendVarint(c.out, *v)
		return
	}
	var ux uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if c.in == "" {
			c.bad = true
			return
		}
		b := c.in[0]
		c.in = c.in[1:]
		ux |= uint64(b&0x7f) << shift
		if b < 0x80 {
			*v = int64(ux>>1) ^ -int64(ux&1)
			return
		}
	}
	c.bad = true
}

func (c *codec) str(v *string) {
	n := int64(len(*v))
	c.int(&n)
	if !c.reading {
		c.out = append(c.out, *v...)
		return
	}
	if c.bad || n < 0 || n > int64(len(c.in)) {
		c.bad, *v = true, ""
		return
	}
	*v, c.in = c.in[:n], c.in[n:]
}

func (c *codec) bool(v *bool) {
	var n int64
	if *v {
		n = 1
	}
	c.int(&n)
	*v = n != 0
}

func (c *codec) opt(v *trajectory.Int) {
	c.bool(&v.Valid)
	if v.Valid {
		c.int(&v.Value)
	}
}

// slice codes the length of a slice and then each element.
func slice[T any](c *codec, v *[]T, elem func(*T)) {
	n := int64(len(*v))
	c.int(&n)
	if c.reading {
		if c.bad || n < 0 || n > int64(len(c.in)) {
			c.bad = true
			return
		}
		if n > 0 {
			*v = make([]T, n)
		}
	}
	for i := range *v {
		elem(&(*v)[i])
	}
}

func code[T ~uint8 | ~uint16](c *codec, v *T) {
	n := int64(*v)
	c.int(&n)
	*v = T(n)
}

func (c *codec) trajectory(t *trajectory.Trajectory) {
	for _, s := range []*string{
		&t.ID, &t.TaskID, &t.Model, &t.Repo, &t.Agent, &t.Version, &t.Format, &t.FormatVersion,
		&t.OutcomeSource, &t.OutcomeDetail, &t.ExitStatus, &t.SourceFile, &t.SourceSHA256, &t.TaskDescription,
		&t.Workspace,
	} {
		c.str(s)
	}
	if c.texts {
		c.str(&t.Prompt)
		c.str(&t.Closing)
	}
	code(c, &t.Outcome)
	sourceNo := int64(t.SourceNo)
	c.int(&sourceNo)
	t.SourceNo = int(sourceNo)
	c.int(&t.SourceRecord)
	c.int(&t.Condensations)
	slice(c, &t.Warnings, func(w *trajectory.Warning) { c.str(&w.Code); c.str(&w.Detail) })
	c.ledger(&t.Ledger)
	slice(c, &t.States, c.state)
	slice(c, &t.Transitions, func(e *trajectory.Transition) {
		c.str(&e.ID)
		c.str(&e.From)
		c.str(&e.To)
		c.str(&e.ActionType)
		c.int(&e.Step)
	})
}

func (c *codec) ledger(l **trajectory.Ledger) {
	there := *l != nil
	c.bool(&there)
	if !there {
		return
	}
	if c.reading {
		*l = new(trajectory.Ledger)
	}
	for _, n := range [...]*int64{&(*l).Turns, &(*l).TokenRecords, &(*l).Verdicts} {
		c.int(n)
	}
	for _, a := range [...]*trajectory.Account{&(*l).Calls, &(*l).Answers} {
		c.int(&a.Found)
		c.int(&a.Read)
		reasons := slices.Sorted(maps.Keys(a.Skipped))
		slice(c, &reasons, func(reason *string) {
			n := a.Skipped[*reason]
			c.str(reason)
			c.int(&n)
			if c.reading {
				a.Skip(*reason, n)
			}
		})
	}
}

func (c *codec) state(s *trajectory.State) {
	for _, v := range [...]*string{
		&s.ID, &s.Tool, &s.RawTool, &s.Observation, &s.ObservationHash, &s.ResultingState, &s.ResultingStateHash,
		&s.ContentHash, &s.ContentDescription, &s.FilePath, &s.RelativePosition, &s.OperationType, &s.EditType,
		&s.FunctionName, &s.ClassName, &s.ScopePath, &s.EntryID, &s.Thought, &s.ResponsePreview, &s.ResponseGroup,
		&s.LogModel, &s.Timestamp, &s.ErrorSource,
	} {
		c.str(v)
	}
	if c.texts {
		c.str(&s.Response)
	}
	c.int(&s.Step)
	c.int(&s.ObservationChars)
	slice(c, &s.FilesTouched, c.str)
	c.bool(&s.Lines.Valid)
	c.int(&s.Lines.Start)
	c.int(&s.Lines.End)
	code(c, &s.Stage)
	for _, v := range [...]*trajectory.Int{&s.InputTokens, &s.OutputTokens, &s.CachedTokens, &s.ExitCode, &s.IsError} {
		c.opt(v)
	}
	c.bool(&s.Initial)
	c.bool(&s.Terminal)
	c.bool(&s.Undo)
	has := s.Log != nil
	c.bool(&has)
	if !has {
		return
	}
	if c.reading {
		s.Log = new(trajectory.LogEntry)
	}
	a := &s.Log.Args
	for _, v := range [...]*string{
		&s.Log.Kind, &s.Log.Tool, &a.Raw, &a.FilePath, &a.Path, &a.Command, &a.Query, &a.Code, &a.OldString,
		&a.NewString, &a.Content,
	} {
		c.str(v)
	}
	code(c, &a.Has)
	c.int(&a.StartLine)
	c.int(&a.EndLine)
}

package equiv

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Method names the part of the release's cascade that decided.
type Method string

// The methods, as the release reports them.
const (
	PositionZero  Method = "position_zero"
	StageMismatch Method = "stage_mismatch"
	ExactMatch    Method = "exact_match"
	ContentHash   Method = "content_hash"
	SameResult    Method = "resulting_state"
	ScopeMatch    Method = "scope_match"
	SymbolMatch   Method = "scope_match_extracted"
	LineOverlap   Method = "line_overlap"
	Terminal      Method = "terminal_similarity"
	Heuristic     Method = "heuristic"
)

// Verdict is the answer of the release's cascade.
type Verdict struct {
	Equivalent bool
	Confidence float64 // 0-1, reported only; undecided counts as the zero Verdict
	Method     Method
}

// ReleaseStep holds what the release's cascade looks at in one state. Stage may be changed,
// as a merged graph has labels of its own.
type ReleaseStep struct {
	Stage trajectory.Stage
	State *trajectory.State

	tool    trajectory.Tool
	logged  trajectory.Comparison // of the log entry's tool
	command *command              // nil without a log entry or a command
	argPath string                // normalised path argument
	files   []string              // files of the state, normalised
	query   []string              // words of the query, sorted, distinct
	symbols []string              // of an edit's description, sorted, distinct
}

// NewReleaseStep prepares a state, which must not change afterwards.
func NewReleaseStep(s *trajectory.State) ReleaseStep {
	r := ReleaseStep{Stage: s.Stage, State: s, tool: trajectory.LookupTool(s.Tool)}
	if r.tool.Category == trajectory.Edit {
		r.symbols = symbols(s.ContentDescription)
	}
	if r.tool.Group != "" {
		r.files = stateFiles(s)
	}
	if s.Log == nil {
		return r
	}
	args := &s.Log.Args
	r.logged = r.tool.Comparison
	if s.Log.Tool != s.Tool {
		r.logged = trajectory.LookupTool(s.Log.Tool).Comparison
	}
	if c := strings.TrimSpace(args.Command); c != "" {
		r.command = newCommand(c)
	}
	r.argPath = normalisePath(args.FilePath)
	if args.FilePath == "" {
		r.argPath = normalisePath(args.Path)
	}
	r.query = wordSet(args.Query)
	return r
}

func yes(confidence float64, m Method) Verdict { return Verdict{true, confidence, m} }
func no(confidence float64, m Method) Verdict  { return Verdict{false, confidence, m} }

// Compare runs the cascade: a is the reference's step, b the other, position the index of a
// on its path. The first decision wins.
func (a *ReleaseStep) Compare(b *ReleaseStep, position int) Verdict {
	if position == 0 {
		return yes(1, PositionZero)
	}
	if a.Stage != b.Stage && a.Stage != trajectory.NoStage && b.Stage != trajectory.NoStage {
		return no(0.95, StageMismatch)
	}
	s, o := a.State, b.State
	sameTool := s.Tool == o.Tool
	if !sameTool && (a.tool.Group == "" || a.tool.Group != b.tool.Group) {
		return no(1, ExactMatch)
	}
	if sameTool {
		switch {
		case s.ContentHash != "" && s.ContentHash == o.ContentHash:
			return yes(1, ContentHash)
		case s.ResultingState != "" && s.ResultingState == o.ResultingState && (s.ContentHash == "" || o.ContentHash == ""):
			return yes(1, SameResult)
		case s.Observation == o.Observation:
			return yes(1, ExactMatch)
		}
	}
	if a.tool.Category == trajectory.Read || a.tool.Category == trajectory.Edit {
		if sameTool && s.FilePath != "" && o.FilePath != "" {
			if v := a.compareFiles(b); v.Method != "" {
				return v
			}
		}
	} else if s.ResultingState != "" && s.ResultingState == o.ResultingState &&
		(s.ContentHash == "" || o.ContentHash == "" || s.ContentHash == o.ContentHash) {
		return yes(0.95, SameResult)
	}
	if a.tool.Comparison == trajectory.ByCommand && a.command != nil && b.command != nil {
		if v := a.command.compare(b.command); v.Method != "" {
			return v
		}
	}
	if !sameTool {
		return a.compareFileSets(b)
	}
	return a.compareArgs(b)
}

// compareFiles compares two uses of one file tool that both name a file.
func (a *ReleaseStep) compareFiles(b *ReleaseStep) Verdict {
	s, o := a.State, b.State
	if s.FilePath != o.FilePath {
		return no(0.9, LineOverlap)
	}
	if a.tool.Category == trajectory.Edit {
		both := func(x, y string, same, differ float64) Verdict {
			if x == y {
				return yes(same, ScopeMatch)
			}
			return no(differ, ScopeMatch)
		}
		switch {
		case s.ScopePath != "" && o.ScopePath != "":
			return both(s.ScopePath, o.ScopePath, 0.9, 0.85)
		case s.FunctionName != "" && o.FunctionName != "":
			return both(s.FunctionName, o.FunctionName, 0.85, 0.8)
		case s.ClassName != "" && o.ClassName != "":
			return both(s.ClassName, o.ClassName, 0.8, 0.75)
		case len(a.symbols) > 0 && len(b.symbols) > 0:
			if common(a.symbols, b.symbols) > 0 {
				return yes(0.75, SymbolMatch)
			}
			return no(0.7, SymbolMatch)
		}
	}
	if !s.Lines.Valid || !o.Lines.Valid {
		if a.tool.Category == trajectory.Read {
			return yes(0.8, LineOverlap)
		}
		return Verdict{}
	}
	switch overlap := overlapRatio(s.Lines.Start, s.Lines.End, o.Lines.Start, o.Lines.End); {
	case overlap >= minOverlap:
		return yes(0.8+float64(overlap*0.15), LineOverlap)
	case overlap == 0:
		return no(0.8, LineOverlap)
	}
	return Verdict{}
}

// overlapRatio is the size of the intersection of two inclusive ranges over that of their
// hull, 0 when they do not meet.
func overlapRatio(start1, end1, start2, end2 int64) float64 {
	both := min(end1, end2) - max(start1, start2) + 1
	hull := max(end1, end2) - min(start1, start2) + 1
	if both <= 0 || hull <= 0 {
		return 0
	}
	return float64(both) / float64(hull)
}

// compareFileSets compares different tools of one group by the files they deal with.
func (a *ReleaseStep) compareFileSets(b *ReleaseStep) Verdict {
	s, o := a.State, b.State
	if !intersects(a.files, b.files) {
		return no(0.95, Heuristic)
	}
	if s.ContentHash != "" && o.ContentHash != "" && s.ContentHash != o.ContentHash {
		if s.ScopePath != "" && o.ScopePath != "" {
			if intersects(commaList(s.ScopePath), commaList(o.ScopePath)) {
				return yes(0.85, Heuristic)
			}
			return no(0.8, Heuristic)
		}
		x, y := a.descriptionSymbols(), b.descriptionSymbols()
		if len(x) > 0 && len(y) > 0 {
			if common(x, y) > 0 {
				return yes(0.8, Heuristic)
			}
			return no(0.75, Heuristic)
		}
	}
	return yes(0.85, Heuristic)
}

func (a *ReleaseStep) descriptionSymbols() []string {
	if a.tool.Category == trajectory.Edit {
		return a.symbols
	}
	return symbols(a.State.ContentDescription)
}

// compareArgs compares two calls of one tool by what tells such calls apart.
func (a *ReleaseStep) compareArgs(b *ReleaseStep) Verdict {
	s, o := a.State, b.State
	if s.Log == nil || o.Log == nil {
		return a.compareUnlogged(b)
	}
	if s.Log.Kind != o.Log.Kind {
		return no(0.8, Heuristic)
	}
	if s.Log.Kind == "request" {
		return yes(0.85, Heuristic)
	}
	switch a.logged {
	case trajectory.ByFilePath:
		return a.compareArgPaths(b)
	case trajectory.ByQuery:
		if s.Log.Args.Query == o.Log.Args.Query {
			return yes(0.9, Heuristic)
		}
		if sim := wordJaccard(a.query, b.query); sim > 0.8 {
			return yes(float64(sim*0.9), Heuristic)
		}
		return no(0.7, Heuristic)
	case trajectory.ByCommand:
		if sameWords(s.Log.Args.Command, o.Log.Args.Command) {
			return yes(0.9, Heuristic)
		}
		return no(0.8, Heuristic)
	}
	if sameJSON(s.Log.Args.Raw, o.Log.Args.Raw) {
		return yes(0.85, Heuristic)
	}
	return no(0.6, Heuristic)
}

func (a *ReleaseStep) compareUnlogged(b *ReleaseStep) Verdict {
	s, o := a.State, b.State
	switch {
	case s.Initial && o.Initial:
		return yes(1, Heuristic)
	case s.Initial != o.Initial:
		return no(0.95, Heuristic)
	case s.Tool == "":
		return yes(0.5, Heuristic)
	case s.FilePath == "" || o.FilePath == "":
		return yes(0.75, Heuristic)
	case s.FilePath == o.FilePath:
		return yes(0.85, Heuristic)
	}
	return no(0.85, Heuristic)
}

func (a *ReleaseStep) compareArgPaths(b *ReleaseStep) Verdict {
	if a.argPath != b.argPath {
		return no(0.9, Heuristic)
	}
	x, y := &a.State.Log.Args, &b.State.Log.Args
	if a.State.Log.Tool == "read_file" && x.StartLine != 0 && x.EndLine != 0 && y.StartLine != 0 && y.EndLine != 0 {
		ratio := overlapRatio(x.StartLine, x.EndLine, y.StartLine, y.EndLine)
		if ratio >= minOverlap {
			return yes(0.85+float64(ratio*0.1), Heuristic)
		}
		return no(0.85, Heuristic)
	}
	return yes(0.9, Heuristic)
}

// sameJSON reports whether two JSON texts have the same value. A text that is no JSON
// equals only itself.
func sameJSON(x, y string) bool {
	if x == y {
		return true
	}
	v, w := jsontext.Value(x), jsontext.Value(y)
	return v.Canonicalize() == nil && w.Canonicalize() == nil && string(v) == string(w)
}

package equiv

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// StrictReason is the rule of strict_t that decided a pair (docs/spec/paper.md,
// section 3).
type StrictReason string

// The reasons, in the order the rules are tried.
const (
	StrictStage       StrictReason = "stage"            // no: labels differ
	StrictClass       StrictReason = "class"            // no: classes differ
	StrictContent     StrictReason = "content_hash"     // yes
	StrictObservation StrictReason = "observation_hash" // yes
	StrictPath        StrictReason = "path"             // no: paths differ or are unknown
	StrictScope       StrictReason = "scope"            // yes
	StrictRange       StrictReason = "range"            // yes
	StrictRangeNo     StrictReason = "range_no"         // no: ranges unknown or too far apart
	StrictGroupNo     StrictReason = "group_no"         // no: terminal groups differ
	StrictTokens      StrictReason = "terminal"         // yes
	StrictTokensNo    StrictReason = "tokens_no"        // no: too few common tokens
	StrictNone        StrictReason = "none"             // no: nothing else makes such steps equal
)

const (
	minOverlap = 0.30 // of line ranges
	minJaccard = 0.5  // of token sets, exclusive
)

// The classes; any other tool has its name as class.
const (
	classEdit = "edit"
	classRead = "read"
	classDir  = "dir"
	classTerm = "term"
)

// StrictTable makes comparable steps: texts become numbers that mean the same in all steps
// of one table. It keeps nothing of the states alive. It is for one goroutine; the steps
// may be compared from many.
type StrictTable struct {
	ids   map[string]uint32
	names []string
}

// NewStrictTable returns an empty table.
func NewStrictTable() *StrictTable {
	return &StrictTable{ids: map[string]uint32{"": 0}, names: []string{""}}
}

// id returns the number of a text, 0 for "".
func (t *StrictTable) id(s string) uint32 {
	if n, ok := t.ids[s]; ok {
		return n
	}
	n := uint32(len(t.names))
	s = strings.Clone(s)
	t.ids[s] = n
	t.names = append(t.names, s)
	return n
}

// StrictStep holds what strict_t looks at in a step. The label may be changed; the rest
// does not depend on it.
type StrictStep struct {
	Label trajectory.Stage
	Class string               // edit, read, dir, term, think, or the name of any other tool
	Path  string               // file_path, or the first file touched
	Group string               // terminal group, "" for other classes
	Lines trajectory.LineRange // of a read as stored, of an edit recovered from the response

	kind                 stepKind
	class                uint32
	content, observation uint32
	path, scope, group   uint32
	tokens               []uint32 // sorted
	mask                 uint64   // one bit per token, several tokens may share one
}

type stepKind uint8

const (
	kindOther stepKind = iota // only hashes can make such steps equal
	kindFile
	kindTerminal
)

// Tokens returns the size of a terminal step's token set.
func (s *StrictStep) Tokens() int { return len(s.tokens) }

// Step describes a state under a label. The actions are those of its command; they are
// used for run_in_terminal only.
func (t *StrictTable) Step(s *trajectory.State, label trajectory.Stage, actions []shell.Action) StrictStep {
	out := StrictStep{Label: label, Class: s.Tool, Path: s.FilePath}
	if out.Path == "" && len(s.FilesTouched) > 0 {
		out.Path = s.FilesTouched[0]
	}
	switch s.Tool {
	case "replace_string_in_file", "create_file":
		out.Class, out.kind = classEdit, kindFile
		if s.Tool == "replace_string_in_file" {
			out.Lines = recoveredRange(s)
		}
		out.scope = t.id(s.ScopePath)
	case "read_file":
		out.Class, out.kind = classRead, kindFile
		out.Lines = s.Lines
	case "list_dir":
		out.Class = classDir
	case "run_in_terminal":
		out.Class, out.kind = classTerm, kindTerminal
		t.terminal(&out, s, actions)
	}
	out.class = t.id(out.Class)
	out.content = t.id(s.ContentHash)
	out.observation = t.id(s.ObservationHash)
	out.path = t.id(out.Path)
	out.Class, out.Path, out.Group = t.names[out.class], t.names[out.path], t.names[out.group]
	return out
}

func (t *StrictTable) terminal(out *StrictStep, s *trajectory.State, actions []shell.Action) {
	text := s.Command()
	out.Group = shell.Group(actions)
	if text == "" {
		out.Group = shell.GroupCode
		if s.Log != nil {
			text = s.Log.Args.Code
		}
	}
	out.group = t.id(out.Group)
	words := shell.Tokens(text)
	out.tokens = make([]uint32, len(words))
	for i, w := range words {
		n := t.id(w)
		out.tokens[i] = n
		out.mask |= 1 << (n * 0x9E3779B1 >> 26) // the six highest bits of a multiplicative hash
	}
	slices.Sort(out.tokens)
}

// recoveredRange returns the lines an edit covers in the file: the stored range of an edit
// only counts the lines of the replaced text, the response shows the real ones.
func recoveredRange(s *trajectory.State) trajectory.LineRange {
	first, ok := firstNumberedLine(s.ResponsePreview)
	if !ok {
		return trajectory.LineRange{}
	}
	if first > 1 {
		first += 4 // the tool prints four lines of context before the edit
	}
	var height int64 = 1
	if s.Log != nil {
		height += int64(max(strings.Count(s.Log.Args.OldString, "\n"), strings.Count(s.Log.Args.NewString, "\n")))
	}
	return trajectory.LineRange{Start: first, End: first + height, Valid: true}
}

// firstNumberedLine returns the number of the first line of the form number, tab, text.
func firstNumberedLine(text string) (int64, bool) {
	for line := range strings.Lines(text) {
		digits, _, ok := strings.Cut(strings.TrimLeft(line, " \t\r\f"), "\t")
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 48)
		return n, err == nil
	}
	return 0, false
}

// StrictT decides whether two steps of one table are equivalent and which rule decided.
// The confidence is 0 for no, 0.70 to 1 for yes. It is symmetric and not transitive.
func StrictT(a, b *StrictStep) (same bool, confidence float64, reason StrictReason) {
	switch {
	case a.Label != b.Label:
		return false, 0, StrictStage
	case a.class != b.class:
		return false, 0, StrictClass
	case a.content != 0 && a.content == b.content:
		return true, 1, StrictContent
	case a.observation != 0 && a.observation == b.observation:
		return true, 1, StrictObservation
	}
	switch a.kind {
	case kindFile:
		return strictFile(a, b)
	case kindTerminal:
		return strictTerminal(a, b)
	}
	return false, 0, StrictNone
}

func strictFile(a, b *StrictStep) (bool, float64, StrictReason) {
	switch {
	case a.path == 0 || a.path != b.path:
		return false, 0, StrictPath
	case a.scope != 0 && a.scope == b.scope:
		return true, 0.90, StrictScope
	}
	if a.Lines.Valid && b.Lines.Valid {
		if ov := overlap(a.Lines, b.Lines); ov >= minOverlap {
			return true, 0.80 + float64(0.15*ov), StrictRange
		}
	}
	return false, 0, StrictRangeNo
}

// overlap returns the common share of the span of two ranges.
func overlap(a, b trajectory.LineRange) float64 {
	common := max(0, min(a.End, b.End)-max(a.Start, b.Start)+1)
	return float64(common) / float64(max(a.End, b.End)-min(a.Start, b.Start)+1)
}

func strictTerminal(a, b *StrictStep) (bool, float64, StrictReason) {
	if a.group != b.group {
		return false, 0, StrictGroupNo
	}
	// A token whose bit the other set lacks is not common, which bounds the intersection.
	common := min(len(a.tokens)-bits.OnesCount64(a.mask&^b.mask), len(b.tokens)-bits.OnesCount64(b.mask&^a.mask))
	union := len(a.tokens) + len(b.tokens) - common
	if jaccard(common, union) <= minJaccard {
		return false, 0, StrictTokensNo
	}
	common = intersection(a.tokens, b.tokens)
	j := jaccard(common, len(a.tokens)+len(b.tokens)-common)
	if j <= minJaccard {
		return false, 0, StrictTokensNo
	}
	return true, 0.70 + float64(0.15*j), StrictTokens
}

func jaccard(common, union int) float64 {
	if union == 0 {
		return 0
	}
	return float64(common) / float64(union)
}

func intersection(a, b []uint32) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

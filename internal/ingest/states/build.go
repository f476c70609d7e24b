package states

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Canonical tools that the derivations know by name.
const (
	RunInTerminal = "run_in_terminal"
	ReadFile      = "read_file"
	ReplaceString = "replace_string_in_file"
	CreateFile    = "create_file"
	ListDir       = "list_dir"
	Think         = "think"
	ApplyPatch    = "apply_patch"
	FileSearch    = "file_search"
	GrepSearch    = "grep_search"
)

// Lengths in code points.
const (
	maxPreview  = 500 // response in an observation and in a preview
	maxArgument = 200 // argument in an observation
	maxCommand  = 100 // command in a description
)

// Call is one executed tool call under canonical names.
type Call struct {
	EntryID string // id of the event or call in the log
	Tool    string // canonical
	RawTool string // name in the log
	Args    trajectory.Args

	Response string // full text the tool gave back, "" when there was none

	ExitCode    trajectory.Int
	IsError     trajectory.Int // 0 or 1, missing when the log does not tell
	ErrorSource string         // exit_code, flag, text, or ""
	Undo        bool           // reverts an earlier edit

	Thought       string
	Model         string
	Timestamp     string // as written in the log
	ResponseGroup string // id of the model response that issued the call

	InputTokens, OutputTokens, CachedTokens trajectory.Int
}

func (c *Call) failed() bool { return c.IsError.Or(0) == 1 }

// Build returns the chain of states and transitions of a run: the initial state, then one
// state per call in the given order.
func Build(calls []Call) ([]trajectory.State, []trajectory.Transition) {
	states := make([]trajectory.State, 0, len(calls)+1)
	transitions := make([]trajectory.Transition, 0, len(calls))
	states = append(states, initial())
	for i := range calls {
		s := derive(&calls[i])
		s.Step = int64(i + 1)
		s.ID = "state_" + strconv.Itoa(i+1)
		transitions = append(transitions, trajectory.Transition{
			ID:         "trans_" + strconv.Itoa(i),
			From:       states[i].ID,
			To:         s.ID,
			ActionType: s.Tool,
			Step:       s.Step,
		})
		states = append(states, s)
	}
	states[len(states)-1].Terminal = len(calls) > 0
	return states, transitions
}

// Rederive derives what Build derives from calls again, after their texts were changed.
func Rederive(t *trajectory.Trajectory) {
	for i := range t.States {
		s := &t.States[i]
		if s.Log == nil || s.Log.Kind != "toolCall" {
			continue
		}
		fresh := derive(&Call{
			EntryID: s.EntryID, Tool: s.Tool, RawTool: s.RawTool, Args: s.Log.Args, Response: s.Response,
			ExitCode: s.ExitCode, IsError: s.IsError, ErrorSource: s.ErrorSource, Undo: s.Undo,
			Thought: s.Thought, Model: s.LogModel, Timestamp: s.Timestamp, ResponseGroup: s.ResponseGroup,
			InputTokens: s.InputTokens, OutputTokens: s.OutputTokens, CachedTokens: s.CachedTokens,
		})
		fresh.ID, fresh.Step, fresh.Terminal = s.ID, s.Step, s.Terminal
		*s = fresh
	}
}

func initial() trajectory.State {
	s := trajectory.State{ID: "state_0", Observation: "<initial>", ResultingState: "initial", Initial: true}
	seal(&s)
	return s
}

func derive(c *Call) trajectory.State {
	s := trajectory.State{
		Tool:            c.Tool,
		RawTool:         c.RawTool,
		Observation:     observation(c),
		ResultingState:  resultingState(c),
		FilePath:        NormalizePath(c.Args.FilePath),
		OperationType:   operationType(c.Tool),
		Log:             &trajectory.LogEntry{Kind: "toolCall", Tool: c.Tool, Args: c.Args},
		EntryID:         c.EntryID,
		Thought:         c.Thought,
		ResponsePreview: cut(c.Response, maxPreview),
		Response:        c.Response,
		ResponseGroup:   c.ResponseGroup,
		LogModel:        c.Model,
		Timestamp:       c.Timestamp,
		InputTokens:     c.InputTokens,
		OutputTokens:    c.OutputTokens,
		CachedTokens:    c.CachedTokens,
		ExitCode:        c.ExitCode,
		IsError:         c.IsError,
		ErrorSource:     c.ErrorSource,
		Undo:            c.Undo,
	}
	if c.Args.FilePath != "" {
		s.FilesTouched = []string{c.Args.FilePath}
	}
	switch c.Tool {
	case RunInTerminal:
		s.ContentHash = hash12(c.Args.Command)
		s.ContentDescription = describeCommand(c.Args.Command)
	case ReadFile:
		s.Lines = readLines(&c.Args)
		s.RelativePosition = relativePosition(s.Lines)
	case CreateFile:
		s.ContentHash = hash12(c.Args.Content)
		s.ContentDescription = describeCreation(c.Args.FilePath)
	case ReplaceString:
		edited(&s, &c.Args)
	case ApplyPatch:
		s.ContentHash = hash12(c.Args.Content)
	}
	seal(&s)
	return s
}

// edited derives what an edit's old and new text tell.
func edited(s *trajectory.State, args *trajectory.Args) {
	before, after := args.OldString, args.NewString
	s.ContentHash = hash12(before + "||" + after)
	s.EditType = editType(before, after)
	if before != "" {
		lines := 1 + max(strings.Count(before, "\n"), strings.Count(after, "\n"))
		s.Lines = trajectory.LineRange{Start: 1, End: int64(lines), Valid: true}
	}
	var was, is outline
	if isPython(args.FilePath) {
		was, is = outlinePython(before), outlinePython(after)
	}
	s.ContentDescription = describeEdit(args.FilePath, before, after, was, is)
	s.ClassName, s.FunctionName = was.scope()
	s.ScopePath = strings.Trim(s.ClassName+"."+s.FunctionName, ".")
}

func seal(s *trajectory.State) {
	s.ObservationChars = int64(utf8.RuneCountInString(s.Observation))
	s.ObservationHash = hash(s.Observation, 16)
	s.ResultingStateHash = hash(s.ResultingState, 16)
}

// observation is the text the release compares states by.
func observation(c *Call) string {
	var b strings.Builder
	b.Grow(128 + min(len(c.Response), maxPreview) + min(len(c.Args.Command), maxArgument) + min(len(c.Args.Content), maxArgument))
	b.WriteString("Tool: ")
	b.WriteString(c.Tool)
	for _, arg := range [...]struct {
		set  trajectory.ArgSet
		name string
		text string
	}{
		{trajectory.HasFilePath, "filePath", c.Args.FilePath},
		{trajectory.HasQuery, "query", c.Args.Query},
		{trajectory.HasCommand, "command", c.Args.Command},
		{trajectory.HasContent, "content", c.Args.Content},
	} {
		if c.Args.Has&arg.set != 0 {
			b.WriteString("\n" + arg.name + ": ")
			writeShort(&b, arg.text, maxArgument)
		}
	}
	if c.Response != "" {
		b.WriteString("\nResponse: ")
		writeShort(&b, c.Response, maxPreview)
	}
	return b.String()
}

func resultingState(c *Call) string {
	path := NormalizePath(c.Args.FilePath)
	switch c.Tool {
	case RunInTerminal:
		return "terminal:" + firstWord(c.Args.Command)
	case ReadFile:
		return "file_read:" + path
	case ListDir:
		return "dir_listed:" + path
	case CreateFile:
		if c.failed() {
			return "file_create_failed:" + path
		}
		return "file_created:" + path
	case ReplaceString:
		if c.failed() {
			return "file_modify_failed:" + path
		}
		return "file_modified:" + path
	case ApplyPatch:
		return "file_patched:" + path
	case FileSearch:
		if c.failed() || c.Response == "" {
			return "file_search:not_found:" + c.Args.Query
		}
		return "file_search:found:" + c.Args.Query
	case GrepSearch:
		if c.failed() || c.Response == "" {
			return "grep_search:no_matches"
		}
		return "grep_search:found_matches"
	}
	if c.failed() {
		return "tool_result:" + c.Tool + ":error"
	}
	return "tool_result:" + c.Tool + ":success"
}

func operationType(tool string) string {
	switch tool {
	case RunInTerminal:
		return "terminal"
	case ReadFile:
		return "read"
	case CreateFile:
		return "create"
	case ReplaceString, ApplyPatch:
		return "modify"
	case ListDir, FileSearch, GrepSearch:
		return "search"
	}
	return "other"
}

func editType(before, after string) string {
	switch {
	case before == "" && after == "":
		return ""
	case before == "":
		return "add"
	case after == "":
		return "remove"
	}
	was, is := utf8.RuneCountInString(before), utf8.RuneCountInString(after)
	switch {
	case 2*is > 3*was:
		return "expand"
	case 2*is < was:
		return "shrink"
	}
	return "replace"
}

func readLines(args *trajectory.Args) trajectory.LineRange {
	const both = trajectory.HasStartLine | trajectory.HasEndLine
	if args.Has&both != both {
		return trajectory.LineRange{}
	}
	return trajectory.LineRange{Start: args.StartLine, End: args.EndLine, Valid: true}
}

// relativePosition places the middle of a range in a file taken to be half as long again
// as the range's end. An open end has no position.
func relativePosition(r trajectory.LineRange) string {
	if !r.Valid || r.End <= 0 {
		return ""
	}
	switch at := float64(r.Start+r.End) / 2 / (float64(r.End) * 1.5); {
	case at <= 0.33:
		return "early"
	case at <= 0.66:
		return "middle"
	}
	return "late"
}

// firstWord returns the first word of a command in lower case, "unknown" when there is none.
func firstWord(command string) string {
	for word := range strings.FieldsSeq(command) {
		return strings.ToLower(word)
	}
	return "unknown"
}

// describeCommand names the kind of command and quotes its beginning.
func describeCommand(command string) string {
	if command == "" {
		return ""
	}
	kind := "terminal"
	switch word := firstWord(command); {
	case strings.Contains(word, "python"):
		kind = "Python"
	case word == "git":
		kind = "Git"
	}
	return "Ran " + kind + " command: " + cut(command, maxCommand)
}

// describeCreation names the language of a file by its extension. The release shows
// Python, Markdown, Shell, Xml and Unknown; the other names are ours, spelt alike.
func describeCreation(path string) string {
	language := "Unknown"
	switch extension(path) {
	case ".py", ".pyi":
		language = "Python"
	case ".md":
		language = "Markdown"
	case ".sh":
		language = "Shell"
	case ".xml":
		language = "Xml"
	case ".js", ".jsx", ".mjs", ".cjs":
		language = "Javascript"
	case ".ts", ".tsx":
		language = "Typescript"
	case ".java":
		language = "Java"
	case ".go":
		language = "Go"
	case ".rs":
		language = "Rust"
	case ".c", ".h":
		language = "C"
	case ".cc", ".cpp", ".hpp":
		language = "Cpp"
	case ".rb":
		language = "Ruby"
	case ".json":
		language = "Json"
	case ".yaml", ".yml":
		language = "Yaml"
	case ".html":
		language = "Html"
	}
	return "Created " + language + " file '" + base(path) + "'"
}

// describeEdit names the symbols an edit adds, removes or renames; without any, whether it
// changes imports; and otherwise whether the text grows, shrinks or stays in size.
func describeEdit(path, before, after string, was, is outline) string {
	parts := symbolChanges("function", was.functions, is.functions)
	parts = append(parts, symbolChanges("class", was.classes, is.classes)...)
	if len(parts) == 0 {
		parts = []string{contentChange(before, after, was, is)}
	}
	return "In '" + base(path) + "': " + strings.Join(parts, "; ")
}

func symbolChanges(kind string, was, is []string) []string {
	added, removed := without(is, was), without(was, is)
	if len(added) == 1 && len(removed) == 1 {
		return []string{"renamed " + kind + " '" + removed[0] + "' to '" + added[0] + "'"}
	}
	var parts []string
	for _, name := range added {
		parts = append(parts, "added "+kind+" '"+name+"'")
	}
	for _, name := range removed {
		parts = append(parts, "removed "+kind+" '"+name+"'")
	}
	return parts
}

func contentChange(before, after string, was, is outline) string {
	if len(without(was.imports, is.imports))+len(without(is.imports, was.imports)) > 0 {
		return "modified imports"
	}
	old, new := utf8.RuneCountInString(before), utf8.RuneCountInString(after)
	switch {
	case 5*new > 6*old:
		return "added content"
	case 5*new < 4*old:
		return "removed content"
	}
	return "modified content"
}

// without returns the distinct members of list that are not in other, sorted.
func without(list, other []string) []string {
	if len(list) == 0 {
		return nil
	}
	known := make(map[string]bool, len(other))
	for _, name := range other {
		known[name] = true
	}
	var out []string
	for _, name := range list {
		if !known[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hash12 returns the content hash of a text, "" for no text.
func hash12(text string) string {
	if text == "" {
		return ""
	}
	return hash(text, 12)
}

func hash(text string, digits int) string {
	var short [1024]byte // what most texts fit in
	sum := md5.Sum(append(short[:0], text...))
	var out [2 * md5.Size]byte
	hex.Encode(out[:], sum[:])
	return string(out[:digits])
}

// cut returns the first n code points of a text.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	ascii := 0
	for ascii < n && text[ascii] < utf8.RuneSelf {
		ascii++
	}
	n -= ascii
	for i := range text[ascii:] {
		if n == 0 {
			return text[:ascii+i]
		}
		n--
	}
	return text
}

// writeShort writes the first n code points of a text, and dots when there are more.
func writeShort(b *strings.Builder, text string, n int) {
	short := cut(text, n)
	b.WriteString(short)
	if len(short) < len(text) {
		b.WriteString("...")
	}
}

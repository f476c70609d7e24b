package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Codes of warnings, each with what was met and how often.
const (
	WarnUnmapped  = "unmapped_tool"      // a step whose tool no row of the mapping names
	WarnSkipped   = "skipped_action"     // work the step model leaves out, such as planning
	WarnAlone     = "no_observation"     // a step without an answer
	WarnStray     = "stray_observation"  // an answer to no known call, with its text
	WarnSurplus   = "second_observation" // a further answer to one call, with its text
	WarnArguments = "bad_arguments"      // arguments that are no JSON object, kept as text
	WarnFormat    = "format_error"       // a response of the model without a call that could be run
	WarnSynthetic = "synthetic_message"  // text a converter wrote, dropped
	WarnDelegated = "delegated"          // calls of a subagent, not of this run
	WarnTask      = "task_unknown"       // neither the log nor its path names a task
)

// Lengths in code points.
const (
	maxTask       = 2000
	maxExitStatus = 200
	maxStray      = 2000
)

// maxStrays is how many answers without a call a run keeps the texts of.
const maxStrays = 100

// Call is one tool call as a log has it.
type Call struct {
	ID      string // of the call or its event, "" when the log has none
	Tool    string // name in the log
	Args    lenientjson.Object
	RawArgs string // what stands in the place of the arguments when it is no JSON object
	Dir     string // folder that relative paths begin at, "" when not known

	Answered bool
	Response string
	ExitCode trajectory.Int
	Failed   trajectory.Int // 0 or 1 when a flag of the log says so

	Thought   string
	Model     string
	Timestamp string
	Group     string // id of the model response

	InputTokens, OutputTokens, CachedTokens trajectory.Int
}

// Run collects what a log says about one run. Readers set the fields and add the calls.
type Run struct {
	Tools  *tools.Table
	Family string // of tools
	Root   string // absolute folder of the repository, "" for one that is known by its name

	ID            string // given by the log, "" to make one
	Task          string
	Model         string
	Repo          string // owner/name, "" to read it off the task
	Agent         string
	Version       string // of the agent
	Description   string // of the task
	ExitStatus    string
	Condensations int64

	Calls    []Call
	Finished bool // a call ended the run

	// NoExitCodes says that the format has no place for exit codes, so that the failure of
	// a command is guessed from what it printed.
	NoExitCodes bool

	closing string // text of the call that ended the run
	dropped map[[2]string]int
	strays  int // answers whose text became a warning
	pairing Pairing
	ledger  trajectory.Ledger
}

// Warn counts something that was dropped or guessed.
func (r *Run) Warn(code, what string) { r.WarnN(code, what, 1) }

// WarnN counts n of them.
func (r *Run) WarnN(code, what string, n int) {
	if n == 0 {
		return
	}
	r.warn(code, Cut(what, 100), n)
}

func (r *Run) warn(code, what string, n int) {
	if r.dropped == nil {
		r.dropped = map[[2]string]int{}
	}
	r.dropped[[2]string{code, what}] += n
}

// Turn ends a turn of the model: answers without an id are not for its calls any more. A call
// after an answer begins a turn too.
func (r *Run) Turn() {
	r.pair()
	r.pairing.Turn()
}

// Awaits reports whether a call of the last turn has no answer.
func (r *Run) Awaits() bool {
	r.pair()
	for {
		n := r.pairing.Waiting()
		if n < 0 || !r.Calls[n].Answered {
			return n >= 0
		}
		r.pairing.settle(n)
	}
}

// Answer gives a call its answer and returns it; see Pairing for which one. An answer that no
// call waits for is kept as a warning with its text, and nil is returned.
func (r *Run) Answer(id, text string) *Call {
	r.pair()
	n, known := r.pairing.Answer(id)
	for n >= 0 && r.Calls[n].Answered { // by the reader
		n, known = r.pairing.Answer(id)
	}
	if n < 0 {
		if known {
			r.Stray(WarnSurplus, "answer to an answered call", text)
		} else {
			r.Stray(WarnStray, "answer to an unknown call", text)
		}
		return nil
	}
	c := &r.Calls[n]
	c.Answered, c.Response = true, text
	return c
}

// Stray keeps an answer that no call takes as a warning with its text.
func (r *Run) Stray(code, what, text string) {
	r.SkipAnswers(what, 1)
	if r.strays++; r.strays > maxStrays {
		r.Warn(code, what+", the text is left out")
		return
	}
	r.warn(code, what+": "+Cut(strings.TrimSpace(text), maxStray), 1)
}

// pair tells the pairing of the calls that readers added, and which of them they answered
// themselves.
func (r *Run) pair() {
	for n := r.pairing.Len(); n < len(r.Calls); n++ {
		r.pairing.Call(r.Calls[n].ID)
		if r.Calls[n].Answered {
			r.pairing.settle(n)
		}
	}
}

// Drop takes back the calls from an index on; they are no steps for the reason.
func (r *Run) Drop(from int, reason string) {
	r.Skip(reason, len(r.Calls)-from)
	if from < r.pairing.Len() {
		r.pairing.Drop(from)
	}
	r.Calls = r.Calls[:from]
}

// Skip notes n calls of the log that become no step, with the reason. A call that is neither
// a step nor skipped makes the run one with unread calls.
func (r *Run) Skip(reason string, n int) { r.ledger.Calls.Skip(reason, int64(n)) }

// SkipAnswers notes n answers of the log that no step has, with the reason.
func (r *Run) SkipAnswers(reason string, n int) { r.ledger.Answers.Skip(reason, int64(n)) }

// Trajectory returns the run; it must not be changed any more.
func (r *Run) Trajectory(id, version string) *trajectory.Trajectory {
	digest := ""
	if r.ID == "" {
		digest = r.digest()
	}
	calls := make([]states.Call, 0, len(r.Calls))
	for i := range r.Calls {
		if r.Calls[i].Answered {
			r.ledger.Answers.Read++
		}
		if call, ok := r.step(&r.Calls[i], i == len(r.Calls)-1); ok {
			calls = append(calls, call)
		}
	}
	r.ledger.Calls.Read = int64(len(calls))
	t := &trajectory.Trajectory{
		ID: r.ID, TaskID: r.Task, Model: r.Model, Repo: r.Repo, Agent: r.Agent, Version: r.Version,
		Format: id, FormatVersion: version,
		ExitStatus:      ExitStatus(r.ExitStatus),
		TaskDescription: Cut(r.Description, maxTask),
		Prompt:          r.Description,
		Workspace:       r.Root,
		Condensations:   r.Condensations,
	}
	if t.ExitStatus == "" && r.Finished {
		t.ExitStatus = tools.Finish
	}
	if t.Repo == "" {
		t.Repo = Repository(t.TaskID)
	}
	if t.Workspace == "" {
		t.Workspace = states.Workspace(calls)
	}
	if t.Workspace == "/testbed" {
		t.Workspace = ""
	}
	if t.ID == "" {
		t.ID = strings.Trim(t.TaskID+"-"+plain(t.Model)+"-"+digest, "-")
	}
	if t.TaskID == "" {
		t.TaskID = t.ID
		r.Warn(WarnTask, "neither the log nor its path names a task")
	}
	t.Closing = r.closing
	t.Ledger = &r.ledger
	t.Warnings = r.warnings()
	t.States, t.Transitions = states.Build(calls)
	return t
}

// step returns the state of a call; ok is false when the call gives none. A call that was
// meant to end the run and did not is counted.
func (r *Run) step(c *Call, last bool) (call states.Call, ok bool) {
	tool, known := r.Tools.Lookup(r.Family, c.Tool, c.Args)
	switch {
	case tool.Canonical == tools.Finish:
		r.Finished = true
		r.closing = cmp.Or(c.Args.Text("message"), c.Args.Text("final_thought"), c.Thought)
		r.Skip("ends the run", 1)
		if !last {
			r.Warn(WarnSkipped, c.Tool)
		}
		return call, false
	case tool.Canonical == tools.LeftOut:
		r.Skip("left out by the table of tools", 1)
		r.Warn(WarnSkipped, c.Tool)
		return call, false
	case !known:
		r.Warn(WarnUnmapped, c.Tool)
	}
	if !c.Answered {
		r.Warn(WarnAlone, c.Tool)
	}
	call = states.Call{
		EntryID: c.ID, Tool: tool.Canonical, RawTool: c.Tool,
		Response: c.Response, Thought: c.Thought, Model: c.Model, Timestamp: c.Timestamp, ResponseGroup: c.Group,
		InputTokens: c.InputTokens, OutputTokens: c.OutputTokens, CachedTokens: c.CachedTokens,
	}
	if tool.Canonical == states.ApplyPatch {
		c.Args = withFile(c.Args)
	}
	if c.Args == nil && c.RawArgs != "" {
		r.Warn(WarnArguments, c.Tool)
		call.Args = tools.Unread(c.RawArgs)
	} else {
		call.Args = tool.Args(c.Args, func(p string) string { return r.place(p, c.Dir) })
	}
	switch call.Tool {
	case states.ReadFile:
		if isListing(call.Response) {
			call.Tool = states.ListDir
		}
	case states.ReplaceString:
		call.Undo = c.Args.Text("command") == "undo_edit"
	case states.Think:
		if call.Thought == "" {
			call.Thought = c.Args.Text("thought")
		}
		return call, true
	}
	r.judge(&call, c)
	return call, true
}

// withFile adds the first file of a patch in the "Begin Patch" format to its arguments.
func withFile(args lenientjson.Object) lenientjson.Object {
	if args.Text("filePath") != "" {
		return args
	}
	text := cmp.Or(args.Text("input"), args.Text("patch"), args.Text("content"))
	for line := range strings.Lines(text) {
		for _, mark := range [...]string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if file, ok := strings.CutPrefix(line, mark); ok {
				args = slices.Clone(args)
				args.SetText("filePath", strings.TrimSpace(file))
				return args
			}
		}
	}
	return args
}

// place returns a path inside the workspace: below the folder of the repository it begins
// with a slash.
func (r *Run) place(p, dir string) string {
	if p == "" {
		return ""
	}
	root := strings.TrimSuffix(r.Root, "/")
	if isWindows(p) || isWindows(root) || isWindows(dir) {
		return placeWindows(p, dir, root)
	}
	if !strings.HasPrefix(p, "/") {
		if dir == "" {
			return p
		}
		p = path.Join(dir, p)
	}
	if rest, ok := strings.CutPrefix(p, root); ok && root != "" {
		switch {
		case rest == "":
			return "/"
		case rest[0] == '/':
			return rest
		}
	}
	return states.StripWorkspace(p)
}

func (r *Run) warnings() []trajectory.Warning {
	var out []trajectory.Warning
	for key, n := range r.dropped {
		out = append(out, trajectory.Warning{Code: key[0], Detail: fmt.Sprintf("%d x %s", n, key[1])})
	}
	slices.SortFunc(out, func(a, b trajectory.Warning) int {
		return strings.Compare(a.Code+"\x00"+a.Detail, b.Code+"\x00"+b.Detail)
	})
	return out
}

// digest returns 12 hex digits that follow from the calls and the task's text.
func (r *Run) digest() string {
	sum := sha256.New()
	var b []byte
	add := func(parts ...string) {
		b = b[:0]
		for _, part := range parts {
			b = append(b, part...)
			b = append(b, 0)
		}
		sum.Write(b)
	}
	add(r.Description, r.ExitStatus)
	for i := range r.Calls {
		c := &r.Calls[i]
		add(c.ID, c.Tool, c.RawArgs, c.Timestamp, c.Thought, c.Response)
		b = c.Args.Append(b[:0])
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

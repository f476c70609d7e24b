package atif

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/xmlcall"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Codes of warnings beside those of package session.
const (
	warnCopied    = "copied_context"      // steps of an earlier context, passed over
	warnNoModel   = "deterministic_step"  // steps that no model call decided
	warnShared    = "shared_observation"  // a result for several calls, given to the last
	warnDuplicate = "duplicate_call_id"   // calls of one step with one id
	warnMissing   = "missing_trajectory"  // a subagent or continuation that is not in the source
	warnUnnamed   = "unlinked_subagent"   // an embedded subagent that no step names
	warnSession   = "subagent_by_session" // a reference by session, which 1.7 does not know
	warnVersion   = "unknown_version"     // a version that is read as the last known one
	warnDialect   = "atif_dialect"        // a document that breaks the format
	warnSource    = "unknown_source"      // a step that is by nobody known
	warnTotals    = "metrics_differ"      // totals that are not the sum of the steps
)

// maxNesting bounds subagents in subagents.
const maxNesting = 64

var (
	known = regexp.MustCompile(`^ATIF-v1\.[0-7]$`)

	// returned is what mini-swe-agent begins an observation with.
	returned = regexp.MustCompile(`^\s*<returncode>(-?\d{1,9})</returncode>`)
)

// run is a run while it is read.
type run struct {
	session.Run
	family
	docs     []document
	embedded map[lenientjson.Ident]*document
	entered  map[*document]bool
	waiting  []answer // results of a dialect that stand before their calls
	number   int      // of steps

	own, all sums // of the document and its continuations, and with subagents
}

type sums struct{ prompt, completion int64 }

// answer is what a tool gave back.
type answer struct {
	text     string
	exitCode trajectory.Int
	failed   trajectory.Int
}

// read reads a document with all that belongs to it.
func (f family) read(records []format.Record) ([]format.Item, error) {
	r := run{
		Run:    session.Run{Tools: f.table, NoExitCodes: true},
		family: f, docs: make([]document, len(records)),
		embedded: map[lenientjson.Ident]*document{}, entered: map[*document]bool{},
	}
	for i, rec := range records {
		if err := format.Decode(rec.Data, &r.docs[i]); err != nil {
			if i == 0 {
				return nil, err
			}
			r.Warn(warnMissing, rec.File+" is damaged")
		}
	}
	root := &r.docs[0]
	if root.Steps == nil {
		return nil, noSteps()
	}
	for i := range r.docs {
		r.embed(&r.docs[i], 0)
	}
	r.identify(root)
	r.chain(0)
	r.leftOver(root, 0)
	r.compareTotals(root)
	t := r.Trajectory(ID, strings.TrimPrefix(string(root.Version), "ATIF-v"))
	items := []format.Item{{Trajectory: t}}
	if f.result != nil {
		items = append(items, format.Item{Evidence: &format.Evidence{
			Key: t.ID, Rank: format.RankReportFile, Outcome: f.result.outcome, Source: "result.json", Detail: f.result.detail,
		}})
	}
	return append(items, session.NameFile(f.file).Evidence(t.ID)...), nil
}

// identify takes what a document says about the run.
func (r *run) identify(doc *document) {
	agent := &doc.Agent.V
	r.Agent, r.Run.Version, r.Model = string(agent.Name), string(agent.Version), string(agent.Model)
	r.Family = toolFamily(r.Agent)
	for i := range doc.Steps {
		if r.Model == "" {
			r.Model = string(doc.Steps[i].Model)
		}
	}
	for _, e := range [...]*extra{&doc.Extra.V, &agent.Extra.V} {
		if r.Task == "" {
			r.Task = cmp.Or(string(e.InstanceID), string(e.TaskID), string(e.TaskName))
		}
	}
	if r.result != nil {
		r.Task = cmp.Or(r.result.task, r.Task)
		r.Model = cmp.Or(r.Model, r.result.model)
		r.ExitStatus = r.result.exit
	}
	r.Task = cmp.Or(r.Task, r.task)
	switch version := string(doc.Version); {
	case known.MatchString(version):
	case strings.HasPrefix(version, "ATIF-v"):
		r.Warn(warnVersion, version)
	default:
		r.Warn(warnDialect, "schema_version "+version)
	}
}

// toolFamily returns the family of an agent's tools.
func toolFamily(agent string) string {
	for _, family := range [...]string{"codex", "gemini", "claude-code"} {
		if strings.Contains(agent, family) {
			return family
		}
	}
	return ID
}

// embed notes the embedded subagents by their ids.
func (r *run) embed(doc *document, depth int) {
	if depth > maxNesting {
		return
	}
	for i := range doc.Subagents {
		sub := &doc.Subagents[i]
		if _, known := r.embedded[sub.TrajectoryID]; !known {
			r.embedded[sub.TrajectoryID] = sub
		}
		r.embed(sub, depth+1)
	}
}

// chain reads a record's document and its continuations.
func (r *run) chain(number int) {
	for {
		doc, link := &r.docs[number], r.links[number]
		r.document(doc, link, true, 0)
		if link.continuation == 0 {
			if doc.Continued != "" {
				r.Warn(warnMissing, "continuation "+string(doc.Continued))
			}
			return
		}
		number = link.continuation
	}
}

// document reads the steps of a document.
func (r *run) document(doc *document, link links, main bool, depth int) {
	if r.entered[doc] || depth > maxNesting {
		return
	}
	r.entered[doc] = true
	for i := range doc.Steps {
		s := &doc.Steps[i]
		if s.Copied.Is() {
			r.Warn(warnCopied, "step")
			continue
		}
		r.number++
		r.sum(&s.Metrics.V, main)
		if s.Extra.V.Context.V.Type != "" || summarises(s) {
			r.Condensations++
		}
		switch s.Source {
		case "agent":
			r.agentStep(doc, s)
		case "user":
			if main && r.Description == "" {
				r.Description = s.Message.Text
			}
		case "system":
			r.queue(s)
		default:
			r.Warn(warnSource, string(s.Source))
		}
		for j := range s.Observation.V.Results {
			for _, ref := range s.Observation.V.Results[j].Refs {
				r.delegate(doc, link, ref, depth)
			}
		}
	}
	for _, a := range r.waiting {
		r.Stray(session.WarnStray, "result in a system step", a.text)
	}
	r.waiting = nil
}

func (r *run) sum(m *metrics, main bool) {
	r.all.prompt += m.Prompt.Or(0)
	r.all.completion += m.Completion.Or(0)
	if main {
		r.own.prompt += m.Prompt.Or(0)
		r.own.completion += m.Completion.Or(0)
	}
}

// summarises reports whether a step hands over to the subagents of Terminus that sum up the
// context.
func summarises(s *step) bool {
	for i := range s.Observation.V.Results {
		for _, ref := range s.Observation.V.Results[i].Refs {
			if strings.Contains(string(ref.Path), ".summarization-") {
				return true
			}
		}
	}
	return false
}

// delegate reads the work of a subagent.
func (r *run) delegate(doc *document, link links, ref ref, depth int) {
	sub := r.embedded[ref.TrajectoryID]
	for i := range doc.Subagents {
		if own := &doc.Subagents[i]; own.TrajectoryID == ref.TrajectoryID {
			sub = own
		}
	}
	number := link.subagents[ref]
	if ref.TrajectoryID == "" && ref.Path == "" && strings.HasPrefix(string(doc.Version), "ATIF-v") && doc.Version >= "ATIF-v1.7" {
		r.Warn(warnSession, string(ref.SessionID))
	}
	before := len(r.Calls)
	switch {
	case sub != nil && ref.TrajectoryID != "":
		r.document(sub, link, false, depth+1)
	case number > 0:
		r.document(&r.docs[number], r.links[number], false, depth+1)
	default:
		r.Warn(warnMissing, "subagent "+cmp.Or(string(ref.TrajectoryID), string(ref.Path), string(ref.SessionID)))
	}
	if depth == 0 {
		r.WarnN(session.WarnDelegated, "call of a subagent", len(r.Calls)-before)
	}
}

// leftOver reads embedded subagents that no step names.
func (r *run) leftOver(doc *document, depth int) {
	if depth > maxNesting {
		return
	}
	for i := range doc.Subagents {
		sub := &doc.Subagents[i]
		if !r.entered[sub] {
			r.Warn(warnUnnamed, string(sub.TrajectoryID))
			r.document(sub, links{}, false, depth+1)
		}
		r.leftOver(sub, depth+1)
	}
}

// compareTotals warns when the totals are neither the sum of the document nor that with its
// subagents. Continuations keep their own totals.
func (r *run) compareTotals(doc *document) {
	total := &doc.Totals.V
	if r.links[0].continuation > 0 || !total.Prompt.Valid || !total.Completion.Valid {
		return
	}
	stated := sums{total.Prompt.Value, total.Completion.Value}
	if stated != r.own && stated != r.all {
		r.Warn(warnTotals, fmt.Sprintf("%d + %d tokens in all, the steps have %d + %d", stated.prompt, stated.completion, r.all.prompt, r.all.completion))
	}
}

// queue keeps the result that a dialect writes before the step with its call.
func (r *run) queue(s *step) {
	o := &s.Observation.V
	if o.Results != nil || !o.Content.Valid && !o.Result.V.Success.Valid {
		return
	}
	r.Warn(warnDialect, "result in a system step")
	r.waiting = append(r.waiting, o.answer())
}

// answer returns the one result of a dialect's observation.
func (o *observation) answer() answer {
	a := answer{text: cmp.Or(o.Content.Text, string(o.Result.V.Error))}
	if o.Result.V.Success.Valid {
		a.failed = lenientjson.Flag{Value: !o.Result.V.Success.Value, Valid: true}.Int()
	}
	return a
}

// agentStep adds the calls of a step and gives them their results.
func (r *run) agentStep(doc *document, s *step) {
	first := len(r.Calls)
	thought := r.calls(s)
	calls := r.Calls[first:]
	if len(calls) == 0 {
		if s.says() {
			r.Warn(session.WarnFormat, "answer without a call that could be read")
		}
		return
	}
	if s.ModelCalls.Valid && s.ModelCalls.Value == 0 {
		r.Warn(warnNoModel, "step")
	}
	model := cmp.Or(string(s.Model), string(doc.Agent.V.Model))
	for i := range calls {
		calls[i].Model, calls[i].Timestamp = model, string(s.Timestamp)
		calls[i].Group = fmt.Sprintf("step %d", r.number)
	}
	pays := &calls[max(0, slices.IndexFunc(calls, func(c session.Call) bool { return r.Gives(&c) }))]
	pays.Thought = cmp.Or(strings.TrimSpace(thought), strings.TrimSpace(s.Reasoning.Text))
	m := &s.Metrics.V
	pays.InputTokens, pays.OutputTokens, pays.CachedTokens = m.Prompt.Int, m.Completion.Int, m.Cached.Int
	r.answers(s, calls)
	if len(calls) == 1 && s.Extra.V.Failed.Valid && !calls[0].Failed.Valid {
		calls[0].Failed = s.Extra.V.Failed.Int()
	}
}

// says reports whether a step has an answer with a text.
func (s *step) says() bool {
	return slices.ContainsFunc(s.Observation.V.Results, func(res result) bool { return res.Content.Text != "" })
}

// calls adds the calls of a step, without their results, and returns what the model said.
func (r *run) calls(s *step) (thought string) {
	ids := map[string]bool{}
	for _, made := range s.ToolCalls {
		if made.OtherName != "" && made.Name == "" {
			r.Warn(warnDialect, "call with id and name")
		}
		c := session.Call{
			ID:      cmp.Or(string(made.ID), string(made.OtherID)),
			Tool:    cmp.Or(string(made.Name), string(made.OtherName)),
			Args:    made.Arguments.object,
			RawArgs: made.Arguments.text,
		}
		if c.ID != "" && ids[c.ID] {
			r.Warn(warnDuplicate, c.ID)
		}
		ids[c.ID] = true
		if keys := c.Args.Text("keystrokes"); keys != "" {
			c.Args.SetText("keystrokes", strings.TrimRight(keys, "\n"))
		}
		r.Calls = append(r.Calls, c)
	}
	if len(s.ToolCalls) > 0 {
		return s.Message.Text
	}
	thought, inText := xmlcall.Parse(s.Message.Text)
	for _, c := range inText {
		r.Calls = append(r.Calls, session.Call{Tool: c.Name, Args: c.Args})
	}
	if len(inText) > 0 {
		return thought
	}
	return r.commands(s)
}

// commands adds the calls that Terminus writes as JSON into its text. A text it could not
// read was not carried out.
func (r *run) commands(s *step) (thought string) {
	from, to := strings.IndexByte(s.Message.Text, '{'), strings.LastIndexByte(s.Message.Text, '}')
	if from < 0 || to < from || !strings.Contains(s.Message.Text, `"commands"`) {
		return ""
	}
	for i := range s.Observation.V.Results {
		if strings.HasPrefix(s.Observation.V.Results[i].Content.Text, "Previous response had parsing errors") {
			return ""
		}
	}
	var said lenientjson.Of[struct {
		Analysis lenientjson.Text                     `json:"analysis"`
		Plan     lenientjson.Text                     `json:"plan"`
		Commands lenientjson.List[lenientjson.Object] `json:"commands"`
		Complete lenientjson.Flag                     `json:"task_complete"`
	}]
	if lenientjson.DecodeText(s.Message.Text[from:to+1], &said) != nil {
		return ""
	}
	for _, args := range said.V.Commands {
		if args == nil {
			continue
		}
		args.SetText("keystrokes", strings.TrimRight(args.Text("keystrokes"), "\n"))
		r.Calls = append(r.Calls, session.Call{Tool: "bash_command", Args: args})
	}
	if said.V.Complete.Is() {
		r.Calls = append(r.Calls, session.Call{Tool: "mark_task_complete"})
	}
	return fmt.Sprintf("Analysis: %s\nPlan: %s", said.V.Analysis, said.V.Plan)
}

// answers gives the calls of a step their results.
func (r *run) answers(s *step, calls []session.Call) {
	o := &s.Observation.V
	var unnamed []answer
	for i := range o.Results {
		res := &o.Results[i]
		a := answer{text: res.Content.Text, exitCode: res.Extra.V.ExitCode.Int, failed: res.Extra.V.IsError.Int()}
		if res.CallID == "" {
			if res.Content.Valid || res.Refs == nil {
				unnamed = append(unnamed, a)
			}
			continue
		}
		if c := named(calls, string(res.CallID)); c != nil {
			a.give(c)
		} else if c := r.Answer(string(res.CallID), a.text); c != nil { // of an earlier step
			c.Response = ""
			a.give(c)
		}
	}
	if o.Results == nil && (o.Content.Valid || o.Result.V.Success.Valid) {
		r.Warn(warnDialect, "observation without results")
		unnamed = append(unnamed, o.answer())
	}
	open := r.open(calls)
	if len(unnamed) == 0 {
		n := min(len(r.waiting), len(open))
		unnamed, r.waiting = r.waiting[:n], r.waiting[n:]
		open = open[:n]
	}
	switch {
	case len(unnamed) == 0:
	case len(open) == 0:
		for _, a := range unnamed {
			a.give(&calls[len(calls)-1])
		}
	case len(unnamed) == len(open):
		for i, a := range unnamed {
			a.give(open[i])
		}
	default:
		r.WarnN(warnShared, "call without a result of its own", len(open)-1)
		for _, c := range open {
			c.Answered = true
		}
		for _, a := range unnamed {
			a.give(open[len(open)-1])
		}
	}
}

// open returns the calls without an answer; those that give no step only when no other one
// waits.
func (r *run) open(calls []session.Call) []*session.Call {
	var working, others []*session.Call
	for i := range calls {
		c := &calls[i]
		if c.Answered {
			continue
		}
		if r.Gives(c) {
			working = append(working, c)
		} else {
			others = append(others, c)
		}
	}
	if len(working) == 0 {
		return others
	}
	return working
}

// named returns the first call of an id without an answer, else the last of that id; nil
// for none.
func named(calls []session.Call, id string) *session.Call {
	var last *session.Call
	for i := range calls {
		if calls[i].ID == id {
			last = &calls[i]
			if !last.Answered {
				return last
			}
		}
	}
	return last
}

// give adds an answer to what a call has already.
func (a answer) give(c *session.Call) {
	if c.Response != "" && a.text != "" {
		c.Response += "\n"
	}
	c.Response += a.text
	c.Answered = true
	if a.exitCode.Valid && a.exitCode.Value != -1 {
		c.ExitCode = a.exitCode
	}
	if m := returned.FindStringSubmatch(a.text); m != nil {
		if code := session.Number(m[1]); code.Valid {
			c.ExitCode = code
		}
	}
	if a.failed.Valid && c.Failed.Or(0) == 0 {
		c.Failed = a.failed
	}
}

package completions

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// ID of the format.
const ID = "openhands-completions"

// Formats lists the one record, a logged model call. Tools are mapped by the table.
func Formats(table *tools.Table) []format.Format {
	r := reader{table}
	return []format.Format{{
		ID:          ID,
		Description: "OpenHands V0 llm_completions: one file per model call",
		Detect: func(p *format.Probe) (string, bool) {
			const key = "messages[0].role + response.choices"
			return key, p.Get("messages").First().Has("role") && p.Get("response").Has("choices")
		},
		Parts: &format.Parts{Note: note, Plan: r.plan},
	}}
}

type reader struct{ table *tools.Table }

// callName is the name of a call's file: the model and the time.
var callName = regexp.MustCompile(`^(.+)-(\d{9,}(?:\.\d+)?)$`)

// call is what is kept of every model call.
type call struct {
	run   string // the folder of the calls, or the file of a call that stands alone
	task  string // "" when the path names none
	model string
	ids   []string // of the tool calls it made
	tokens
}

type tokens struct{ input, output, cached trajectory.Int }

// response is what a model answered.
type response struct {
	Model   lenientjson.Text `json:"model"`
	Choices lenientjson.List[struct {
		Message lenientjson.Of[message] `json:"message"`
	}] `json:"choices"`
	Usage lenientjson.Of[lenientjson.Usage] `json:"usage"`
}

func note(rec format.Record) (format.Note, error) {
	var answer lenientjson.Of[response]
	var at seconds
	if err := format.Decode(rec.Probe.Get("response"), &answer); err != nil {
		return format.Note{}, err
	}
	if written := rec.Probe.Get("timestamp"); written != nil {
		if err := format.Decode(written, &at); err != nil {
			return format.Note{}, err
		}
	}
	usage := &answer.V.Usage.V
	c := call{run: rec.File, tokens: tokens{usage.Prompt.Int, usage.Completion.Int, usage.Details.V.Cached.Int}}
	for _, choice := range answer.V.Choices {
		for _, made := range choice.Message.V.ToolCalls {
			c.ids = append(c.ids, string(made.ID))
		}
	}
	c.model = string(answer.V.Model)
	stem, folder := session.Stem(path.Base(rec.File)), path.Base(path.Dir(rec.File))
	named := callName.FindStringSubmatch(stem)
	switch {
	case rec.Line > 0:
		return format.Note{}, &format.RecordError{
			Code:    "no_folder",
			Message: "a model call in a JSON Lines file: want one file per call, in a folder named after its instance",
			Hint:    "write the calls to <instance>/<model>-<time>.json, or keep the dialogue alone as messages",
		}
	case named != nil:
		c.run = path.Dir(rec.File)
		c.model = strings.ReplaceAll(named[1], "__", "/")
		c.task = folder
		if folder == "." || folder == "llm_completions" {
			c.task = ""
		}
	case session.IsInstance(stem):
		c.task = stem
	case session.IsInstance(folder):
		c.run, c.task = path.Dir(rec.File), folder
	}
	return format.Note{Value: c, Slot: c.run + "\x00" + c.model, Order: float64(at)}, nil
}

// plan makes a run of the last call in every folder. When several models were called, it is
// one of the model that was called most often.
func (r reader) plan(parts []format.Part) []format.Run {
	type model struct {
		calls []int
		last  int
	}
	folders := map[string]map[string]*model{}
	for i, p := range parts {
		c := p.Note.(call)
		if folders[c.run] == nil {
			folders[c.run] = map[string]*model{}
		}
		m := folders[c.run][c.model]
		if m == nil {
			m = new(model)
			folders[c.run][c.model] = m
		}
		m.calls = append(m.calls, i)
		if p.Kept {
			m.last = i
		}
	}
	names := make([]string, 0, len(folders))
	for name := range folders {
		names = append(names, name)
	}
	slices.Sort(names)
	runs := make([]format.Run, 0, len(names))
	for _, name := range names {
		var models []*model
		calls := 0
		for _, m := range folders[name] {
			models = append(models, m)
			calls += len(m.calls)
		}
		best := slices.MinFunc(models, func(a, b *model) int {
			return cmp.Or(-cmp.Compare(len(a.calls), len(b.calls)), cmp.Compare(a.calls[0], b.calls[0]))
		})
		plan := dialogue{reader: r, call: parts[best.last].Note.(call), byID: map[string]int{}, others: calls - len(best.calls)}
		for _, i := range best.calls {
			c := parts[i].Note.(call)
			for _, id := range c.ids {
				plan.byID[id] = len(plan.tokens)
			}
			plan.tokens = append(plan.tokens, c.tokens)
		}
		runs = append(runs, format.Run{File: parts[best.last].File, Parts: []int{best.last}, Read: plan.read})
	}
	return runs
}

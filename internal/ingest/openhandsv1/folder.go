package openhandsv1

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
)

// numbered is the name of an event's file.
var numbered = regexp.MustCompile(`^event-(\d{1,18})-`)

// The notes of the records of a folder.
type (
	eventNote struct {
		folder string
		number int64 // -1 for none
	}
	stateNote struct{ folder string }
	tasksNote struct {
		folder string            // that it speaks about
		tasks  map[string]string // by conversation
	}
)

func detectFolder(p *format.Probe) (string, bool) {
	switch {
	case isEvent(p.Root):
		return "kind + id + timestamp", true
	case isState(p):
		return "agent.llm + id", true
	}
	return "<conversation>: instance", isTasks(p)
}

// isState reports whether a record is a base_state.json or the meta.json beside it.
func isState(p *format.Probe) bool {
	return p.Get("agent").Has("llm") && p.Has("id") && (p.Has("max_iterations") || p.Has("confirmation_policy") || p.Has("stats")) && !p.Has("steps")
}

// isTasks reports whether a record maps conversations to instances.
func isTasks(p *format.Probe) bool {
	keys := p.Keys()
	return len(keys) > 0 && plainID(keys[0]) != "" && p.Get(keys[0]).Kind() == '"'
}

// conversationFolder returns the folder of the conversation that a file is in.
func conversationFolder(file string) string {
	folder := path.Dir(file)
	if path.Base(folder) == "events" {
		return path.Dir(folder)
	}
	return folder
}

func noteFolder(rec format.Record) (format.Note, error) {
	switch {
	case isEvent(rec.Probe.Root):
		note := eventNote{folder: conversationFolder(rec.File), number: -1}
		if rec.Line > 0 {
			note.folder = rec.File
		}
		if m := numbered.FindStringSubmatch(path.Base(rec.File)); m != nil {
			n, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				return format.Note{}, err
			}
			note.number = n
		}
		return format.Note{Value: note}, nil
	case isState(rec.Probe):
		return format.Note{Value: stateNote{conversationFolder(rec.File)}}, nil
	case isTasks(rec.Probe):
		var list lenientjson.Object
		if err := format.Decode(rec.Data, &list); err != nil {
			return format.Note{}, err
		}
		note := tasksNote{folder: path.Dir(rec.File), tasks: map[string]string{}}
		for _, m := range list {
			if id := plainID(m.Name); id != "" {
				note.tasks[id] = lenientjson.Unquote(m.Value)
			}
		}
		return format.Note{Value: note, Informs: true}, nil
	}
	return format.Note{}, noEvents("want an event, a base_state.json or a list of conversations and their instances")
}

// planFolder makes a run of every folder with events.
func (r reader) planFolder(parts []format.Part) []format.Run {
	type folder struct{ states, events []int }
	folders := map[string]*folder{}
	var names []string
	var tasks []tasksNote
	in := func(name string) *folder {
		f := folders[name]
		if f == nil {
			f = new(folder)
			folders[name] = f
			names = append(names, name)
		}
		return f
	}
	for i, p := range parts {
		switch note := p.Note.(type) {
		case eventNote:
			f := in(note.folder)
			f.events = append(f.events, i)
		case stateNote:
			f := in(note.folder)
			f.states = append(f.states, i)
		case tasksNote:
			tasks = append(tasks, note)
		}
	}
	number := func(i int) int64 { return parts[i].Note.(eventNote).number }
	slices.Sort(names)
	var runs []format.Run
	for _, name := range names {
		f := folders[name]
		if len(f.events) == 0 {
			continue
		}
		slices.SortFunc(f.events, func(a, b int) int { return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b)) })
		numbers := make([]int64, len(f.events))
		for i, n := range f.events {
			numbers[i] = number(n)
		}
		slices.Reverse(f.states) // a base_state.json counts after a meta.json
		plan := folderPlan{reader: r, folder: name, states: len(f.states), missing: missing(numbers), tasks: tasks}
		runs = append(runs, format.Run{File: name, Parts: slices.Concat(f.states, f.events), Read: plan.read})
	}
	return runs
}

// missing returns how many numbers below the greatest one are not there.
func missing(sorted []int64) int {
	distinct := slices.Compact(slices.DeleteFunc(slices.Clone(sorted), func(n int64) bool { return n < 0 }))
	if len(distinct) == 0 {
		return 0
	}
	return int(distinct[len(distinct)-1]) + 1 - len(distinct)
}

type folderPlan struct {
	reader  reader
	folder  string
	states  int // of the records
	missing int
	tasks   []tasksNote
}

func (p folderPlan) read(records []format.Record) ([]format.Item, error) {
	c := p.reader.conversation()
	c.id = plainID(path.Base(p.folder))
	if c.id == "" {
		c.id = plainID(path.Base(path.Dir(p.folder))) // the folder of the service inside
	}
	for _, rec := range records[:p.states] {
		var s state
		if err := format.Decode(rec.Data, &s); err != nil {
			c.Warn(warnBad, path.Base(rec.File))
			continue
		}
		c.note(&s)
	}
	events := make([]event, 0, len(records)-p.states)
	var bad error
	for _, rec := range records[p.states:] {
		var e event
		if err := format.Decode(rec.Data, &e); err != nil {
			bad = err
			c.Warn(warnBad, "file")
			continue
		}
		events = append(events, e)
	}
	if len(events) == 0 && bad != nil {
		return nil, bad
	}
	c.WarnN(warnMissing, "numbers without a file", p.missing)
	if c.Task = p.task(c.id); c.Task == "" {
		if name := session.NameFile(p.folder); session.IsInstance(name.Task) {
			c.Task = name.Task
		}
	}
	c.converse(events)
	return []format.Item{{Trajectory: c.trajectory(IDFolder)}}, nil
}

// task returns the instance of a conversation: the list in the nearest folder above counts,
// else any that names it.
func (p folderPlan) task(id string) string {
	best, depth := "", -2
	for _, list := range p.tasks {
		task := list.tasks[id]
		if task == "" {
			continue
		}
		if d := depthAbove(list.folder, p.folder); d > depth {
			best, depth = task, d
		}
	}
	return best
}

// depthAbove returns how long the path of a folder above another one is, -1 when it is not
// above it.
func depthAbove(above, folder string) int {
	for ; ; folder = path.Dir(folder) {
		switch {
		case folder == above:
			return len(above)
		case folder == "." || folder == "/":
			return -1
		}
	}
}

package atif

import (
	"path"
	"regexp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/session"
)

// trial is the name Harbor gives to a trial: the task and seven random letters.
var trial = regexp.MustCompile(`^(.+)__[A-Za-z0-9]{7}$`)

// family is a document with its continuations and subagents: a run.
type family struct {
	reader
	file   string
	task   string
	result *resultNote // nil for none
	links  []links     // of every record, by its number
}

// links are the other records that a document names, by their numbers.
type links struct {
	continuation int // 0 for none: the first record continues nothing
	subagents    map[ref]int
}

// catalog finds documents by what others call them.
type catalog struct {
	parts     []format.Part
	byFile    map[string]int
	byID      map[string][]int
	bySession map[string][]int
}

// plan makes a run of every document that no other one names as its continuation or
// subagent.
func (r reader) plan(parts []format.Part) []format.Run {
	c := catalog{parts: parts, byFile: map[string]int{}, byID: map[string][]int{}, bySession: map[string][]int{}}
	results := map[string]*resultNote{}
	var docs []int
	for i, p := range parts {
		switch n := p.Note.(type) {
		case resultNote:
			results[n.folder] = &n
		case docNote:
			docs = append(docs, i)
			c.byFile[p.File] = i
			if n.trajectory != "" {
				c.byID[n.trajectory] = append(c.byID[n.trajectory], i)
			}
			if n.session != "" {
				c.bySession[n.session] = append(c.bySession[n.session], i)
			}
		}
	}
	named := map[int]bool{}
	for _, i := range docs {
		n := parts[i].Note.(docNote)
		if j := c.continuation(i, n.continued); j >= 0 {
			named[j] = true
		}
		for _, ref := range n.refs {
			if j := c.subagent(i, ref); j >= 0 {
				named[j] = true
			}
		}
	}
	taken := map[int]bool{}
	var runs []format.Run
	add := func(i int) {
		f := family{reader: r, file: parts[i].File}
		numbers := c.collect(i, taken, &f)
		f.task = taskOf(f.file)
		for folder := path.Dir(f.file); ; folder = path.Dir(folder) {
			if f.result = results[folder]; f.result != nil || folder == "." || folder == "/" {
				break
			}
		}
		runs = append(runs, format.Run{File: f.file, Parts: numbers, Read: f.read})
	}
	for _, i := range docs {
		if !named[i] {
			add(i)
		}
	}
	for _, i := range docs { // those that name each other in a circle
		if !taken[i] {
			add(i)
		}
	}
	return runs
}

// collect returns the documents of a run, beginning with i, and notes their links.
func (c *catalog) collect(i int, taken map[int]bool, f *family) []int {
	numbers := []int{i}
	taken[i] = true
	f.links = []links{{subagents: map[ref]int{}}}
	take := func(j int) int {
		if j < 0 || taken[j] {
			return 0
		}
		taken[j] = true
		numbers = append(numbers, j)
		f.links = append(f.links, links{subagents: map[ref]int{}})
		return len(numbers) - 1
	}
	for at := 0; at < len(numbers); at++ {
		n := c.parts[numbers[at]].Note.(docNote)
		for _, ref := range n.refs {
			if j := take(c.subagent(numbers[at], ref)); j > 0 {
				f.links[at].subagents[ref] = j
			}
		}
		if j := take(c.continuation(numbers[at], n.continued)); j > 0 {
			f.links[at].continuation = j
		}
	}
	return numbers
}

// continuation returns the document that continues another, -1 for none.
func (c *catalog) continuation(i int, ref string) int {
	if ref == "" {
		return -1
	}
	return c.file(i, ref)
}

// file returns the document at a path that another one gives, -1 for none.
func (c *catalog) file(i int, ref string) int {
	if j, ok := c.byFile[path.Join(path.Dir(c.parts[i].File), ref)]; ok && j != i {
		return j
	}
	// Files that were collected under one folder get a prefix, which the paths inside do not
	// have: x.trajectory.json continues in x.trajectory.cont-1.json.
	dir, own := path.Split(c.parts[i].File)
	stem, _, _ := strings.Cut(path.Base(ref), ".")
	if at := strings.Index(own, stem+"."); at > 0 {
		if j, ok := c.byFile[dir+own[:at]+path.Base(ref)]; ok && j != i {
			return j
		}
	}
	return -1
}

// subagent returns the document of a subagent: by path, by id, by session; -1 for none. A
// session that several documents share tells them not apart.
func (c *catalog) subagent(i int, r ref) int {
	if r.Path != "" {
		if j := c.file(i, string(r.Path)); j >= 0 {
			return j
		}
	}
	for _, found := range [...][]int{c.byID[string(r.TrajectoryID)], c.bySession[string(r.SessionID)]} {
		if len(found) == 1 && found[0] != i {
			return found[0]
		}
	}
	return -1
}

// taskOf returns the task that a path names.
func taskOf(file string) string {
	folder := path.Dir(file)
	if path.Base(folder) == "agent" {
		folder = path.Dir(folder)
	}
	if m := trial.FindStringSubmatch(path.Base(folder)); m != nil && !session.IsInstance(path.Base(folder)) {
		return m[1]
	}
	name := session.NameFile(file).Task
	if m := trial.FindStringSubmatch(name); m != nil && session.IsInstance(m[1]) {
		return m[1]
	}
	return name
}

package outcome

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// run is where a run of a task stands.
type run struct {
	id, model, file string
	sourceNo        int
}

// binding says which statements about a task speak about which of its runs.
type binding struct {
	known  map[string]bool       // runs by id
	of     map[string][]int      // statements that speak about a run
	doubts map[string]*ambiguity // statements that may speak about it, or about another
}

// ambiguity sums up the statements that could not be bound.
type ambiguity struct {
	first string // the first of them in order of their text
	n     int
}

func (a *ambiguity) String() string {
	text := a.first
	if a.n > 1 {
		text += fmt.Sprintf(" (and %d more)", a.n-1)
	}
	return text + ": several runs stand equally near, so it decides for none"
}

// bind binds the statements about one task to its runs. Labels speak about every run;
// anything else about the nearest one.
func bind(runs []run, claims []format.Evidence) *binding {
	b := &binding{known: map[string]bool{}, of: map[string][]int{}, doubts: map[string]*ambiguity{}}
	for _, r := range runs {
		b.known[r.id] = true
	}
	type scope struct {
		sourceNo int
		model    string
	}
	maps := map[scope]*places{}
	for i, e := range claims {
		s := scope{e.SourceNo, e.Model}
		p := maps[s]
		if p == nil {
			p = newPlaces(slices.DeleteFunc(slices.Clone(runs), func(r run) bool {
				return s.sourceNo != 0 && s.sourceNo != r.sourceNo || s.model != "" && s.model != r.model
			}))
			maps[s] = p
		}
		nearest := p.all
		if e.Rank != format.RankLabels {
			nearest = p.nearest(e.File)
		}
		for _, id := range nearest {
			if len(nearest) == 1 || e.Rank == format.RankLabels {
				b.of[id] = append(b.of[id], i)
				continue
			}
			text := fmt.Sprintf("%s says %s of %s", place(e), e.Outcome, e.Key)
			switch a := b.doubts[id]; {
			case a == nil:
				b.doubts[id] = &ambiguity{text, 1}
			default:
				a.first = min(a.first, text)
				a.n++
			}
		}
	}
	return b
}

// places finds the runs nearest to a file: those that share most of its folders from the
// root on; among them those with most of its other folder names in their path, and last
// those whose model gave a folder its name.
type places struct {
	runs    []run
	all     []string         // distinct ids, sorted
	below   map[string][]int // runs below a folder, "." for all
	inside  map[string][]int // runs with a folder of that name in their path
	byModel map[string][]int
	score   []int // of each run, for the file at hand
}

func newPlaces(runs []run) *places {
	p := &places{runs: runs, below: map[string][]int{}, inside: map[string][]int{}, byModel: map[string][]int{}, score: make([]int, len(runs))}
	for i, r := range runs {
		for dir := path.Dir(r.file); ; dir = path.Dir(dir) {
			p.below[dir] = append(p.below[dir], i)
			if dir == "." || dir == "/" {
				break
			}
		}
		for _, name := range folderNames(r.file) {
			p.inside[name] = append(p.inside[name], i)
		}
		if r.model != "" {
			name := strings.ReplaceAll(r.model, "/", "__")
			p.byModel[name] = append(p.byModel[name], i)
		}
	}
	p.all = p.ids(p.below["."])
	return p
}

// ids returns the distinct ids of runs, sorted.
func (p *places) ids(runs []int) []string {
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = p.runs[r].id
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// nearest returns the distinct ids of the runs nearest to a file, sorted.
func (p *places) nearest(file string) []string {
	dir := path.Dir(file)
	for len(p.below[dir]) == 0 && dir != "." && dir != "/" {
		dir = path.Dir(dir)
	}
	near := p.below[dir]
	if len(near) < 2 {
		return p.ids(near)
	}
	clear(p.score)
	for _, name := range folderNames(file) {
		p.raise(p.inside[name], 2)
		p.raise(p.byModel[name], 1)
	}
	var best []int
	for _, r := range near {
		switch {
		case len(best) == 0 || p.score[r] > p.score[best[0]]:
			best = append(best[:0], r)
		case p.score[r] == p.score[best[0]]:
			best = append(best, r)
		}
	}
	return p.ids(best)
}

// raise adds to the score of some runs; what all runs have tells none apart.
func (p *places) raise(runs []int, by int) {
	if len(runs) == len(p.runs) {
		return
	}
	for _, r := range runs {
		p.score[r] += by
	}
}

// folderNames returns the distinct names of the folders a file is in.
func folderNames(file string) []string {
	dir := path.Dir(file)
	if dir == "." {
		return nil
	}
	names := strings.Split(dir, "/")
	slices.Sort(names)
	return slices.Compact(names)
}

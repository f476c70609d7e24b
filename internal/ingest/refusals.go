package ingest

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

const (
	// listedRefusals is how many refused records of a file are listed one by one for each
	// code; one entry counts the rest.
	listedRefusals = 50

	// noLogFrom is how many records a file has at least that becomes one entry when all of
	// them are refused.
	noLogFrom = 11

	// sharedTexts bounds the texts of which one copy is kept for all refused records.
	sharedTexts = 10_000
)

// NoLog is the code of an entry for a whole file whose records were refused under several
// codes; an entry for one under one code has that.
const NoLog = "no_log"

// Refusals gathers refused records in memory that grows with the number of files, not of
// records: for each file and code the first records are listed, in the order of their lines,
// and the rest is counted. The result does not depend on the order of the calls. The zero
// value is ready to use, from many goroutines.
type Refusals struct {
	mu    sync.Mutex
	n     int64
	files map[string]*refusedFile
	texts map[string]string
}

type refusedFile struct {
	records int64 // that it was cut into, 0 when not known
	whole   int64 // refused records of these
	codes   map[string]*refusedCode
}

type refusedCode struct {
	n     int64
	last  int64      // line
	first errorsHeap // one more than are listed
}

// errorsHeap has the greatest error on top.
type errorsHeap []RecordError

func (h errorsHeap) Len() int           { return len(h) }
func (h errorsHeap) Less(i, j int) bool { return compareRefused(&h[i], &h[j]) > 0 }
func (h errorsHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *errorsHeap) Push(x any)        { *h = append(*h, x.(RecordError)) }
func (h *errorsHeap) Pop() any          { panic("nothing is popped") }

func compareRefused(a, b *RecordError) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Record, b.Record),
		cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
}

// Add notes a refused record, or what is refused inside one.
func (r *Refusals) Add(e RecordError) { r.add(e, false) }

// add notes a refused record. whole says that it is one of the records that its file was cut
// into, of which nothing was read.
func (r *Refusals) add(e RecordError, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	f := r.file(e.File)
	if whole {
		f.whole++
	}
	c := f.codes[e.Code]
	if c == nil {
		c = &refusedCode{}
		f.codes[r.text(e.Code)] = c
	}
	c.n++
	c.last = max(c.last, e.Line)
	full := len(c.first) > listedRefusals
	if full && compareRefused(&e, &c.first[0]) >= 0 {
		return
	}
	e.File, e.Code, e.Message, e.Hint = r.text(e.File), r.text(e.Code), r.text(e.Message), r.text(e.Hint)
	e.Record = strings.Clone(e.Record)
	if full {
		c.first[0] = e
		heap.Fix(&c.first, 0)
	} else {
		heap.Push(&c.first, e)
	}
}

// cut notes how many records a file was cut into.
func (r *Refusals) cut(file string, records int64) {
	if records < noLogFrom {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file(file).records += records
}

func (r *Refusals) file(name string) *refusedFile {
	f := r.files[name]
	if f == nil {
		if r.files == nil {
			r.files = map[string]*refusedFile{}
		}
		f = &refusedFile{codes: map[string]*refusedCode{}}
		r.files[r.text(name)] = f
	}
	return f
}

// text returns a copy of s that does not keep the record alive, one for all while there are
// few.
func (r *Refusals) text(s string) string {
	if t, ok := r.texts[s]; ok {
		return t
	}
	s = strings.Clone(s)
	if len(r.texts) < sharedTexts {
		if r.texts == nil {
			r.texts = map[string]string{}
		}
		r.texts[s] = s
	}
	return s
}

// Count returns the number of refused records.
func (r *Refusals) Count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// List returns the entries, sorted by file, line, record, code and message. Their counts add
// up to Count.
func (r *Refusals) List() []RecordError {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []RecordError
	for _, f := range r.files {
		if f.records > 0 && f.whole == f.records {
			out = append(out, f.noLog())
			continue
		}
		for _, c := range f.codes {
			out = append(out, c.entries()...)
		}
	}
	slices.SortFunc(out, func(a, b RecordError) int { return compareRefused(&a, &b) })
	return out
}

func (c *refusedCode) sorted() []RecordError {
	out := slices.Clone(c.first)
	slices.SortFunc(out, func(a, b RecordError) int { return compareRefused(&a, &b) })
	return out
}

func (c *refusedCode) entries() []RecordError {
	out := c.sorted()
	if more := c.n - listedRefusals; more > 1 {
		rest := &out[listedRefusals]
		rest.Record, rest.Count, rest.LastLine = "", more, c.last
		where := ""
		if c.last > 0 {
			where = fmt.Sprintf(" on lines %d to %d", rest.Line, c.last)
		}
		rest.Message = fmt.Sprintf("%d more are refused under this code%s; the first: %s", more, where, rest.Message)
	}
	return out
}

// noLog is the one entry for a file of which no record could be read.
func (f *refusedFile) noLog() RecordError {
	const shown = 5 // lines
	var all []RecordError
	codes := map[string]int64{}
	var n, last int64
	for code, c := range f.codes {
		all = append(all, c.first...)
		codes[code] = c.n
		n += c.n
		last = max(last, c.last)
	}
	slices.SortFunc(all, func(a, b RecordError) int { return compareRefused(&a, &b) })
	lines := make([]string, 0, shown)
	for i := range all[:min(shown, len(all))] {
		lines = append(lines, fmt.Sprint(all[i].Line))
	}
	e := all[0]
	e.Record, e.Count, e.LastLine = "", n, last
	why := ""
	if len(codes) > 1 {
		parts := make([]string, 0, len(codes))
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			parts = append(parts, fmt.Sprintf("%s %d", code, codes[code]))
		}
		e.Code, e.Codes = NoLog, codes
		why = " (" + strings.Join(parts, ", ") + ")"
	}
	e.Message = fmt.Sprintf("the file is no log: all of its %d records are refused%s, on lines %s and so on to %d; the first: %s",
		n, why, strings.Join(lines, ", "), last, e.Message)
	return e
}

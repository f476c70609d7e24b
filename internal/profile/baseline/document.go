package baseline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// maxText is how many code points of a command and of an edit's new text count.
const maxText = 2000

// Document is the text of one step.
type Document struct {
	Tool    string
	Path    string
	Command string // of a step that runs one, else its code; at most 2,000 code points
	Text    string // new text of an edit or a created file; at most 2,000 code points
}

// String joins the parts that are not empty, one a line.
func (d Document) String() string {
	var parts []string
	for _, p := range []string{d.Tool, d.Path, d.Command, d.Text} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n")
}

// words calls yield for every word: the tool's name, then the identifiers of two letters or
// more of the other parts, in lower case.
func (d Document) words(yield func(string)) {
	yield(strings.ToLower(d.Tool))
	for _, text := range []string{d.Path, d.Command, d.Text} {
		for i := 0; i < len(text); {
			if !wordStart(text[i]) {
				i++
				continue
			}
			start := i
			for i < len(text) && (wordStart(text[i]) || text[i] >= '0' && text[i] <= '9') {
				i++
			}
			if i-start > 1 {
				yield(strings.ToLower(text[start:i]))
			}
		}
	}
}

func wordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// texts are the documents of a task's runs, sorted by id.
type texts struct {
	runs  []profile.Run
	docs  []Document
	first []int // index of each run's first document, then their number
}

func readTexts(ctx context.Context, task profile.Task) (*texts, error) {
	order := make([]int, len(task.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(task.Runs[a].ID, task.Runs[b].ID) })
	out := &texts{first: []int{0}}
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := task.Load(i)
		if err != nil {
			return nil, fmt.Errorf("task %s, run %s: %w", task.ID, task.Runs[i].ID, err)
		}
		for _, s := range t.Ordered() {
			if s.Tool != "" {
				out.docs = append(out.docs, document(s))
			}
		}
		out.runs = append(out.runs, task.Runs[i])
		out.first = append(out.first, len(out.docs))
	}
	return out, nil
}

func document(s *trajectory.State) Document {
	d := Document{Tool: s.Tool, Path: s.FilePath}
	if s.Log == nil {
		return d
	}
	args := &s.Log.Args
	// An edit's "command" argument names the editor's operation and is no text of the step.
	if trajectory.LookupTool(s.Tool).Category == trajectory.Execute {
		d.Command = head(args.Command)
		if d.Command == "" {
			d.Command = head(args.Code)
		}
	}
	d.Text = head(args.NewString)
	if args.Has&trajectory.HasNewString == 0 {
		d.Text = head(args.Content)
	}
	return d
}

// head returns the first maxText code points. The result keeps none of the text alive.
func head(text string) string {
	n := 0
	for i := range text {
		if n == maxText {
			return strings.Clone(text[:i])
		}
		n++
	}
	return strings.Clone(text)
}

// compare scores every run against its references by the similarity of their documents:
// row(i, from, out) writes to out the similarities of document i and documents
// from..from+len(out).
func (t *texts) compare(ctx context.Context, k int, row func(i, from int, out []float64)) ([]Score, error) {
	var sims, columns []float64
	return best(ctx, t.runs, k, func(c, r int) float64 {
		from, n := t.first[r], t.first[r+1]-t.first[r]
		m := t.first[c+1] - t.first[c]
		if m == 0 || n == 0 {
			return 0
		}
		sims = slices.Grow(sims[:0], n)[:n]
		columns = columns[:0]
		rows := 0.0
		for i := t.first[c]; i < t.first[c+1]; i++ {
			row(i, from, sims)
			rows += slices.Max(sims)
			if len(columns) == 0 {
				columns = append(columns, sims...)
				continue
			}
			for j, s := range sims {
				columns[j] = max(columns[j], s)
			}
		}
		sum := 0.0
		for _, s := range columns {
			sum += s
		}
		return harmonic(rows/float64(m), sum/float64(n))
	})
}

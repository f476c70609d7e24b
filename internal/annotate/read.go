package annotate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/tabular"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Problem is something wrong with a rater's file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0 for the whole file
	Code    string `json:"code"` // bad_file, bad_row, unknown_label, unknown_row, duplicate_row, missing_row
	Message string `json:"message"`
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// row is one row of a rater's file or of a sample.
type row struct {
	line    int
	item    string
	label   string // as written, "" for none
	comment string
}

// sheet is a rater's file.
type sheet struct {
	path   string
	sha256 string
	rows   []row
}

// readSheet reads a CSV or JSON Lines file with the columns item, or trajectory_id and
// step, and label, comment. Other columns are ignored. labels is false for a sample, whose
// labels do not matter. What is wrong with single rows is in the problems; with a bad_file
// problem there are no rows.
func readSheet(ctx context.Context, path string, labels bool) (sheet, []Problem, error) {
	f, err := sidefile.Read(ctx, path)
	if err != nil {
		return sheet{}, nil, err
	}
	content := f.Data
	s := sheet{path: path, sha256: f.SHA256}
	if bytes.HasPrefix(bytes.TrimLeft(content, "\ufeff \r\n\t"), []byte("{")) {
		problems := s.readJSONL(content)
		return s, problems, nil
	}
	if err := s.readCSV(ctx, content, labels); err != nil {
		if ctx.Err() != nil {
			return sheet{}, nil, ctx.Err()
		}
		return s, []Problem{{filepath.Base(path), 0, "bad_file", err.Error()}}, nil
	}
	return s, nil, nil
}

func (s *sheet) readCSV(ctx context.Context, content []byte, labels bool) error {
	f, err := tabular.Load(ctx, tabular.Input{Path: "-", Stdin: bytes.NewReader(content)}, nil)
	if err != nil {
		return errors.New(strings.Replace(err.Error(), "reading standard input: ", "", 1))
	}
	column := func(name string) *tabular.Column {
		c, err := f.Column(name)
		if err != nil {
			return nil
		}
		return c
	}
	item, run, step := column("item"), column("trajectory_id"), column("step")
	label, comment := column("label"), column("comment")
	if item == nil && (run == nil || step == nil) {
		return errors.New("no column item, nor trajectory_id and step: nothing says which state a row is about")
	}
	if label == nil && labels {
		return errors.New("no column label")
	}
	for i := range f.Rows() {
		r := row{line: f.Line(i)}
		if item != nil {
			r.item = item.Text(i)
		} else if n, err := strconv.ParseInt(step.Text(i), 10, 64); err == nil {
			r.item = key{run.Text(i), n}.id()
		}
		if label != nil {
			r.label = label.Text(i)
		}
		if comment != nil {
			r.comment = comment.Text(i)
		}
		s.rows = append(s.rows, r)
	}
	return nil
}

func (s *sheet) readJSONL(content []byte) []Problem {
	var problems []Problem
	lines := bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var v struct {
				Item         string  `json:"item"`
				TrajectoryID *string `json:"trajectory_id"`
				Step         *int64  `json:"step"`
				Label        *string `json:"label"`
				Comment      *string `json:"comment"`
			}
			if jerr := json.Unmarshal(line, &v); jerr != nil {
				problems = append(problems, Problem{filepath.Base(s.path), n, "bad_row", "no row: " + jerr.Error()})
			} else {
				if v.Item == "" && v.TrajectoryID != nil && v.Step != nil {
					v.Item = key{*v.TrajectoryID, *v.Step}.id()
				}
				s.rows = append(s.rows, row{n, v.Item, text(v.Label), text(v.Comment)})
			}
		}
		if err == io.EOF {
			return problems
		}
	}
}

// rating is what a rater says of one state.
type rating struct {
	stage   trajectory.Stage
	comment string
}

// check returns the ratings of a sheet and what is wrong with its rows. known are the states
// of the dataset by id; expected are the ids every rater should have.
func (s *sheet) check(known map[string]key, expected []string) (map[string]rating, []Problem) {
	var problems []Problem
	name := filepath.Base(s.path)
	add := func(line int, code, format string, args ...any) {
		problems = append(problems, Problem{name, line, code, fmt.Sprintf(format, args...)})
	}
	wanted := make(map[string]bool, len(expected))
	for _, id := range expected {
		wanted[id] = true
	}
	ratings := map[string]rating{}
	first := map[string]int{}    // line of an item's first row
	dropped := map[string]bool{} // items whose rows contradict each other
	for _, r := range s.rows {
		_, ok := known[r.item]
		switch {
		case r.item == "":
			add(r.line, "unknown_row", "the row names no state")
			continue
		case !ok:
			add(r.line, "unknown_row", "item %s is no labelled state of the dataset", r.item)
			continue
		case !wanted[r.item]:
			add(r.line, "unknown_row", "item %s is not in the sample", r.item)
			continue
		}
		stage, err := trajectory.ParseStage(normal(r.label))
		before, again := first[r.item]
		switch {
		case again && err == nil && ratings[r.item].stage == stage:
			add(r.line, "duplicate_row", "item %s is rated again; the first is line %d", r.item, before)
			continue
		case again:
			add(r.line, "duplicate_row", "item %s is rated differently from line %d; neither counts", r.item, before)
			dropped[r.item] = true
			continue
		}
		first[r.item] = r.line
		switch {
		case err != nil:
			add(r.line, "unknown_label", "label %q of item %s: want exploration, implementation, verification or orchestration, or E, I, V, O", r.label, r.item)
		case stage == trajectory.NoStage:
			add(r.line, "missing_row", "item %s has no label", r.item)
		default:
			ratings[r.item] = rating{stage, r.comment}
		}
	}
	for id := range dropped {
		delete(ratings, id)
	}
	for _, id := range expected {
		if _, ok := first[id]; !ok {
			add(0, "missing_row", "item %s is missing", id)
		}
	}
	return ratings, problems
}

// normal is a label as the parser of stages wants it: a letter in upper case or a word in
// lower case.
func normal(label string) string {
	if label = strings.TrimSpace(label); len(label) == 1 {
		return strings.ToUpper(label)
	}
	return strings.ToLower(label)
}

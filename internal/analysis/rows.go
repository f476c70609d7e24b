package analysis

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/tabular"
)

// Binary names a score and the outcome it should tell apart.
type Binary struct {
	Score string
	Label string
	// Positive is the one value of Label that is the positive class, all others being the
	// negative one. "" reads Label as a truth value; see [Truth].
	Positive string
}

// Columns lists the columns a binary analysis reads.
func (b Binary) Columns() []string { return []string{b.Score, b.Label} }

// scored are the rows that have a score, a label and a value in every group column.
type scored struct {
	scores   []float64
	positive []bool
	groups   [][]string // one slice per group column
	leftOut  []LeftOut
	npos     int
}

func (b Binary) rows(f *tabular.Frame, groups ...string) (scored, error) {
	score, err := f.Column(b.Score)
	if err != nil {
		return scored{}, err
	}
	if !score.Numeric() {
		return scored{}, notNumeric(f, score)
	}
	label, err := f.Column(b.Label)
	if err != nil {
		return scored{}, err
	}
	keys := make([]*tabular.Column, len(groups))
	for i, g := range groups {
		if keys[i], err = f.Column(g); err != nil {
			return scored{}, err
		}
	}
	if b.Positive != "" {
		if values := distinct(label); !slices.Contains(values, b.Positive) && len(values) > 0 {
			return scored{}, fmt.Errorf("%w: no %s is %q; its values are %s", ErrData, b.Label, b.Positive, some(values))
		}
	}
	s := scored{groups: make([][]string, len(keys))}
	var out leftOut
	for i := range f.Rows() {
		positive, known := label.Text(i) == b.Positive, !label.Missing(i)
		if b.Positive == "" && known {
			if positive, known, err = Truth(label.Text(i)); err != nil {
				return scored{}, fmt.Errorf("%s: column %s: %w", f.Place(i), b.Label, err)
			}
		}
		switch missing := firstMissing(i, keys); {
		case score.Missing(i):
			out.add("without " + b.Score)
			continue
		case !known:
			out.add(b.Label + " unknown")
			continue
		case missing != "":
			out.add("without " + missing)
			continue
		}
		v := score.Float(i)
		if math.IsInf(v, 0) {
			return scored{}, infinite(f, score, i)
		}
		s.scores = append(s.scores, v)
		s.positive = append(s.positive, positive)
		if positive {
			s.npos++
		}
		for j, k := range keys {
			s.groups[j] = append(s.groups[j], k.Text(i))
		}
	}
	s.leftOut = out.list
	return s, nil
}

// split returns the scores of the positive and the negative rows.
func (s scored) split() (positive, negative []float64) {
	for i, v := range s.scores {
		if s.positive[i] {
			positive = append(positive, v)
		} else {
			negative = append(negative, v)
		}
	}
	return positive, negative
}

// result begins the result of an analysis of these rows.
func (s scored) result() Result {
	r := Result{Used: len(s.scores), LeftOut: s.leftOut}
	r.count("n", len(s.scores))
	r.count("n_positive", s.npos)
	r.count("n_negative", len(s.scores)-s.npos)
	return r
}

// Truth reads a label, whatever the case of its letters: true, yes, pass, passed, success,
// resolved, t, y, 1 are positive; false, no, fail, failed, failure, unresolved, f, n, 0 are
// negative; unknown is not known. Anything else is an error wrapping [ErrData].
func Truth(text string) (positive, known bool, err error) {
	switch strings.ToLower(text) {
	case "true", "yes", "pass", "passed", "success", "resolved", "t", "y", "1":
		return true, true, nil
	case "false", "no", "fail", "failed", "failure", "unresolved", "f", "n", "0":
		return false, true, nil
	case "unknown":
		return false, false, nil
	}
	return false, false, fmt.Errorf("%w: %q is neither true nor false; name the positive value with option positive", ErrData, text)
}

// leftOut counts rows by reason, in order of the first row.
type leftOut struct{ list []LeftOut }

func (l *leftOut) add(reason string) {
	for i := range l.list {
		if l.list[i].Reason == reason {
			l.list[i].Rows++
			return
		}
	}
	l.list = append(l.list, LeftOut{reason, 1})
}

// firstMissing returns the name of the first column without a value in row i, or "".
func firstMissing(i int, columns []*tabular.Column) string {
	for _, c := range columns {
		if c.Missing(i) {
			return c.Name
		}
	}
	return ""
}

// columnsOf looks up columns by name.
func columnsOf(f *tabular.Frame, names []string) ([]*tabular.Column, error) {
	columns := make([]*tabular.Column, len(names))
	for i, n := range names {
		var err error
		if columns[i], err = f.Column(n); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

func notNumeric(f *tabular.Frame, c *tabular.Column) error {
	for i := range c.Len() {
		if !c.Missing(i) {
			at := firstText(c, i)
			return fmt.Errorf("%w: column %s holds text, want numbers; %s has %q", ErrData, c.Name, f.Place(at), c.Text(at))
		}
	}
	return fmt.Errorf("%w: column %s holds text, want numbers", ErrData, c.Name)
}

// firstText returns the first row from i on whose value is no number, or i.
func firstText(c *tabular.Column, i int) int {
	for j := i; j < c.Len(); j++ {
		if _, err := strconv.ParseFloat(c.Text(j), 64); !c.Missing(j) && err != nil {
			return j
		}
	}
	return i
}

func infinite(f *tabular.Frame, c *tabular.Column, i int) error {
	return fmt.Errorf("%w: %s: column %s is %s; leave infinite values out with option where", ErrData, f.Place(i), c.Name, c.Text(i))
}

// some lists the first few values.
func some(values []string) string {
	const most = 10
	if n := len(values) - most; n > 0 {
		return strings.Join(values[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(values, ", ")
}

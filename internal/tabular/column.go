package tabular

import (
	"math"
	"strconv"

	"github.com/agentlens-bench/agentlens/schema"
)

// Column is one column of a frame.
type Column struct {
	Name string
	Kind schema.Kind // of the values that are not missing; Real when there is none

	ints    []int64 // Integer and Boolean
	reals   []float64
	texts   []string
	missing []bool
	typed   bool              // a value has set Kind
	seen    map[string]string // texts so far, to hold repeated ones once
}

// maxInterned bounds the texts a column looks for repetitions in.
const maxInterned = 1 << 14

func newColumn(name string) *Column {
	return &Column{Name: name, Kind: schema.Real, seen: map[string]string{}}
}

// Len returns the number of rows.
func (c *Column) Len() int { return len(c.missing) }

// Missing reports whether row i has no value.
func (c *Column) Missing(i int) bool { return c.missing[i] }

// Numeric reports whether the values are numbers or truth values.
func (c *Column) Numeric() bool { return c.Kind != schema.Text }

// Float returns the value of row i of a numeric column; truth values are 0 and 1.
func (c *Column) Float(i int) float64 {
	if c.Kind == schema.Real {
		return c.reals[i]
	}
	return float64(c.ints[i])
}

// Text returns the value of row i as text: integers in full, reals by the shortest decimal
// that reads back the same, truth values as true and false, "" for a missing value.
func (c *Column) Text(i int) string {
	switch {
	case c.missing[i]:
		return ""
	case c.Kind == schema.Integer:
		return strconv.FormatInt(c.ints[i], 10)
	case c.Kind == schema.Real:
		return formatReal(c.reals[i])
	case c.Kind == schema.Boolean:
		return strconv.FormatBool(c.ints[i] != 0)
	}
	return c.texts[i]
}

func formatReal(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-5 || a >= 1e15) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// take returns the column with only the given rows.
func (c *Column) take(rows []int) *Column {
	t := newColumn(c.Name)
	t.Kind, t.typed = c.Kind, c.typed
	t.missing = pick(c.missing, rows)
	switch {
	case c.ints != nil:
		t.ints = pick(c.ints, rows)
	case c.reals != nil:
		t.reals = pick(c.reals, rows)
	case c.texts != nil:
		t.texts = pick(c.texts, rows)
	}
	return t
}

func pick[T any](from []T, rows []int) []T {
	to := make([]T, len(rows))
	for i, r := range rows {
		to[i] = from[r]
	}
	return to
}

func (c *Column) addMissing() {
	c.missing = append(c.missing, true)
	c.pad()
}

func (c *Column) addInteger(v int64) {
	c.become(schema.Integer)
	c.missing = append(c.missing, false)
	switch c.Kind {
	case schema.Integer:
		c.ints = append(c.ints, v)
	case schema.Real:
		c.reals = append(c.reals, float64(v))
	default:
		c.texts = append(c.texts, strconv.FormatInt(v, 10))
	}
}

func (c *Column) addReal(v float64) {
	if math.IsNaN(v) {
		c.addMissing()
		return
	}
	c.become(schema.Real)
	c.missing = append(c.missing, false)
	if c.Kind == schema.Real {
		c.reals = append(c.reals, v)
	} else {
		c.texts = append(c.texts, formatReal(v))
	}
}

func (c *Column) addBoolean(v bool) {
	c.become(schema.Boolean)
	var n int64
	if v {
		n = 1
	}
	switch c.Kind {
	case schema.Boolean:
		c.missing = append(c.missing, false)
		c.ints = append(c.ints, n)
	case schema.Text:
		c.addText(strconv.FormatBool(v))
	default:
		c.addInteger(n)
	}
}

func (c *Column) addText(v string) {
	c.become(schema.Text)
	c.missing = append(c.missing, false)
	c.texts = append(c.texts, c.intern(v))
}

// intern returns an equal text that the column already holds, where it knows one.
func (c *Column) intern(v string) string {
	if known, ok := c.seen[v]; ok {
		return known
	}
	if len(c.seen) < maxInterned {
		c.seen[v] = v
	}
	return v
}

// pad appends the zero value after a missing one.
func (c *Column) pad() {
	switch {
	case !c.typed:
	case c.Kind == schema.Real:
		c.reals = append(c.reals, 0)
	case c.Kind == schema.Text:
		c.texts = append(c.texts, "")
	default:
		c.ints = append(c.ints, 0)
	}
}

// width orders the kinds: a column takes the widest kind of its values.
func width(k schema.Kind) int {
	switch k {
	case schema.Boolean:
		return 0
	case schema.Integer:
		return 1
	case schema.Real:
		return 2
	}
	return 3
}

// become widens the column so that it can hold a value of a kind.
func (c *Column) become(k schema.Kind) {
	if !c.typed {
		c.Kind, c.typed = k, true
		for range c.missing {
			c.pad()
		}
		return
	}
	if width(k) <= width(c.Kind) {
		return
	}
	switch k {
	case schema.Real:
		c.reals = make([]float64, len(c.missing))
		for i, v := range c.ints {
			c.reals[i] = float64(v)
		}
		c.ints = nil
	case schema.Text:
		texts := make([]string, len(c.missing))
		for i := range texts {
			texts[i] = c.Text(i)
		}
		c.texts, c.ints, c.reals = texts, nil, nil
	}
	c.Kind = k
}

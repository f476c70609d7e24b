package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/datasets"
)

// definition is one line of the list of figures.
type definition struct {
	id, place, name string
	published       printed
	unit            string
	recipe          call
	rebuild         *call
	expect          Status
	reason          string
	note            string
}

// call is a recipe with its arguments.
type call struct {
	recipe recipe
	args   args
}

// args are a recipe's arguments in the order they are written.
type args []arg

type arg struct{ key, value string }

func (a args) get(key string) string {
	for _, x := range a {
		if x.key == key {
			return x.value
		}
	}
	return ""
}

// list returns a comma-separated argument.
func (a args) list(key string) []string { return strings.Split(a.get(key), ",") }

// printed is a figure as the paper prints it.
type printed struct {
	text     string // without unit; thousands separated by commas
	number   bool
	relation string // "", "~", "<", "<=" or ">"
	value    float64
	decimals int
}

func parsePrinted(text, unit string) (printed, error) {
	p := printed{text: text}
	if unit == "text" {
		return p, nil
	}
	digits := strings.ReplaceAll(text, ",", "")
	for _, relation := range []string{"~", "<=", "<", ">"} {
		if rest, ok := strings.CutPrefix(digits, relation); ok {
			p.relation, digits = relation, rest
			break
		}
	}
	var err error
	if p.value, err = strconv.ParseFloat(digits, 64); err != nil {
		return p, fmt.Errorf("published %q: want a number, or unit text", text)
	}
	p.number = true
	if _, fraction, ok := strings.Cut(digits, "."); ok {
		p.decimals = len(fraction)
	}
	return p, nil
}

// roundoff covers what floating-point arithmetic does to a half-way case.
const roundoff = 1e-9

// agrees reports whether a recomputed value is what was printed.
func (p printed) agrees(v Value) bool {
	if !p.number || v.IsText {
		return p.number != v.IsText && p.text == v.Text
	}
	switch p.relation {
	case "<":
		return v.Number < p.value
	case "<=":
		return v.Number <= p.value
	case ">":
		return v.Number > p.value
	}
	return math.Abs(v.Number-p.value) <= p.halfUnit()
}

// halfUnit is half a unit of the last digit printed.
func (p printed) halfUnit() float64 {
	return 0.5*math.Pow10(-p.decimals) + roundoff*max(1, math.Abs(p.value))
}

const header = "id\tplace\tname\tpublished\tunit\trecipe\targuments\trebuild\texpect\treason\tnote"

// definitions reads the embedded list.
func definitions() ([]*definition, error) { return parseDefinitions(datasets.PaperFigures()) }

func parseDefinitions(text string) ([]*definition, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != header {
		return nil, fmt.Errorf("figures.tsv line 1: want the header %q", header)
	}
	out := make([]*definition, 0, len(lines)-1)
	ids := make(map[string]bool, len(lines))
	for i, line := range lines[1:] {
		d, err := parseDefinition(line)
		if err == nil && ids[d.id] {
			err = fmt.Errorf("id %s: used before", d.id)
		}
		if err != nil {
			return nil, fmt.Errorf("figures.tsv line %d: %w", i+2, err)
		}
		ids[d.id] = true
		out = append(out, d)
	}
	return out, nil
}

func parseDefinition(line string) (*definition, error) {
	f := strings.Split(line, "\t")
	if n := strings.Count(header, "\t") + 1; len(f) != n {
		return nil, fmt.Errorf("%d columns, want %d", len(f), n)
	}
	d := &definition{id: f[0], place: f[1], name: f[2], unit: f[4], expect: Status(f[8]), reason: f[9], note: f[10]}
	var err error
	if d.published, err = parsePrinted(f[3], d.unit); err != nil {
		return nil, err
	}
	if d.recipe, err = parseCall(f[5] + " " + f[6]); err != nil {
		return nil, err
	}
	if d.recipe.recipe.run == nil {
		return nil, fmt.Errorf("id %s: recipe %s is one of column rebuild", d.id, f[5])
	}
	if f[7] != "" {
		c, err := parseCall(f[7])
		if err != nil {
			return nil, err
		}
		d.rebuild = &c
	}
	switch d.expect {
	case Match:
		if d.reason != "" {
			return nil, fmt.Errorf("id %s: a match has no reason", d.id)
		}
	case Differs, NotRecomputable:
		if _, ok := Explain(d.reason); !ok {
			return nil, fmt.Errorf("id %s: unknown reason %q", d.id, d.reason)
		}
	default:
		return nil, fmt.Errorf("id %s: unknown status %q", d.id, d.expect)
	}
	return d, nil
}

func parseCall(text string) (call, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return call{}, fmt.Errorf("no recipe")
	}
	name := words[0]
	r, ok := recipes[name]
	if !ok {
		return call{}, fmt.Errorf("unknown recipe %q", name)
	}
	c := call{recipe: r}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		if !ok || value == "" {
			return call{}, fmt.Errorf("recipe %s: argument %q: want key=value", name, w)
		}
		if !r.takes(key) {
			return call{}, fmt.Errorf("recipe %s takes no argument %q", name, key)
		}
		c.args = append(c.args, arg{key, value})
	}
	return c, nil
}

package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/schema"
)

// Status is what became of a figure.
type Status string

// The statuses.
const (
	Match           Status = "match"
	Differs         Status = "differs"
	WithinDraws     Status = "within_draw_variation" // what was printed lies in the range that redrawn references give
	NotRecomputable Status = "not_recomputable"
)

// Statuses lists them in the order they are printed.
func Statuses() []Status { return []Status{Match, WithinDraws, Differs, NotRecomputable} }

// ParseStatus accepts the statuses with spaces, hyphens or underscores.
func ParseStatus(text string) (Status, error) {
	status := Status(strings.NewReplacer(" ", "_", "-", "_").Replace(text))
	if slices.Contains(Statuses(), status) {
		return status, nil
	}
	return "", fmt.Errorf("unknown status %q: want match, within_draw_variation, differs or not_recomputable", text)
}

// Value is a recomputed number or text.
type Value struct {
	Number float64 // in the figure's unit
	Text   string
	IsText bool
	note   string // what else the data say, for the explanation
}

func number(x float64) Value { return Value{Number: x} }
func text(s string) Value    { return Value{Text: s, IsText: true} }

// String returns the shortest decimal that reads back as the number, or the text.
func (v Value) String() string {
	if v.IsText {
		return v.Text
	}
	return strconv.FormatFloat(v.Number, 'g', -1, 64)
}

// Figure is one figure of the paper and what became of it.
type Figure struct {
	ID          string
	Place       string // such as "Table 14"
	Name        string
	Published   string // as printed, without unit
	Unit        string // %, K, M, tokens, steps, states, GB, text, or none
	Recomputed  *Value // nil when not recomputable
	Rebuilt     *Value // the same from a rebuilt dataset; nil without one
	Basis       Basis
	Status      Status
	Reason      string // code, see Reasons; "" for a match
	Explanation string // one line; "" for a match

	printed printed
}

// Ledger is every figure of the paper, in its order.
type Ledger struct {
	Figures []Figure
}

// Count returns the number of figures with a status.
func (l Ledger) Count(s Status) int {
	n := 0
	for i := range l.Figures {
		if l.Figures[i].Status == s {
			n++
		}
	}
	return n
}

// Only returns the figures with a status.
func (l Ledger) Only(s Status) Ledger {
	var out Ledger
	for _, f := range l.Figures {
		if f.Status == s {
			out.Figures = append(out.Figures, f)
		}
	}
	return out
}

// Unexpected returns the figures that differ without a known reason: what a continuous
// integration run should fail on.
func (l Ledger) Unexpected() []Figure {
	var out []Figure
	for _, f := range l.Figures {
		if f.Reason == unexpected {
			out = append(out, f)
		}
	}
	return out
}

// missing is the error of a recipe whose data the source lacks: a reason code.
type missing string

func (m missing) Error() string { return "not recomputable: " + string(m) }

// undefined marks a figure that does not exist for the data.
func undefined(why string) error { return fmt.Errorf("%w: %s", stats.ErrUndefined, why) }

// Reproduce recomputes every figure. It fails without published columns, and on columns that
// cannot be read.
func Reproduce(ctx context.Context, src Source) (Ledger, error) {
	if len(src.Published) == 0 {
		return Ledger{}, ErrNoPublished
	}
	defs, err := definitions()
	if err != nil {
		return Ledger{}, err
	}
	published, err := newEnv(src, src.Published, defs)
	if err != nil {
		return Ledger{}, fmt.Errorf("published columns: %w", err)
	}
	var rebuilt *env
	if len(src.Rebuilt) > 0 {
		if rebuilt, err = newEnv(src, src.Rebuilt, defs); err != nil {
			return Ledger{}, fmt.Errorf("rebuilt columns: %w", err)
		}
	}
	draws := newDraws(src.Paper)

	l := Ledger{Figures: make([]Figure, len(defs))}
	for i, d := range defs {
		if err := ctx.Err(); err != nil {
			return Ledger{}, err
		}
		if l.Figures[i], err = judge(d, published, rebuilt, draws); err != nil {
			return Ledger{}, fmt.Errorf("figure %s: %w", d.id, err)
		}
	}
	return l, nil
}

func judge(d *definition, published, rebuilt *env, draws *draws) (Figure, error) {
	f := Figure{ID: d.id, Place: d.place, Name: d.name, Published: d.published.text, Unit: d.unit, Basis: d.recipe.recipe.basis, printed: d.published}
	v, err := published.value(d.id)
	var lacks missing
	switch {
	case errors.As(err, &lacks):
		f.Status, f.Reason = NotRecomputable, string(lacks)
		if lacks == unreleased {
			f.Reason = d.reason
		}
	case errors.Is(err, stats.ErrUndefined):
		f.Status, f.Reason, f.Explanation = NotRecomputable, "undefined", err.Error()
	case err != nil:
		return f, err
	default:
		scaled := d.scale(v)
		f.Recomputed, f.Status = &scaled, Match
		if !d.published.agrees(scaled) {
			f.Status, f.Reason = Differs, unexpected
			if d.expect == Differs {
				f.Reason = d.reason
			}
		}
	}
	if err := f.addRebuild(d, rebuilt, draws); err != nil {
		return f, err
	}
	if f.Status != Match && f.Explanation == "" {
		f.Explanation = d.note
		if f.Explanation == "" || f.Reason != d.reason {
			r, _ := Explain(f.Reason)
			f.Explanation = r.Title
		}
		if f.Recomputed != nil && f.Recomputed.note != "" {
			f.Explanation += ": " + f.Recomputed.note
		}
	}
	return f, nil
}

// addRebuild adds the value of a rebuilt dataset, and whether what was printed lies in the
// range of its draws.
func (f *Figure) addRebuild(d *definition, rebuilt *env, draws *draws) error {
	switch {
	case d.rebuild != nil && draws != nil:
		s, err := draws.statistic(d.rebuild.args)
		if errors.Is(err, stats.ErrUndefined) {
			return nil
		}
		if err != nil {
			return err
		}
		value := d.scale(number(s.single))
		f.Rebuilt = &value
		if f.Status != Match && s.draws > 0 {
			low, high := s.band()
			p := d.published
			if p.number && p.value >= low-p.halfUnit() && p.value <= high+p.halfUnit() {
				mean := d.scale(number(s.mean))
				f.Recomputed, f.Basis, f.Status, f.Reason = &mean, FromRebuild, WithinDraws, drawVariation
				f.Explanation = s.explain(p.decimals)
			}
		}
	case d.recipe.recipe.columns && rebuilt != nil:
		v, err := rebuilt.value(d.id)
		var lacks missing
		if errors.As(err, &lacks) || errors.Is(err, stats.ErrUndefined) {
			return nil
		}
		if err != nil {
			return err
		}
		v = d.scale(v)
		f.Rebuilt = &v
	}
	return nil
}

// scale turns tokens into the figure's unit.
func (d *definition) scale(v Value) Value {
	switch d.unit {
	case "K":
		v.Number /= 1e3
	case "M":
		v.Number /= 1e6
	}
	return v
}

// env is what recipes compute on: one table of 40 columns and what goes with it.
type env struct {
	table      table
	columns    fields
	tasks      []schema.PublishedTask
	references []schema.PublishedReference
	calls      []ToolCalls
	defs       []*definition
	byID       map[string]*definition
	cache      map[string]result
}

type result struct {
	value Value
	err   error
}

func newEnv(src Source, rows []schema.Features, defs []*definition) (*env, error) {
	t, err := newTable(rows, byID(src.Trajectories))
	if err != nil {
		return nil, err
	}
	e := &env{
		table: t, columns: newFields(reflect.TypeFor[schema.Features]()),
		tasks: src.Tasks, references: src.References, calls: src.ToolCalls,
		defs: defs, byID: make(map[string]*definition, len(defs)), cache: make(map[string]result, len(defs)),
	}
	for _, d := range defs {
		e.byID[d.id] = d
	}
	return e, nil
}

var errCycle = errors.New("recipe depends on itself")

// value recomputes a figure, without its unit.
func (e *env) value(id string) (Value, error) {
	if r, ok := e.cache[id]; ok {
		return r.value, r.err
	}
	d, ok := e.byID[id]
	if !ok {
		return Value{}, fmt.Errorf("no figure %q", id)
	}
	e.cache[id] = result{err: errCycle}
	v, err := d.recipe.recipe.run(e, d.recipe.args)
	if err == nil && !v.IsText && (math.IsNaN(v.Number) || math.IsInf(v.Number, 0)) {
		err = undefined("division by zero")
	}
	e.cache[id] = result{v, err}
	return v, err
}

// printed returns the number the paper prints for a figure.
func (e *env) printed(id string) (float64, error) {
	d, ok := e.byID[id]
	if !ok || !d.published.number {
		return 0, fmt.Errorf("no figure %q with a number", id)
	}
	return d.published.value, nil
}

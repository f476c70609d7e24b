package annotate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// Allocations of a sample to its strata.
const (
	Proportional = "proportional" // as many as the stratum's share of all states
	Equal        = "equal"        // the same number from each, as far as it has them
)

// SampleOptions say which states to draw.
type SampleOptions struct {
	N          int      // states to draw
	Seed       uint64   // same seed, same sample
	By         []string // strata: combinations of these; see [Strata]
	Allocation string   // Proportional or Equal
	Context    int      // states shown before and after
	Preview    int      // code points of an observation shown
}

// Strata lists what a sample can be stratified by: stage and stage_clean are the labels of
// the release and the clean labeler.
func Strata() []string {
	return []string{"stage", "stage_clean", "tool", "task", "model", "outcome"}
}

// strataSQL are the columns of Strata, in its order.
const strataSQL = "s.stage_release, s.stage_clean, s.tool, t.task_id, t.model, t.outcome"

// Item is one state to rate.
type Item struct {
	ID       string `json:"item"`
	Task     string `json:"task"`
	Position int64  `json:"position"` // step, 1 is the first after the initial state
	Of       int64  `json:"of"`       // steps of the run
	Before   []Step `json:"before"`
	State    Step   `json:"state"`
	After    []Step `json:"after"`
	Label    string `json:"label"`   // for the rater to fill in
	Comment  string `json:"comment"` // for the rater to fill in

	key key
}

// Step is a state as raters see it.
type Step struct {
	Step        int64  `json:"step"`
	Tool        string `json:"tool"`
	Command     string `json:"command,omitzero"`
	File        string `json:"file,omitzero"`
	Lines       string `json:"lines,omitzero"`
	Edit        string `json:"edit,omitzero"`
	Observation string `json:"observation,omitzero"` // its beginning
}

// Stratum is one stratum of a sample.
type Stratum struct {
	Values []string `json:"values"` // in the order of SampleOptions.By
	States int      `json:"states"`
	Drawn  int      `json:"drawn"`
}

// key is a state of a dataset.
type key struct {
	trajectory string
	step       int64
}

// id is the opaque name of a state. It begins with a letter so that no program takes it for a
// number.
func (k key) id() string {
	sum := sha256.Sum256([]byte(k.trajectory + "\x00" + strconv.FormatInt(k.step, 10)))
	return "s" + hex.EncodeToString(sum[:8])
}

// draw orders things at random, by the seed and a name.
func draw(seed uint64, purpose, name string) [sha256.Size]byte {
	return sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, seed), purpose+"\x00"+name...))
}

// candidate is a state with its place in the random order.
type candidate struct {
	key
	rank [sha256.Size]byte
}

type stratum struct {
	values     []string
	states     int
	candidates []candidate // the first in the random order, at most a few more than N
}

func (s *stratum) add(c candidate, most int) {
	s.states++
	if s.candidates = append(s.candidates, c); len(s.candidates) >= 2*most+64 {
		s.cut(most)
	}
}

// cut keeps the first candidates of the random order.
func (s *stratum) cut(most int) {
	slices.SortFunc(s.candidates, func(a, b candidate) int { return bytes.Compare(a.rank[:], b.rank[:]) })
	s.candidates = s.candidates[:min(most, len(s.candidates))]
}

// Sample draws labelled states of the dataset in dir, in random order. A stratum's states are
// drawn without replacement, each with the same chance.
func Sample(ctx context.Context, dir string, opt SampleOptions) (items []Item, strata []Stratum, err error) {
	err = dataset.Read(dir, func() (err error) {
		items, strata, err = sample(ctx, dir, opt)
		return err
	})
	return items, strata, err
}

func sample(ctx context.Context, dir string, opt SampleOptions) ([]Item, []Stratum, error) {
	if err := opt.check(); err != nil {
		return nil, nil, err
	}
	db, err := store.Open(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	if err := store.Require(dir, "states "+strataSQL+" stage_release tool command file_path observation"); err != nil {
		return nil, nil, err
	}
	strata, err := opt.strata(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	total := 0
	for _, s := range strata {
		total += s.states
	}
	if total < opt.N {
		return nil, nil, usage.Errorf("", "%d states asked for, the dataset has %d labelled ones", opt.N, total)
	}
	drawn := opt.allocate(strata, total)
	var chosen []key
	summary := make([]Stratum, len(strata))
	for i, s := range strata {
		s.cut(drawn[i])
		for _, c := range s.candidates {
			chosen = append(chosen, c.key)
		}
		summary[i] = Stratum{s.values, s.states, drawn[i]}
	}
	slices.SortFunc(chosen, func(a, b key) int {
		x, y := draw(opt.Seed, "order", a.id()), draw(opt.Seed, "order", b.id())
		return bytes.Compare(x[:], y[:])
	})
	items := make([]Item, len(chosen))
	for i, k := range chosen {
		if items[i], err = show(ctx, db, k, opt); err != nil {
			return nil, nil, err
		}
	}
	return items, summary, nil
}

func (opt SampleOptions) check() error {
	switch {
	case opt.N < 1:
		return usage.Errorf("", "want at least one state, not %d", opt.N)
	case opt.Context < 0 || opt.Preview < 0:
		return usage.Errorf("", "the context and the preview can't be negative")
	case opt.Allocation != Proportional && opt.Allocation != Equal:
		return usage.Errorf("", "allocation %q: want %s or %s", opt.Allocation, Proportional, Equal)
	}
	for _, by := range opt.By {
		if !slices.Contains(Strata(), by) {
			return usage.Errorf("", "no strata by %q; want some of %s", by, strings.Join(Strata(), ", "))
		}
	}
	return nil
}

// strata reads every labelled state once and keeps the candidates of each stratum. Strata
// are in order of their values.
func (opt SampleOptions) strata(ctx context.Context, db *store.DB) ([]*stratum, error) {
	rows, err := db.QueryContext(ctx, "SELECT s.trajectory_id, s.step, "+strataSQL+
		" FROM states s JOIN trajectories t ON t.trajectory_id = s.trajectory_id WHERE s.stage_release IS NOT NULL")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	byName := map[string]*stratum{}
	values := make([]*string, len(Strata()))
	var k key
	targets := []any{&k.trajectory, &k.step}
	for i := range values {
		targets = append(targets, &values[i])
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		own := make([]string, len(opt.By))
		for i, by := range opt.By {
			if v := values[slices.Index(Strata(), by)]; v != nil {
				own[i] = *v
			}
		}
		name := strings.Join(own, "\x00")
		if byName[name] == nil {
			byName[name] = &stratum{values: own}
		}
		byName[name].add(candidate{k, draw(opt.Seed, "state", k.id())}, opt.N)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	strata := make([]*stratum, 0, len(byName))
	for _, s := range byName {
		strata = append(strata, s)
	}
	slices.SortFunc(strata, func(a, b *stratum) int { return slices.Compare(a.values, b.values) })
	return strata, nil
}

// allocate says how many states to draw from each stratum; they sum to N.
func (opt SampleOptions) allocate(strata []*stratum, total int) []int {
	drawn := make([]int, len(strata))
	left := opt.N
	order := make([]int, len(strata)) // who gets one more first
	for i := range order {
		order[i] = i
	}
	rank := func(i int) [sha256.Size]byte {
		return draw(opt.Seed, "stratum", strings.Join(strata[i].values, "\x00"))
	}
	remainder := func(i int) int { return 0 }
	if opt.Allocation == Proportional {
		for i, s := range strata {
			drawn[i] = opt.N * s.states / total
			left -= drawn[i]
		}
		remainder = func(i int) int { return opt.N * strata[i].states % total }
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := rank(a), rank(b)
		return cmp.Or(cmp.Compare(remainder(b), remainder(a)), bytes.Compare(x[:], y[:]))
	})
	for left > 0 {
		for _, i := range order {
			if left > 0 && drawn[i] < strata[i].states {
				drawn[i]++
				left--
			}
		}
	}
	return drawn
}

// show reads a state with its context.
func show(ctx context.Context, db *store.DB, k key, opt SampleOptions) (Item, error) {
	item := Item{ID: k.id(), Position: k.step, Before: []Step{}, After: []Step{}, key: k}
	err := db.QueryRowContext(ctx, "SELECT task_id, n_states FROM trajectories WHERE trajectory_id = ?", k.trajectory).Scan(&item.Task, &item.Of)
	if err != nil {
		return item, err
	}
	states := store.ReadSQL[schema.State](ctx, db.DB,
		"SELECT * FROM states WHERE trajectory_id = ? AND step BETWEEN ? AND ? AND tool IS NOT NULL ORDER BY step",
		k.trajectory, k.step-int64(opt.Context), k.step+int64(opt.Context))
	for s, err := range states {
		if err != nil {
			return item, err
		}
		step := shown(s, opt.Preview)
		switch {
		case s.Step < k.step:
			item.Before = append(item.Before, step)
		case s.Step > k.step:
			item.After = append(item.After, step)
		default:
			item.State = step
		}
	}
	return item, nil
}

func shown(s schema.State, preview int) Step {
	step := Step{Step: s.Step, Tool: text(s.Tool), Command: text(s.Command), File: text(s.FilePath), Edit: text(s.EditType)}
	if s.LineStart != nil {
		step.Lines = strconv.FormatInt(*s.LineStart, 10) + "-"
		if s.LineEnd != nil && *s.LineEnd >= 0 {
			step.Lines += strconv.FormatInt(*s.LineEnd, 10)
		}
	}
	step.Observation = text(s.Observation)
	if cut := []rune(step.Observation); len(cut) > preview {
		step.Observation = string(cut[:preview]) + "…"
	}
	if preview == 0 {
		step.Observation = ""
	}
	return step
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

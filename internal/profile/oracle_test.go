package profile_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/conformance/released"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// parseID takes the model and the outcome from an id of the release,
// <task>-logs-<model>-<pass|fail>-<digits>_pta.
func parseID(t testing.TB, id string) profile.Run {
	_, rest, _ := strings.Cut(id, "-logs-")
	for _, o := range []trajectory.Outcome{trajectory.Pass, trajectory.Fail} {
		if model, _, ok := strings.Cut(rest, "-"+o.String()+"-"); ok {
			return profile.Run{ID: id, Model: model, Outcome: o}
		}
	}
	t.Fatalf("id %q names no outcome", id)
	return profile.Run{}
}

// Each set is read once for all tests of the package.
var (
	reading sync.Mutex
	sets    = map[string]*tasks{} // by the name of the set
)

// tasks are the runs of a set by task, in order, and their steps.
type tasks struct {
	sources []profile.Task
	steps   []*steps.Task
}

func loaded(t testing.TB, set *conformance.Set) ([]profile.Task, []*steps.Task) {
	reading.Lock()
	defer reading.Unlock()
	if all := sets[set.Name]; all != nil {
		return all.sources, all.steps
	}
	all := &tasks{}
	var runs [][]*trajectory.Trajectory
	for _, r := range released.Trajectories(t, set) {
		if n := len(all.sources); n == 0 || all.sources[n-1].ID != r.TaskID {
			all.sources = append(all.sources, profile.Task{ID: r.TaskID})
			runs = append(runs, nil)
		}
		last := len(runs) - 1
		all.sources[last].Runs = append(all.sources[last].Runs, parseID(t, r.ID))
		runs[last] = append(runs[last], r)
	}
	for i := range all.sources {
		all.sources[i].Load = func(k int) (*trajectory.Trajectory, error) { return runs[i][k], nil }
		all.steps = append(all.steps, load(t, all.sources[i]))
	}
	sets[set.Name] = all
	return all.sources, all.steps
}

func load(t testing.TB, task profile.Task) *steps.Task {
	s, err := steps.Load(context.Background(), task, shell.New(shell.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// collector keeps what a profile emits.
type collector struct {
	refs []profile.ReferenceRows
	runs []profile.RunRows
}

func (c *collector) Reference(r profile.ReferenceRows) error { c.refs = append(c.refs, r); return nil }
func (c *collector) Run(r profile.RunRows) error             { c.runs = append(c.runs, r); return nil }

// byID indexes the emitted rows.
func (c *collector) byID() map[string]profile.RunRows {
	out := map[string]profile.RunRows{}
	for _, r := range c.runs {
		out[r.Tier.TrajectoryID] = r
	}
	return out
}

// columns reads a row struct as text by column name; "" is null.
func columns(row any) map[string]string {
	out := map[string]string{}
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ",")
		f := v.Field(i)
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				out[name] = ""
				continue
			}
			f = f.Elem()
		}
		switch f.Kind() {
		case reflect.Bool:
			out[name] = map[bool]string{false: "0", true: "1"}[f.Bool()]
		case reflect.Float64:
			out[name] = number(f.Float())
		default:
			out[name] = fmt.Sprint(f.Interface())
		}
	}
	return out
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// same compares an expected cell with ours: numbers to 1e-9, all else exactly.
func same(want, got string) bool {
	if want == got {
		return true
	}
	w, err1 := strconv.ParseFloat(want, 64)
	g, err2 := strconv.ParseFloat(got, 64)
	return err1 == nil && err2 == nil && math.Abs(w-g) <= 1e-9
}

// mismatches reports the first few differences of a table.
type mismatches struct {
	t testing.TB
	n int
}

func (m *mismatches) add(format string, args ...any) {
	m.n++
	if m.n <= 10 {
		m.t.Errorf(format, args...)
	}
}

func (m *mismatches) done(rows int) {
	m.t.Logf("%d rows compared, %d cells differ", rows, m.n)
}

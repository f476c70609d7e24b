// Package profiletest loads released runs as tasks and compares what a profile emits with
// expected tables, for tests of the profiles.
package profiletest

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

// Load returns the set as tasks and their steps.
func Load(t testing.TB, set *conformance.Set) ([]profile.Task, []*steps.Task) {
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
		all.steps = append(all.steps, Steps(t, all.sources[i]))
	}
	sets[set.Name] = all
	return all.sources, all.steps
}

// Steps reads the steps of a task.
func Steps(t testing.TB, task profile.Task) *steps.Task {
	s, err := steps.Load(context.Background(), task, shell.New(shell.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Collector keeps what a profile emits.
type Collector struct {
	References []profile.ReferenceRows
	Runs       []profile.RunRows
}

// Reference is part of profile.Emitter.
func (c *Collector) Reference(r profile.ReferenceRows) error {
	c.References = append(c.References, r)
	return nil
}

// Run is part of profile.Emitter.
func (c *Collector) Run(r profile.RunRows) error {
	c.Runs = append(c.Runs, r)
	return nil
}

// ByID indexes the emitted rows.
func (c *Collector) ByID() map[string]profile.RunRows {
	out := map[string]profile.RunRows{}
	for _, r := range c.Runs {
		out[r.Tier.TrajectoryID] = r
	}
	return out
}

// Columns reads a row struct as text by column name; "" is null.
func Columns(row any) map[string]string {
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
			out[name] = Number(f.Float())
		default:
			out[name] = fmt.Sprint(f.Interface())
		}
	}
	return out
}

// Number writes a number as tables do.
func Number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Same compares an expected cell with ours: numbers to 1e-9, all else exactly.
func Same(want, got string) bool {
	if want == got {
		return true
	}
	w, err1 := strconv.ParseFloat(want, 64)
	g, err2 := strconv.ParseFloat(got, 64)
	return err1 == nil && err2 == nil && math.Abs(w-g) <= 1e-9
}

// Mismatches reports the first few differences of a table.
type Mismatches struct {
	T testing.TB
	n int
}

// Add reports a difference.
func (m *Mismatches) Add(format string, args ...any) {
	m.n++
	if m.n <= 10 {
		m.T.Errorf(format, args...)
	}
}

// Done says how many there were.
func (m *Mismatches) Done(rows int) {
	m.T.Logf("%d rows compared, %d cells differ", rows, m.n)
}

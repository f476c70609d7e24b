package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/schema"
)

// madeDataset is rows for every table, sorted as the writer wants them.
type madeDataset map[[2]string]reflect.Value

// drawCell makes the value of a column; cells of the primary key and of foreign keys are
// small pools, so that groups have several rows and parents exist.
type drawCell func(table string, c schema.Column) any

// generate makes n rows for every table of these profiles.
func generate(t testing.TB, profiles []string, n int, draw drawCell) madeDataset {
	parts, err := partsOf(profiles)
	if err != nil {
		t.Fatal(err)
	}
	set := madeDataset{}
	for _, p := range parts {
		slice := reflect.MakeSlice(reflect.SliceOf(p.variant.Row), 0, n)
		for range n {
			row := reflect.New(p.variant.Row).Elem()
			for _, c := range p.variant.Columns {
				if v := draw(p.table.Name, c); v != nil {
					f := row.Field(c.Field)
					if c.Nullable {
						f.Set(reflect.New(f.Type().Elem()))
						f = f.Elem()
					}
					f.Set(reflect.ValueOf(v))
				}
			}
			slice = reflect.Append(slice, row)
		}
		set[[2]string{p.table.Name, p.profile}] = sortUnique(p, slice)
	}
	return set
}

// sortUnique sorts rows by key and drops those whose key came before.
func sortUnique(p part, slice reflect.Value) reflect.Value {
	rows := make([][]value, slice.Len())
	order := make([]int, len(rows))
	for i := range rows {
		rows[i] = make([]value, len(p.variant.Columns))
		readRow(slice.Index(i), p.variant.Columns, rows[i])
		order[i] = i
	}
	key := p.variant.Key()
	slices.SortStableFunc(order, func(a, b int) int { return compareKeys(key, rows[a], rows[b]) })
	out := reflect.MakeSlice(slice.Type(), 0, slice.Len())
	for i, o := range order {
		if i == 0 || compareKeys(key, rows[order[i-1]], rows[o]) != 0 {
			out = reflect.Append(out, slice.Index(o))
		}
	}
	return out
}

// profiles are those the rows are of, or release when there is none.
func (set madeDataset) profiles() []string {
	var out []string
	for _, p := range schema.Profiles() {
		if _, ok := set[[2]string{"tiers", p}]; ok {
			out = append(out, p)
		}
	}
	if out == nil {
		out = []string{"release"}
	}
	return out
}

// write writes the rows in batches of at most size rows.
func (set madeDataset) write(t testing.TB, dir string, size int) []TableStat {
	t.Helper()
	w, err := Create(dir, set.profiles())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, tw := range w.order {
		rows, ok := set[[2]string{tw.table.Name, tw.profile}]
		if !ok {
			continue
		}
		for i := 0; i < rows.Len(); i += size {
			if err := w.Append(tw.table.Name, tw.profile, rows.Slice(i, min(i+size, rows.Len())).Interface()); err != nil {
				t.Fatal(err)
			}
		}
	}
	stats, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// drawConsistent makes cells for which Compare has nothing to say once every id of the pools
// is in its parent table.
func drawConsistent(rng *rand.Rand) drawCell {
	return func(table string, c schema.Column) any {
		switch {
		case c.Name == "task_id" || c.Name == "model" || c.Name == "trajectory_id" || c.Name == "pta_id":
			return fmt.Sprintf("%s-%02d", c.Name, rng.IntN(12))
		case c.Nullable && rng.IntN(3) == 0:
			return nil
		case c.Enum != nil:
			return c.Enum[rng.IntN(len(c.Enum))]
		}
		switch c.Kind {
		case schema.Integer:
			return []int64{0, 1, 2, 3, 4, 5, -1, math.MaxInt64, math.MinInt64}[rng.IntN(9)]
		case schema.Real:
			return []float64{0, 1, -1, 0.1, 1e300, math.SmallestNonzeroFloat64, 1 << 60, 33.333333333333336}[rng.IntN(8)]
		case schema.Boolean:
			return rng.IntN(2) == 0
		default:
			return []string{"", "a", "ä 木 🙂", "it's \"quoted\"", "line\nbreak\r\n", strings.Repeat("long ", 300)}[rng.IntN(6)]
		}
	}
}

// consistent makes rows of every profile, with every id of the pools in its parent table.
func consistent(t testing.TB, seed uint64, n int) madeDataset {
	rng := rand.New(rand.NewPCG(seed, 0))
	set := generate(t, schema.Profiles(), n, drawConsistent(rng))
	for key, rows := range set {
		var name string
		switch key[0] {
		case "tasks", "published_tasks", "published_references":
			name = "TaskID"
		case "models":
			name = "Model"
		case "trajectories":
			name = "TrajectoryID"
		case "pta":
			name = "PTAID"
		default:
			continue
		}
		tag := map[string]string{"TaskID": "task_id", "Model": "model", "TrajectoryID": "trajectory_id", "PTAID": "pta_id"}[name]
		full := reflect.MakeSlice(rows.Type(), 12, 12)
		for i := range 12 {
			full.Index(i).Set(rows.Index(i % rows.Len()))
			full.Index(i).FieldByName(name).SetString(fmt.Sprintf("%s-%02d", tag, i))
		}
		set[key] = full
	}
	return set
}

package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// Run is what is known of a run without loading it.
type Run struct {
	ID      string
	Model   string
	Outcome trajectory.Outcome
}

// Task is one task's runs, sorted by ID.
type Task struct {
	ID   string
	Runs []Run
	Load func(i int) (*trajectory.Trajectory, error) // reads Runs[i]; may be called more than once

	// Clean gives the clean-labelled steps of Runs[i], over the states that Load gives or a
	// copy of them. It is nil where nobody has labelled them yet.
	Clean func(i int) ([]stage.CleanStep, error)

	derived map[reflect.Type]any
}

// Derived returns what derive makes of a task, made once for all profiles that judge it. It is
// not for concurrent use on one task.
func Derived[T any](t *Task, derive func() (T, error)) (T, error) {
	key := reflect.TypeFor[T]()
	if v, ok := t.derived[key]; ok {
		return v.(T), nil
	}
	v, err := derive()
	if err != nil {
		return v, err
	}
	if t.derived == nil {
		t.derived = map[reflect.Type]any{}
	}
	t.derived[key] = v
	return v, nil
}

// Mode says how references are chosen.
type Mode string

// The modes of --reference.
const (
	LeaveOneOut Mode = "loo"    // each run is judged by the first k other passing runs
	Donors      Mode = "donors" // k runs per task are held out and judge all others
)

// MinReferences is the smallest reference: fewer passing runs give no score.
const MinReferences = 2

// Plan says which references a build uses.
type Plan struct {
	Mode   Mode
	K      int                 // at least MinReferences
	Donors map[string][]string // Mode Donors: ordered trajectory ids by task; nil picks the first K by HashOrder
}

// ReferenceRows describe one reference, completely.
type ReferenceRows struct {
	PTA     schema.PTA
	Members []schema.PTAMember
	Nodes   []schema.PTANode
	Edges   []schema.PTAEdge
	Paths   []schema.PTAPath
}

// RunRows are what one profile says about one run. Features and Signals are nil when the
// run was not scored; Signals holds a pointer to the profile's own row struct.
type RunRows struct {
	Reference   string // PTA id of what a scored run was judged by, "" for none
	Features    *schema.Features
	Signals     any
	Alignments  []schema.Alignment
	Divergences []schema.Divergence
	Waste       []schema.Waste
	ToolWaste   []schema.ToolWaste
	Tier        schema.Tier
}

// Emitter receives a task's rows: first its references sorted by PTA id, then its runs
// sorted by trajectory id.
type Emitter interface {
	Reference(ReferenceRows) error
	Run(RunRows) error
}

// HashOrder returns the ids sorted by the lower-case hex SHA-256 of salt+id.
func HashOrder(ids []string, salt string) []string {
	type keyed struct{ key, id string }
	ks := make([]keyed, len(ids))
	for i, id := range ids {
		sum := sha256.Sum256([]byte(salt + id))
		ks[i] = keyed{hex.EncodeToString(sum[:]), id}
	}
	slices.SortFunc(ks, func(a, b keyed) int {
		if c := strings.Compare(a.key, b.key); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	out := make([]string, len(ids))
	for i, k := range ks {
		out[i] = k.id
	}
	return out
}

// ReferenceID names a reference by its ordered members.
func ReferenceID(task string, members []string) string {
	sum := sha256.Sum256([]byte(strings.Join(members, "\n")))
	return task + "#" + hex.EncodeToString(sum[:])[:12]
}

// Round4 rounds to four decimals, ties to even on the exact binary value, as the 40 columns
// store fractions.
func Round4(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 4, 64), 64)
	if err != nil {
		panic(err) // what FormatFloat writes parses
	}
	return v
}

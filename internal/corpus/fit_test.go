package corpus

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// plant puts a bad text in every string of v and gives every slice an element.
func plant(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("a\x00b\xff")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			plant(v.Field(i))
		}
	}
}

func bad(v reflect.Value, path string) []string {
	var out []string
	switch v.Kind() {
	case reflect.String:
		if strings.IndexByte(v.String(), 0) >= 0 || !utf8.ValidString(v.String()) {
			out = append(out, path)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out = bad(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, bad(v.Index(i), path)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, bad(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
	}
	return out
}

func TestFitLeavesNoTextThatCantBeStored(t *testing.T) {
	var run trajectory.Trajectory
	plant(reflect.ValueOf(&run).Elem())
	fit(&run)
	if left := bad(reflect.ValueOf(run), "run"); left != nil {
		t.Errorf("bad text left in %v", left)
	}
	if w := run.Warnings[len(run.Warnings)-1]; w.Code != "bad_text" {
		t.Errorf("no warning, but %+v", w)
	}
}

func TestFitDropsTokenCountsThatCantBeAdded(t *testing.T) {
	run := trajectory.Trajectory{States: []trajectory.State{
		{InputTokens: trajectory.Some(math.MaxInt64), OutputTokens: trajectory.Some(-1), CachedTokens: trajectory.Some(5)},
	}}
	fit(&run)
	s := run.States[0]
	if s.InputTokens.Valid || s.OutputTokens.Valid || s.CachedTokens != trajectory.Some(5) || len(run.Warnings) != 1 {
		t.Errorf("%+v %v", s, run.Warnings)
	}
}

func TestFitLeavesGoodRunsAlone(t *testing.T) {
	run := trajectory.Trajectory{ID: "r", States: []trajectory.State{{Observation: "grün", InputTokens: trajectory.Some(7)}}}
	want := run
	fit(&run)
	if !reflect.DeepEqual(run, want) {
		t.Errorf("%+v", run)
	}
}

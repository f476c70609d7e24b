package spill

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// fill sets every field of v, so that a field the codec forgets makes the round trip fail.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.StringN(1, 20, -1).Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(1, 1<<60).Draw(t, "int"))
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(rapid.Uint64Range(1, 255).Draw(t, "code"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		n := rapid.IntRange(1, 3).Draw(t, "len")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("no generator for %s", v.Type())
	}
}

func TestLoadReturnsWhatWasAppended(t *testing.T) {
	f, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Texts = true
	rapid.Check(t, func(t *rapid.T) {
		var want trajectory.Trajectory
		fill(t, reflect.ValueOf(&want).Elem())
		ref, err := f.Append(&want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Load(ref)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&want, got) {
			t.Fatalf("round trip changed the trajectory\nwant %+v\n got %+v", want, got)
		}
	})
}

// Without Texts, whole texts are dropped.
func TestTexts(t *testing.T) {
	f, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ref, err := f.Append(&trajectory.Trajectory{ID: "t", Prompt: "p", Closing: "c", States: []trajectory.State{{ID: "s", Response: "r"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := &trajectory.Trajectory{ID: "t", States: []trajectory.State{{ID: "s"}}}
	if got, err := f.Load(ref); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(&trajectory.Trajectory{ID: "t", States: []trajectory.State{{ID: "s"}}}, false))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decode(raw, false)
		if err == nil && got == nil {
			t.Fatal("no trajectory and no error")
		}
	})
}

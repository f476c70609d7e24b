package ingest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRefusalsAddUp: whatever is refused in whatever order, the entries are the same, are few,
// and count every record once.
func TestRefusalsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type refusal struct {
			e     RecordError
			whole bool
		}
		var all []refusal
		cut := map[string]int64{}
		want := map[string]int64{}
		files := rapid.IntRange(1, 3).Draw(t, "files")
		for f := range files {
			name := fmt.Sprintf("f%d.jsonl", f)
			n := rapid.IntRange(0, 200).Draw(t, "records")
			good := rapid.IntRange(0, 1).Draw(t, "good")
			cut[name] = int64(n + good)
			for line := range n {
				e := RecordError{File: name, Line: int64(line + 1), Code: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "code"), Message: "m"}
				want[e.Code]++
				all = append(all, refusal{e, true})
			}
		}
		gather := func(order []refusal) *Refusals {
			var r Refusals
			for _, x := range order {
				r.add(x.e, x.whole)
			}
			for name, n := range cut {
				r.cut(name, n)
			}
			return &r
		}
		r := gather(all)
		entries := r.List()
		if again := gather(rapid.Permutation(all).Draw(t, "order")).List(); !reflect.DeepEqual(entries, again) {
			t.Fatalf("another order gives other entries:\n%v\n%v", entries, again)
		}
		got := map[string]int64{}
		var n int64
		for i := range entries {
			entries[i].AddTo(got)
			n += entries[i].Records()
		}
		if !reflect.DeepEqual(got, want) || n != r.Count() || n != int64(len(all)) {
			t.Fatalf("%d refused as %v; entries have %d, %v", len(all), want, n, got)
		}
		if most := files * 2 * (listedRefusals + 1); len(entries) > most {
			t.Fatalf("%d entries for %d files", len(entries), files)
		}
	})
}

// TestRefusalsOfAFile: a file that is no log is one entry, one with a good record lists the
// first refused ones.
func TestRefusalsOfAFile(t *testing.T) {
	for _, tc := range []struct {
		name     string
		n, whole int64
		entries  int
		message  string // of the last entry
	}{
		{"few", 10, 10, 10, "not known"},
		{"no log", 1000, 1000, 1, "the file is no log: all of its 1000 records are refused, on lines 1, 2, 3, 4, 5 and so on to 1000; the first: not known"},
		{"a good one among them", 1000, 1001, 51, "950 more are refused under this code on lines 51 to 1000; the first: not known"},
		{"a little over the list", 51, 52, 51, "not known"},
	} {
		var r Refusals
		for line := tc.n; line > 0; line-- {
			r.add(RecordError{File: "f", Line: line, Code: "unknown_format", Message: "not known"}, true)
		}
		r.cut("f", tc.whole)
		got := r.List()
		if len(got) != tc.entries || got[len(got)-1].Message != tc.message {
			t.Errorf("%s: %d entries, the last: %v", tc.name, len(got), got[len(got)-1])
		}
	}
	var mixed Refusals
	for line := range int64(20) {
		code := []string{"bad_json", "unknown_format"}[line%2]
		mixed.add(RecordError{File: "f", Line: line + 1, Code: code, Message: code}, true)
	}
	mixed.cut("f", 20)
	got := mixed.List()
	if len(got) != 1 || got[0].Code != NoLog || got[0].Codes["bad_json"] != 10 || !strings.Contains(got[0].Message, "(bad_json 10, unknown_format 10)") {
		t.Errorf("two codes: %v", got)
	}
}

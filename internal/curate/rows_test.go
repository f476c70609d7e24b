package curate

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// TestRowFile: rows come back whole, in whatever order they are put and asked for, and may be
// changed; nothing stays on the disk.
func TestRowFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := newRowFile()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]byte{}
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			id := rapid.StringMatching(`[a-c]{1,2}`).Draw(t, "run")
			if rapid.Bool().Draw(t, "put") {
				want[id] = bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "row"), rapid.SampledFrom([]int{1, 200_000}).Draw(t, "times"))
				if err := r.put(id, want[id]); err != nil {
					t.Fatal(err)
				}
			}
			row, err := r.get(id)
			if err != nil || !bytes.Equal(row, want[id]) || (row == nil) != (want[id] == nil) {
				t.Fatalf("%s: %d bytes, want %d, %v", id, len(row), len(want[id]), err)
			}
			_ = append(row, "more"...)
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(r.file.Name()); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s is left: %v", r.file.Name(), err)
		}
	})
}

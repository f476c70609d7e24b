package ingest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// TestSpool draws records with and without slots, and room for a few: what is kept is the
// greatest of each slot, byte by byte, whatever had to go to the file.
func TestSpool(t *testing.T) {
	f := &format.Format{ID: "f"}
	rapid.Check(t, func(t *rapid.T) {
		s := spool{memory: rapid.Int64Range(1, 200).Draw(t, "memory")}
		defer s.close()
		n := rapid.IntRange(1, 30).Draw(t, "records")
		all := rapid.Bool().Draw(t, "all")
		type want struct {
			order float64
			file  string
		}
		best, kept := map[string]want{}, map[string]bool{}
		for i := range n {
			file := fmt.Sprintf("%02d", i)
			note := format.Note{Value: i, Attempt: rapid.Bool().Draw(t, "attempt"), Order: float64(rapid.IntRange(0, 3).Draw(t, "order"))}
			if slot := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "slot"); slot != "" {
				note.Slot, note.Attempt = slot, slot == "a"
			}
			note.Informs = note.Slot == "" && rapid.Bool().Draw(t, "informs")
			rec := format.Record{File: file, Data: []byte(strings.Repeat(file, i))}
			if err := s.add(f, rec, note, all, nil); err != nil {
				t.Fatal(err)
			}
			switch w, taken := best[note.Slot]; {
			case note.Informs:
			case note.Slot == "" || all && note.Attempt:
				kept[file] = true
			case !taken || note.Order >= w.order:
				delete(kept, w.file)
				kept[file] = true
				best[note.Slot] = want{note.Order, file}
			}
			if s.held > s.memory {
				t.Fatalf("%d bytes in memory, %d allowed", s.held, s.memory)
			}
		}
		for i := range s.parts {
			p := &s.parts[i]
			if p.part.Kept != kept[p.part.File] {
				t.Fatalf("%s is kept: %v", p.part.File, p.part.Kept)
			}
			if !p.part.Kept {
				if p.data != nil {
					t.Fatalf("%s: bytes of a dropped record", p.part.File)
				}
				continue
			}
			rec, err := s.record(p)
			if err != nil || string(rec.Data) != strings.Repeat(p.part.File, i) {
				t.Fatalf("%s: %q, %v", p.part.File, rec.Data, err)
			}
		}
	})
}

func TestSpoolLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := spool{memory: 1}
	if err := s.add(&format.Format{}, format.Record{Data: []byte("text")}, format.Note{}, false, nil); err != nil {
		t.Fatal(err)
	}
	s.close()
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("left: %v %v", list, err)
	}
	t.Setenv("TMPDIR", dir+"/missing")
	s = spool{memory: 1}
	if err := s.add(&format.Format{}, format.Record{Data: []byte("text")}, format.Note{}, false, nil); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("error %v", err)
	}
}

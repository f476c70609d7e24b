package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// spoolMemory is how many bytes of parts wait in memory; beyond it they wait in a temporary
// file.
const spoolMemory = 64 << 20

// spool keeps the records of runs that are spread over several until their source has
// ended. It holds memory bytes of them, one record, and the notes.
type spool struct {
	memory int64 // 0 for spoolMemory

	mu    sync.Mutex
	parts []spooled
	slots map[string]int // part that holds a slot
	held  int64          // bytes in memory
	file  *output.Spill  // nil until memory was full
	end   int64          // of the file
}

type spooled struct {
	format   string // its id
	part     format.Part
	order    float64
	informs  bool
	sha256   string
	warnings []trajectory.Warning
	size     int64
	data     []byte // nil when it is in the file
	at       int64  // in the file
}

// add keeps a record. With all set, attempts do not take each other's slot.
func (s *spool) add(f *format.Format, rec format.Record, note format.Note, all bool, warnings []trajectory.Warning) error {
	p := spooled{
		format: f.ID, order: note.Order, sha256: rec.SHA256, warnings: warnings, size: int64(len(rec.Data)),
		part: format.Part{File: rec.File, Line: rec.Line, Note: note.Value, Kept: !note.Informs}, informs: note.Informs,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if note.Slot != "" && !(all && note.Attempt) {
		if s.slots == nil {
			s.slots = map[string]int{}
		}
		slot := f.ID + "\x00" + note.Slot
		if before, taken := s.slots[slot]; !taken {
			s.slots[slot] = len(s.parts)
		} else if compareSlot(&s.parts[before], &p) > 0 {
			p.part.Kept = false
		} else {
			s.slots[slot] = len(s.parts)
			s.drop(&s.parts[before])
		}
	}
	if p.part.Kept {
		p.data = slices.Clone(rec.Data)
		s.held += p.size
	}
	s.parts = append(s.parts, p)
	if s.held <= cmp.Or(s.memory, spoolMemory) {
		return nil
	}
	return s.flush()
}

func compareSlot(a, b *spooled) int { return cmp.Or(cmp.Compare(a.order, b.order), comparePlace(a, b)) }

func comparePlace(a, b *spooled) int {
	return cmp.Or(cmp.Compare(a.part.File, b.part.File), cmp.Compare(a.part.Line, b.part.Line))
}

func (s *spool) drop(p *spooled) {
	s.held -= int64(len(p.data))
	p.data, p.part.Kept = nil, false
}

// flush moves what is in memory to the file.
func (s *spool) flush() error {
	if s.file == nil {
		var err error
		if s.file, err = output.NewSpill(""); err != nil {
			return fmt.Errorf("runs that are spread over several files wait in a temporary file: %w", err)
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.data == nil {
			continue
		}
		if _, err := s.file.WriteAt(p.data, s.end); err != nil {
			return s.file.Failed(err)
		}
		p.at, p.data = s.end, nil
		s.end += p.size
	}
	s.held = 0
	return nil
}

// record returns a part as it was read.
func (s *spool) record(p *spooled) (format.Record, error) {
	rec := format.Record{File: p.part.File, Line: p.part.Line, SHA256: p.sha256, Data: p.data}
	if rec.Data == nil {
		rec.Data = make([]byte, p.size)
		if _, err := s.file.ReadAt(rec.Data, p.at); err != nil {
			return rec, s.file.Failed(err)
		}
	}
	rec.Probe = format.NewProbe(rec.File, rec.Data)
	return rec, nil
}

func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// assemble reads the runs that are spread over several records.
func (s *sourceReader) assemble(ctx context.Context) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(max(s.opt.Jobs, 1))
	for i := range s.formats {
		f := &s.formats[i]
		var mine []*spooled
		for j := range s.parts.parts {
			if p := &s.parts.parts[j]; p.format == f.ID {
				mine = append(mine, p)
			}
		}
		if f.Parts == nil || len(mine) == 0 {
			continue
		}
		slices.SortFunc(mine, comparePlace)
		parts := make([]format.Part, len(mine))
		for j, p := range mine {
			parts[j] = p.part
		}
		taken := make([]bool, len(mine))
		for _, run := range f.Parts.Plan(parts) {
			var size int64
			members := make([]*spooled, len(run.Parts))
			for j, n := range run.Parts {
				members[j], taken[n] = mine[n], true
				size += mine[n].size
			}
			size = min(size, inFlight)
			if err := s.weight.Acquire(inner, size); err != nil {
				break // the group has failed, or the call was cancelled
			}
			group.Go(func() error {
				defer s.weight.Release(size)
				return s.assembleRun(run, members)
			})
		}
		for j, ok := range taken {
			switch {
			case ok || mine[j].informs:
			case mine[j].part.Kept:
				s.skip("part of no run")
			default:
				s.skip("superseded by a later record of its run")
			}
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

func (s *sourceReader) assembleRun(run format.Run, members []*spooled) error {
	records := make([]format.Record, len(members))
	var warnings []trajectory.Warning
	sum := sha256.New()
	for i, p := range members {
		var err error
		if records[i], err = s.parts.record(p); err != nil {
			return err
		}
		warnings = append(warnings, p.warnings...)
		sum.Write([]byte(p.sha256 + "\n"))
	}
	rec := format.Record{File: run.File, Line: run.Line, SHA256: hex.EncodeToString(sum.Sum(nil))}
	if len(records) == 1 {
		rec.SHA256 = records[0].SHA256
	}
	items, err := run.Read(records)
	if err != nil {
		s.reject(rec, err, false)
		return nil
	}
	data := make([][]byte, len(records))
	for i := range records {
		data[i] = records[i].Data
	}
	account(items, data...)
	return s.emitAll(rec, items, warnings, len(records) > 1)
}

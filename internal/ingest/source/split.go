package source

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// Chunk is the text of one record.
type Chunk struct {
	Line int64  // 1-based line, 0 when the file is the record
	Data []byte // as it stands in the file, without the line's end
}

// Split cuts a file into records: one per line for JSON Lines, one for the whole file
// otherwise. A file is JSON Lines by its name, or when its first line is a whole JSON
// object and more text follows. Blank lines are no records.
//
// A Parquet file gives its rows as JSON, with the row's number as line. It is held while it
// is read, in a temporary file when it is large. One without a column that may hold a run
// gives a *SkipError.
//
// When joined, which may be nil, says so of the first line, the lines of a JSON Lines file
// are one record.
//
// fresh returns an empty buffer to fill; yield owns the chunk's data. Records above
// maxBytes are refused and skipped without being held.
//
// When the records were cut out of the file, or it was too large, the returned Whole
// identifies the file; otherwise it is nil, since the file is the chunk. A failing body
// gives a *BrokenError.
func Split(f File, maxBytes int64, joined func(first []byte) bool, fresh func() []byte, yield func(Chunk) error, refuse func(format.RecordError)) (*Whole, error) {
	s := splitter{file: f, max: maxBytes, hash: sha256.New(), fresh: fresh, yield: yield, refuse: refuse}
	if f.Kind == Parquet {
		return s.parquet()
	}
	buf := fresh()
	if f.Kind != Lines {
		buf = s.sized(buf)
	}
	if f.Kind == Table || f.Kind == Text {
		return s.document(buf)
	}
	buf, more, over, err := s.line(buf)
	if err != nil {
		line := int64(0)
		if f.Kind == Lines {
			line = 1
		}
		return nil, &BrokenError{Line: line, Err: err}
	}
	switch {
	case s.isLines(buf, more, over):
		if !over && joined != nil && joined(bytes.TrimPrefix(buf, []byte(bom))) {
			return s.document(buf)
		}
		return s.lines(buf, more, over)
	case over:
		return s.drain()
	}
	return s.document(buf)
}

// Whole identifies a file by its content.
type Whole struct {
	SHA256 string // hex
	Bytes  int64
}

type splitter struct {
	file   File
	max    int64
	hash   hash.Hash
	n      int64 // bytes hashed
	fresh  func() []byte
	yield  func(Chunk) error
	refuse func(format.RecordError)
}

func (s *splitter) digest(p []byte) {
	s.hash.Write(p)
	s.n += int64(len(p))
}

func (s *splitter) whole() *Whole {
	return &Whole{SHA256: hex.EncodeToString(s.hash.Sum(nil)), Bytes: s.n}
}

// sized grows an empty buffer so that a file of ordinary size fits without a copy. The
// size comes from the source and is not to be trusted with more. Powers of two make
// buffers fit for the next file.
func (s *splitter) sized(buf []byte) []byte {
	want := uint(min(max(s.file.Size, 64<<10), s.max, 16<<20))
	return slices.Grow(buf, 1<<bits.Len(want))
}

// line appends the next line, its end included, to buf. more is false at the end of the
// file. over is true when the line is longer than the limit: it was skipped and buf holds
// its beginning.
func (s *splitter) line(buf []byte) (line []byte, more, over bool, err error) {
	for {
		part, err := s.file.Body.ReadSlice('\n')
		if over || int64(len(buf)+len(part)) > s.max+2 { // 2 for the line's end
			if !over {
				over = true
				s.digest(buf)
				buf = buf[:min(len(buf), 64)]
			}
			s.digest(part)
		} else {
			buf = append(buf, part...)
		}
		switch err {
		case nil:
			return buf, true, over, nil
		case bufio.ErrBufferFull:
		case io.EOF:
			return buf, false, over, nil
		default:
			return buf, false, over, err
		}
	}
}

// isLines decides by the first line.
func (s *splitter) isLines(first []byte, more, over bool) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(first, []byte(bom)))
	if s.file.Kind == Lines {
		return string(text) != "{" && string(text) != "["
	}
	if over || !more || len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' || !format.Complete(text) {
		return false
	}
	return s.followed()
}

// followed reports whether anything but blanks follows within the buffer's reach.
func (s *splitter) followed() bool {
	for n := 1; ; n *= 2 {
		ahead, err := s.file.Body.Peek(min(n, bufferSize))
		if len(bytes.TrimSpace(ahead)) > 0 {
			return true
		}
		if err != nil || n >= bufferSize {
			return false
		}
	}
}

func (s *splitter) lines(buf []byte, more, over bool) (*Whole, error) {
	found := false
	for n := int64(1); ; n++ {
		if !over {
			s.digest(buf)
		}
		text := bytes.TrimRight(buf, "\r\n")
		switch blank := bytes.TrimSpace(text); {
		case over:
			found = true
			s.refuse(s.tooLarge(n))
			buf = buf[:0]
		case len(blank) == 0 || string(blank) == bom:
			buf = buf[:0]
		default:
			found = true
			if err := s.yield(Chunk{Line: n, Data: text}); err != nil {
				return nil, err
			}
			buf = s.fresh()
		}
		if !more {
			break
		}
		var err error
		if buf, more, over, err = s.line(buf); err != nil {
			return nil, &BrokenError{Line: n + 1, Err: err}
		}
	}
	if !found {
		s.refuse(s.empty())
	}
	return s.whole(), nil
}

// document reads the rest of the file behind what buf holds.
func (s *splitter) document(buf []byte) (*Whole, error) {
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(64<<10, len(buf)))
		}
		n, err := s.file.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > s.max {
			s.digest(buf)
			return s.drain()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, &BrokenError{Err: err}
		}
	}
	if text := bytes.TrimSpace(buf); len(text) == 0 || string(text) == bom {
		s.refuse(s.empty())
		s.digest(buf)
		return s.whole(), nil
	}
	return nil, s.yield(Chunk{Data: buf})
}

// drain skips the rest of a file that is too large.
func (s *splitter) drain() (*Whole, error) {
	n, err := io.Copy(s.hash, s.file.Body)
	if err != nil {
		return nil, &BrokenError{Err: err}
	}
	s.n += n
	s.refuse(s.tooLarge(0))
	return s.whole(), nil
}

func (s *splitter) tooLarge(line int64) format.RecordError {
	return format.RecordError{
		File: s.file.Path, Line: line, Code: "record_too_large",
		Message: fmt.Sprintf("the record is larger than %d bytes and was not read", s.max),
		Hint:    "raise --max-record-bytes if there is memory for it",
	}
}

func (s *splitter) empty() format.RecordError {
	return format.RecordError{
		File: s.file.Path, Code: "empty_file", Message: "holds no record", Hint: "write it again, or take it out of the source",
	}
}

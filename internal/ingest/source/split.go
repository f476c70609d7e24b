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
// joined, which may be nil, is asked about the first lines of a JSON Lines file that are not
// blank until it decides: whether all of its lines are one record.
//
// fresh returns an empty buffer to fill; yield owns the chunk's data. Records above
// maxBytes are refused and skipped without being held.
//
// When the records were cut out of the file, or it was too large, the returned Whole
// identifies the file; otherwise it is nil, since the file is the chunk. A failing body
// gives a *BrokenError.
func Split(f File, maxBytes int64, joined func(line []byte) Joint, fresh func() []byte, yield func(Chunk) error, refuse func(format.RecordError)) (*Whole, error) {
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
	n := int64(1)
	for ; err == nil && f.Kind != Lines && more && !over && n < lookLines && isBlank(buf); n++ {
		s.blank = int64(len(buf))
		buf, more, over, err = s.line(buf)
	}
	if err != nil {
		line := int64(0)
		if f.Kind == Lines {
			line = n
		}
		return nil, &BrokenError{Line: line, Err: err}
	}
	s.blank = 0
	switch {
	case s.isLines(buf, more, over):
		if !over && joined != nil && s.joined(&buf, joined) {
			return s.document(buf)
		}
		return s.lines(n, buf, more, over)
	case over:
		return s.drain()
	}
	return s.document(buf)
}

// Joint says whether the lines of a file are one record.
type Joint uint8

// The answers about a line.
const (
	Undecided Joint = iota // the line does not tell: the next one may
	Apart                  // each line is a record
	Joined                 // all lines are one record
)

// The first lines of a file that are looked at to tell what it is.
const (
	lookLines = 1000
	lookBytes = 8 << 20
)

// joined asks about the lines one by one. When they are one record, those that were looked at
// are added to buf, which holds the first; else they are read again.
func (s *splitter) joined(buf *[]byte, ask func(line []byte) Joint) bool {
	joint := Undecided
	if !isBlank(*buf) {
		joint = ask(bytes.TrimPrefix(*buf, []byte(bom)))
	}
	if joint != Undecided {
		return joint == Joined
	}
	var ahead []byte
	var err error
	for n := 0; n < lookLines && len(ahead) < lookBytes && err == nil; n++ {
		start := len(ahead)
		for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull && len(ahead) < lookBytes; {
			var part []byte
			part, err = s.file.Body.ReadSlice('\n')
			ahead = append(ahead, part...)
		}
		if line := ahead[start:]; !isBlank(line) {
			joint = ask(line)
		}
		if joint != Undecided {
			break
		}
	}
	if joint == Joined {
		*buf = append(*buf, ahead...)
		return true
	}
	s.file.Body = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(ahead), s.file.Body), bufferSize)
	return false
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(bytes.TrimPrefix(line, []byte(bom)))) == 0 }

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
	blank  int64 // bytes of the blank lines before the line that is read
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
		if over || int64(len(buf)+len(part)) > s.max+2+s.blank { // 2 for the line's end
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

// lines reads a file by its lines; buf holds line n, and the blank ones before.
func (s *splitter) lines(n int64, buf []byte, more, over bool) (*Whole, error) {
	found := false
	for ; ; n++ {
		if !over {
			s.digest(buf)
		}
		text := bytes.TrimRight(buf, "\r\n")
		text = text[bytes.LastIndexByte(text, '\n')+1:]
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
		Hint:    "raise option max-record-bytes if there is memory for it",
	}
}

func (s *splitter) empty() format.RecordError {
	return format.RecordError{
		File: s.file.Path, Code: "empty_file", Message: "holds no record", Hint: "write it again, or take it out of the source",
	}
}

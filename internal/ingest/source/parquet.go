package source

import (
	"bytes"
	"fmt"
	"io"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/parquetrows"
	"github.com/agentlens-bench/agentlens/internal/output"
)

// heldParquet is the largest Parquet file that is held in memory: its rows are found from its
// end, so it can't be read as it comes.
const heldParquet = 64 << 20

// parquet cuts a Parquet file into rows.
func (s *splitter) parquet() (*Whole, error) {
	held, done, err := s.hold()
	if err != nil {
		return nil, err
	}
	defer done()
	f, err := parquetrows.Open(held, s.n)
	if err != nil {
		s.refuse(s.badParquet(err))
		return s.whole(), nil
	}
	if !f.Has("messages", "trajectory", "conversations", "conversation", "history", "content") {
		return nil, &SkipError{Reason: "data file in another format (.parquet)"}
	}
	var yielded error
	err = f.Rows(s.fresh, func(row int64, json []byte) error {
		if int64(len(json)) > s.max {
			s.refuse(s.tooLarge(row))
			return nil
		}
		yielded = s.yield(Chunk{Line: row, Data: json})
		return yielded
	})
	switch {
	case yielded != nil:
		return nil, yielded
	case err != nil:
		s.refuse(s.badParquet(err))
	}
	return s.whole(), nil
}

// hold takes the whole body; done gives it back.
func (s *splitter) hold() (held io.ReaderAt, done func(), err error) {
	var buf bytes.Buffer
	body := io.TeeReader(s.file.Body, s.hash)
	if s.n, err = io.CopyN(&buf, body, heldParquet); err == io.EOF {
		return bytes.NewReader(buf.Bytes()), func() {}, nil
	}
	if err != nil {
		return nil, nil, &BrokenError{Err: err}
	}
	spool, err := output.NewSpill("")
	if err != nil {
		return nil, nil, fmt.Errorf("a Parquet file of more than %d bytes waits in a temporary file: %w", heldParquet, err)
	}
	done = func() { spool.Close() }
	if _, err := spool.Write(buf.Bytes()); err != nil {
		done()
		return nil, nil, spool.Failed(err)
	}
	w := &spoolWriter{file: spool}
	n, err := io.Copy(w, body)
	s.n += n
	switch {
	case w.failed != nil:
		done()
		return nil, nil, spool.Failed(w.failed)
	case err != nil:
		done()
		return nil, nil, &BrokenError{Err: err}
	}
	return spool, done, nil
}

// spoolWriter tells a failure of the temporary file from one of the body.
type spoolWriter struct {
	file   *output.Spill
	failed error
}

func (w *spoolWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.failed = err
	return n, err
}

func (s *splitter) badParquet(err error) format.RecordError {
	return format.RecordError{
		File: s.file.Path, Code: "bad_parquet",
		Message: fmt.Sprintf("the Parquet file can't be read to its end: %v; rows before are kept", err),
		Hint:    "fetch or write the file again",
	}
}

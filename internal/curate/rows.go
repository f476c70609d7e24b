package curate

import (
	"bufio"

	"github.com/agentlens-bench/agentlens/internal/output"
)

// rowFile keeps the rows of a set in a temporary file until it is known which runs are taken.
type rowFile struct {
	file *output.Spill
	w    *bufio.Writer
	end  int64
	at   map[string]span // by run
}

type span struct{ from, bytes int64 }

func newRowFile() (*rowFile, error) {
	f, err := output.NewSpill("")
	if err != nil {
		return nil, err
	}
	return &rowFile{file: f, w: bufio.NewWriterSize(f, 1<<20), at: map[string]span{}}, nil
}

// put adds the row of a run.
func (r *rowFile) put(id string, row []byte) error {
	n, err := r.w.Write(row)
	r.at[id] = span{r.end, int64(n)}
	r.end += int64(n)
	return err
}

// get reads back the row of a run, nil when there is none.
func (r *rowFile) get(id string) ([]byte, error) {
	at, ok := r.at[id]
	if !ok {
		return nil, nil
	}
	if err := r.w.Flush(); err != nil {
		return nil, err
	}
	row := make([]byte, at.bytes, at.bytes+1) // for the end of the line
	_, err := r.file.ReadAt(row, at.from)
	return row, err
}

func (r *rowFile) close() error { return r.file.Close() }

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
)

// chunkRows is the number of rows written at a time: one multi-row INSERT, one write to each
// Parquet column.
const chunkRows = 64

// Writer writes a dataset. Its methods are called from one goroutine.
type Writer struct {
	dir    string
	tables map[[2]string]*tableWriter // by table and profile
	order  []*tableWriter
	sqlite *sqliteWriter

	batches chan batch
	chunks  chan chunk
	done    sync.WaitGroup
	failed  context.Context // done after the first error, which is its cause
	fail    context.CancelCauseFunc
	closed  bool
}

// tableWriter is one part being written. All but insert belongs to the goroutine that
// encodes; insert belongs to the one that loads SQLite.
type tableWriter struct {
	part
	parquet *parquetWriter
	digest  *digester
	cells   []value // of the rows of the chunk being filled
	insert  *inserter
	free    chan []value // chunks to fill again
}

type batch struct {
	table *tableWriter
	rows  reflect.Value // a slice of the row struct
}

type chunk struct {
	table *tableWriter
	cells []value
}

// Create begins a dataset in the folder dir, which exists and holds none, with the tables of
// these profiles. The caller ends it with Finish or gives it up with Close; until then dir
// holds a scratch folder.
func Create(dir string, profiles []string) (*Writer, error) {
	parts, err := partsOf(profiles)
	if err != nil {
		return nil, err
	}
	for _, sub := range append([]string{""}, profiles...) {
		if err := os.MkdirAll(filepath.Join(dir, dataName, sub), 0o755); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, scratchName), 0o755); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	w := &Writer{
		dir:     dir,
		tables:  map[[2]string]*tableWriter{},
		batches: make(chan batch, 16),
		chunks:  make(chan chunk, 16),
	}
	w.failed, w.fail = context.WithCancelCause(context.Background())
	if w.sqlite, err = newSQLiteWriter(DBPath(dir), filepath.Join(dir, scratchName, "load.db"), profiles); err != nil {
		os.RemoveAll(filepath.Join(dir, scratchName))
		return nil, err
	}
	for _, p := range parts {
		pw, err := newParquetWriter(dir, p)
		if err != nil {
			w.giveUp()
			return nil, err
		}
		t := &tableWriter{
			part:    p,
			parquet: pw,
			digest:  newDigester(p.variant),
			insert:  newInserter(w.sqlite, p),
			free:    make(chan []value, 4),
		}
		w.tables[[2]string{p.table.Name, p.profile}] = t
		w.order = append(w.order, t)
	}
	w.done.Go(w.encode)
	w.done.Go(w.load)
	return w, nil
}

// Append adds rows, a slice of the table's row struct, to a table; profile is "" for a shared
// one. Rows are in the order the package comment asks for. The writer keeps the slice: the
// caller must not change it afterwards. The error may be that of an earlier call.
func (w *Writer) Append(table, profile string, rows any) error {
	t := w.tables[[2]string{table, profile}]
	if t == nil {
		return fmt.Errorf("store: no table %q in profile %q", table, profile)
	}
	v := reflect.ValueOf(rows)
	if want := reflect.SliceOf(t.variant.Row); v.Type() != want {
		return fmt.Errorf("store: rows of %s are %s, not %T", t, want, rows)
	}
	if v.Len() == 0 {
		return nil
	}
	select {
	case <-w.failed.Done():
		return context.Cause(w.failed)
	case w.batches <- batch{t, v}:
		return nil
	}
}

// Finish writes out what is left and returns what every table holds: shared tables first,
// in the order of schema.Tables. The caller flushes the files to the disk. After an error the folder holds no dataset.
func (w *Writer) Finish() ([]TableStat, error) {
	w.closed = true
	close(w.batches)
	w.done.Wait()
	if err := context.Cause(w.failed); err != nil {
		w.giveUp()
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(w.dir, scratchName)); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	stats := make([]TableStat, len(w.order))
	for i, t := range w.order {
		stats[i] = TableStat{Table: t.table.Name, Profile: t.profile, Rows: t.digest.rows, Digest: t.digest.sum()}
	}
	return stats, nil
}

// Close gives up a dataset that was not finished and removes its scratch folder; the folder's
// other files are the caller's to remove. After Finish it does nothing.
func (w *Writer) Close() {
	if w.closed {
		return
	}
	w.closed = true
	w.fail(errors.New("store: the writer was closed"))
	close(w.batches)
	w.done.Wait()
	w.giveUp()
}

func (w *Writer) giveUp() {
	for _, t := range w.order {
		t.insert.close()
	}
	w.sqlite.conn.Close()
	os.RemoveAll(filepath.Join(w.dir, scratchName))
}

// encode checks rows, hashes them, writes them to Parquet and hands them on to load.
func (w *Writer) encode() {
	defer close(w.chunks)
	err := func() error {
		for b := range w.batches {
			for i := range b.rows.Len() {
				if err := w.add(b.table, b.rows.Index(i)); err != nil {
					return err
				}
			}
		}
		for _, t := range w.order {
			if err := w.endChunk(t); err != nil {
				return err
			}
			if w.failed.Err() != nil {
				return nil
			}
			if err := t.parquet.finish(); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		w.fail(err)
	}
}

func (w *Writer) add(t *tableWriter, row reflect.Value) error {
	columns := t.variant.Columns
	if t.cells == nil {
		select {
		case t.cells = <-t.free:
		default:
			t.cells = make([]value, 0, chunkRows*len(columns))
		}
	}
	n := len(t.cells)
	t.cells = t.cells[:n+len(columns)]
	cells := t.cells[n:]
	readRow(row, columns, cells)
	for i, v := range cells {
		if reason := checkCell(&columns[i], v); reason != "" {
			return fmt.Errorf("store: table %s, row %s, column %s: %s", t, showKey(columns, t.digest.key, cells), columns[i].Name, reason)
		}
	}
	size, err := t.digest.add(cells)
	if err != nil {
		return fmt.Errorf("store: table %s: %w", t, err)
	}
	t.parquet.bytes += size
	if t.parquet.bytes >= rowGroupBytes {
		if err := w.endChunk(t); err != nil {
			return err
		}
		return t.parquet.endRowGroup()
	}
	if len(t.cells) == cap(t.cells) {
		return w.endChunk(t)
	}
	return nil
}

// endChunk writes the chunk being filled to Parquet and hands it on to load.
func (w *Writer) endChunk(t *tableWriter) error {
	if len(t.cells) == 0 {
		return nil
	}
	if err := t.parquet.write(t.cells); err != nil {
		return err
	}
	select {
	case <-w.failed.Done():
		return context.Cause(w.failed)
	case w.chunks <- chunk{t, t.cells}:
		t.cells = nil
		return nil
	}
}

// load inserts chunks into SQLite and finishes its file.
func (w *Writer) load() {
	err := func() error {
		for c := range w.chunks {
			if err := c.table.insert.insert(c.cells); err != nil {
				return err
			}
			select {
			case c.table.free <- c.cells[:0]:
			default:
			}
		}
		if w.failed.Err() != nil {
			return nil
		}
		for _, t := range w.order {
			t.insert.close()
		}
		return w.sqlite.finish()
	}()
	if err != nil {
		w.fail(err)
	}
}

package tabular

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Input says where rows come from.
type Input struct {
	// Path is a dataset folder, a file (SQLite, Parquet or CSV, told apart by their first
	// bytes), or "-" for CSV on Stdin.
	Path    string
	Stdin   io.Reader
	Profile string   // of a dataset folder; "" is the first it was built with
	Query   string   // SQL query on a dataset folder or a SQLite file; "" is a row per run
	Where   string   // SQL condition on the input's columns; "" for all rows
	Missing []string // cells of a CSV file that hold no value, besides the empty one
}

// Load reads the wanted columns, all for nil, of the rows for which the condition holds.
// An unknown column is an error wrapping [ErrNoColumn] that names the nearest ones.
func Load(ctx context.Context, in Input, wanted []string) (*Frame, error) {
	if in.Path == "-" {
		if err := in.onlyFile("CSV from standard input"); err != nil {
			return nil, err
		}
		if f, ok := in.Stdin.(*os.File); ok {
			in.Stdin = sidefile.Reader(ctx, f)
		}
		return loadCSV(ctx, in, in.Stdin, wanted)
	}
	info, err := os.Stat(in.Path)
	var cause *fs.PathError
	if errors.As(err, &cause) {
		return nil, usage.Errorf("", "%s can't be read: %w", in.Path, cause.Err)
	}
	if info.IsDir() {
		var f *Frame
		err := dataset.Read(in.Path, func() (err error) {
			f, err = loadDataset(ctx, in, wanted)
			return err
		})
		return f, err
	}
	if !info.Mode().IsRegular() {
		if err := in.onlyFile("CSV from a pipe"); err != nil {
			return nil, err
		}
		f, err := sidefile.Read(ctx, in.Path)
		if err != nil {
			return nil, err
		}
		return loadCSV(ctx, in, f.Reader(), wanted)
	}
	file, err := sidefile.OpenRegular(in.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	start := make([]byte, 16)
	n, err := io.ReadFull(file, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	switch start = start[:n]; {
	case bytes.Equal(start, []byte("SQLite format 3\x00")):
		return loadSQLite(ctx, in, wanted)
	case bytes.HasPrefix(start, []byte("PAR1")):
		if err := in.onlyFile("a Parquet file"); err != nil {
			return nil, err
		}
		f, err := readParquet(file, wanted, in.Where)
		return filtered(ctx, f, err, in.Where)
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}), bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd}), bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, fmt.Errorf("%s is compressed; unpack it, and give its rows as CSV, on standard input with -", in.Path)
	case bytes.HasPrefix(start, []byte("{")), bytes.HasPrefix(start, []byte("[")):
		return nil, fmt.Errorf("%s looks like JSON; want SQLite, Parquet or CSV", in.Path)
	case bytes.IndexByte(start, 0) >= 0:
		return nil, fmt.Errorf("%s is no text; want SQLite, Parquet or CSV in UTF-8", in.Path)
	}
	if err := in.onlyFile("a CSV file"); err != nil {
		return nil, err
	}
	return loadCSV(ctx, in, file, wanted)
}

// onlyFile refuses parameters that mean nothing for a plain table.
func (in Input) onlyFile(what string) error {
	if in.Query != "" {
		return usage.Errorf("query", "needs SQLite, and this is %s; choose rows with option where", what)
	}
	if in.Profile != "" {
		return usage.Errorf("profile", "needs a dataset folder, and this is %s", what)
	}
	return nil
}

func loadCSV(ctx context.Context, in Input, r io.Reader, wanted []string) (*Frame, error) {
	name := in.Path
	if name == "-" {
		name = "standard input"
	}
	f, err := readCSV(bufio.NewReaderSize(r, 1<<16), name, wanted, in.Where, in.Missing)
	return filtered(ctx, f, err, in.Where)
}

func filtered(ctx context.Context, f *Frame, err error, where string) (*Frame, error) {
	if err != nil || where == "" {
		return f, err
	}
	return f.filter(ctx, where)
}

func loadDataset(ctx context.Context, in Input, wanted []string) (*Frame, error) {
	if in.Query != "" && in.Profile != "" {
		return nil, usage.Errorf("profile", "has no effect on option query; name the profile in the query")
	}
	rel, err := datasetRelation(ctx, in.Path, in.Profile)
	if err != nil {
		return nil, err
	}
	path, err := store.Database(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	conn, err := openSQLite(ctx, path, true)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", in.Path, err)
	}
	defer conn.Close()
	if in.Query != "" {
		if rel, err = queryRelation(ctx, conn, in.Path, in.Query); err != nil {
			return nil, err
		}
	}
	return readSQL(ctx, conn, rel, wanted, in.Where)
}

func loadSQLite(ctx context.Context, in Input, wanted []string) (*Frame, error) {
	if in.Profile != "" {
		return nil, usage.Errorf("profile", "needs a dataset folder; for a SQLite file use option query")
	}
	conn, err := openSQLite(ctx, in.Path, false)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", in.Path, err)
	}
	defer conn.Close()
	rel, err := queryRelation(ctx, conn, in.Path, in.Query)
	if err != nil {
		return nil, err
	}
	return readSQL(ctx, conn, rel, wanted, in.Where)
}

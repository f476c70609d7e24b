package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/cachedir"
	"github.com/agentlens-bench/agentlens/schema"
)

// Database returns the SQLite file of the dataset in dir. A dataset of Parquet files only is
// loaded into one first, which the cache keeps under the digest of the dataset's checksums.
func Database(ctx context.Context, dir string) (string, error) {
	own := DBPath(dir)
	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		return own, err
	}
	sums, err := os.ReadFile(filepath.Join(dir, checksumsName))
	if err != nil {
		return "", fmt.Errorf("store: %s holds no dataset: there is neither %s nor %s", dir, dbName, checksumsName)
	}
	cache, err := cachedir.Path("databases")
	if err != nil {
		return "", fmt.Errorf("store: %s has Parquet files only, which are loaded into SQLite once: %w", dir, err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s", schema.Version, sums)
	path := filepath.Join(cache, hex.EncodeToString(h.Sum(nil))+".db")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	return path, Load(ctx, dir, path)
}

// Load writes the SQLite file of the dataset in dir anew, from its Parquet files: the very
// bytes that the dataset was built with, where it has all tables and columns. Tables without a
// file stay empty. The file appears whole or not at all; one that exists is replaced.
func Load(ctx context.Context, dir, path string) (err error) {
	profiles, err := profilesOf(dir)
	if err != nil {
		return err
	}
	parts, err := partsOf(profiles)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	whole := filepath.Join(scratch, "whole.db")
	w, err := newSQLiteWriter(whole, filepath.Join(scratch, "load.db"), profiles)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := w.loadPart(ctx, dir, p); err != nil {
			return errors.Join(err, w.conn.Close())
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	return os.Rename(whole, path)
}

func (w *sqliteWriter) loadPart(ctx context.Context, dir string, p part) error {
	file, err := openParquet(dir, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer file.close()
	in := newInserter(w, p)
	defer in.close()
	width := len(p.variant.Columns)
	cells := make([]value, chunkRows*width)
	for n := 0; ; {
		err := file.next(cells[n*width : (n+1)*width])
		if err != nil && err != io.EOF {
			return fmt.Errorf("store: %w", err)
		}
		if err == nil {
			n++
		}
		if err == io.EOF || n == chunkRows {
			if err := cmp.Or(ctx.Err(), in.insert(cells[:n*width])); err != nil {
				return err
			}
			n = 0
		}
		if err == io.EOF {
			return nil
		}
	}
}

// profilesOf reads from the manifest which profiles a dataset has, in its order.
func profilesOf(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, fmt.Errorf("store: %s holds no dataset: there is neither %s nor %s", dir, dbName, manifestName)
	}
	var m struct {
		SchemaVersion int64 `json:"schema_version"`
		Parameters    struct {
			Profiles []string `json:"profiles"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("store: %s is damaged: %w", filepath.Join(dir, manifestName), err)
	}
	if m.SchemaVersion != schema.Version {
		return nil, fmt.Errorf("store: %s has version %s of the tables, this program reads version %d", dir, strconv.FormatInt(m.SchemaVersion, 10), schema.Version)
	}
	return m.Parameters.Profiles, nil
}

// Absent lists what the dataset in dir was published without: tables, and columns as
// table.column. A dataset with an SQLite file of its own lacks nothing.
func Absent(dir string) (map[string]bool, error) {
	out := map[string]bool{}
	if _, err := os.Stat(DBPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	profiles, err := profilesOf(dir)
	if err != nil {
		return nil, err
	}
	parts, err := partsOf(profiles)
	if err != nil {
		return nil, err
	}
	for _, t := range schema.Tables() {
		out[t.Name] = true
	}
	for _, p := range parts {
		file, err := openParquet(dir, p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		delete(out, p.table.Name)
		for i, c := range p.variant.Columns {
			if !file.has(i) {
				out[p.table.Name+"."+c.Name] = true
			}
		}
		if err := file.close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

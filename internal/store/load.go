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
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/schema"
)

// ErrDamaged marks a dataset whose files are not those it was made with.
var ErrDamaged = errors.New("the dataset is damaged")

// Database returns the SQLite file of the dataset in dir. A dataset of Parquet files only is
// loaded into one first, which the cache keeps under the digest of the dataset's checksums;
// files that are not as the checksums say are an error wrapping ErrDamaged, so that what the
// cache holds is the dataset.
func Database(ctx context.Context, dir string) (string, error) {
	own := DBPath(dir)
	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		return own, err
	}
	sums, err := os.ReadFile(filepath.Join(dir, checksumsName))
	if _, merr := os.Stat(filepath.Join(dir, manifestName)); err != nil && merr == nil {
		return "", fmt.Errorf("store: %s: %w: %w", dir, ErrDamaged, err)
	}
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
	if err := intact(ctx, dir, sums); err != nil {
		return "", fmt.Errorf("store: %s: %w; copy it again from where it came (agentlens verify lists all that is wrong)", dir, err)
	}
	err = Load(ctx, dir, path)
	if err != nil && !errors.Is(err, ErrDamaged) && ctx.Err() == nil {
		err = fmt.Errorf("%w; if there is no room in %s, set %s to another folder", err, cache, cachedir.Variable)
	}
	return path, err
}

// intact checks what Load reads against the checksums.
func intact(ctx context.Context, dir string, sums []byte) error {
	listed := map[string]bool{}
	for _, line := range checksum.Parse(sums) {
		if line.Path != manifestName && !strings.HasPrefix(line.Path, dataName+"/") {
			continue
		}
		listed[line.Path] = true
		switch sum, _, err := checksum.Of(filepath.Join(dir, filepath.FromSlash(line.Path))); {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s is missing", ErrDamaged, line.Path)
		case err != nil:
			return err
		case sum != line.SHA256:
			return fmt.Errorf("%w: %s is not as %s says", ErrDamaged, line.Path, checksumsName)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	names := []string{manifestName}
	err := filepath.WalkDir(filepath.Join(dir, dataName), func(path string, e fs.DirEntry, err error) error {
		if err == nil && checksum.Hidden(e) {
			return checksum.Skip(e)
		}
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	for _, name := range names {
		if err == nil && !listed[name] {
			return fmt.Errorf("%w: %s is not listed in %s", ErrDamaged, name, checksumsName)
		}
	}
	return err
}

// Load writes the SQLite file of the dataset in dir anew, from its Parquet files: the very
// bytes that the dataset was built with, where it has all tables and columns. Tables without a
// file stay empty. The file appears whole or not at all; one that exists is replaced. Files
// that can't be read, and rows that the tables do not allow, are errors wrapping ErrDamaged.
func Load(ctx context.Context, dir, path string) (err error) {
	profiles, err := profilesOf(dir)
	if err != nil {
		return err
	}
	parts, err := partsOf(profiles)
	if err != nil {
		return err
	}
	scratch, err := output.NewTemp(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() { err = errors.Join(err, scratch.Remove()) }()
	whole := filepath.Join(scratch.Path, "whole.db")
	w, err := newSQLiteWriter(whole, filepath.Join(scratch.Path, "load.db"), profiles)
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
	return output.PutFile(whole, path)
}

func (w *sqliteWriter) loadPart(ctx context.Context, dir string, p part) error {
	file, err := openParquet(dir, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store: %w: %w", ErrDamaged, err)
	}
	defer file.close()
	in := newInserter(w, p)
	defer in.close()
	width := len(p.variant.Columns)
	cells := make([]value, chunkRows*width)
	for n := 0; ; {
		err := file.next(cells[n*width : (n+1)*width])
		if err != nil && err != io.EOF {
			return fmt.Errorf("store: %w: %w", ErrDamaged, err)
		}
		if err == nil {
			n++
		}
		if err == io.EOF || n == chunkRows {
			err := cmp.Or(ctx.Err(), in.insert(cells[:n*width]))
			if refused(err) {
				return fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			if err != nil {
				return err
			}
			n = 0
		}
		if err == io.EOF {
			return nil
		}
	}
}

// refused reports whether SQLite's tables do not allow a row.
func refused(err error) bool {
	var of *sqlite.Error
	return errors.As(err, &of) && of.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}

// profilesOf reads from the manifest which profiles a dataset has, in its order.
func profilesOf(dir string) ([]string, error) {
	m, err := readManifest(dir)
	return m.Parameters.Profiles, err
}

// manifest is what Load needs to know of a dataset.
type manifest struct {
	SchemaVersion int64 `json:"schema_version"`
	Parameters    struct {
		Profiles []string `json:"profiles"`
	} `json:"parameters"`
	Publication struct {
		Without []string `json:"without"`
		Empty   []string `json:"empty"` // table, or table_profile
	} `json:"publication"`
}

func readManifest(dir string) (m manifest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return m, fmt.Errorf("store: %s holds no dataset: there is neither %s nor %s", dir, dbName, manifestName)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("store: %w: %s: %w", ErrDamaged, filepath.Join(dir, manifestName), err)
	}
	if m.SchemaVersion != schema.Version {
		return m, fmt.Errorf("store: %s has version %s of the tables, this program reads version %d", dir, strconv.FormatInt(m.SchemaVersion, 10), schema.Version)
	}
	return m, nil
}

// Absent lists what the dataset in dir was published without: tables, and columns as
// table.column. A dataset with an SQLite file of its own lacks nothing, and a table that had
// no rows is not absent.
func Absent(dir string) (map[string]bool, error) {
	out := map[string]bool{}
	if _, err := os.Stat(DBPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	parts, err := partsOf(m.Parameters.Profiles)
	if err != nil {
		return nil, err
	}
	for _, t := range schema.Tables() {
		out[t.Name] = true
	}
	for _, p := range parts {
		file, err := openParquet(dir, p)
		if errors.Is(err, fs.ErrNotExist) {
			name := strings.TrimSuffix(p.table.Name+"_"+p.profile, "_")
			if slices.Contains(m.Publication.Empty, name) && !slices.Contains(m.Publication.Without, p.table.Name) {
				delete(out, p.table.Name)
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("store: %w: %w", ErrDamaged, err)
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

// ErrAbsent marks what can't be computed from a dataset that was published without some of its
// tables or columns.
var ErrAbsent = errors.New("left out of the dataset")

// Require is an error wrapping ErrAbsent when a query names a table or column that the dataset
// in dir was published without, where SQLite has no rows or nulls.
func Require(dir, query string) error {
	absent, err := Absent(dir)
	if err != nil {
		return err
	}
	if names := Named(absent, query); len(names) > 0 {
		return fmt.Errorf("%w: %s was published without %s, which is needed for this; use the whole dataset", ErrAbsent, dir, strings.Join(names, ", "))
	}
	return nil
}

var word = regexp.MustCompile(`\w+`)

// Named lists the absent tables and columns that a query names, sorted. A view names its
// table; a column counts as that of each table the query names.
func Named(absent map[string]bool, query string) []string {
	words := map[string]bool{}
	for _, w := range word.FindAllString(query, -1) {
		words[w] = true
	}
	for _, t := range schema.Tables() {
		for _, profile := range schema.Profiles() {
			words[t.Name] = words[t.Name] || words[t.Name+"_"+profile]
		}
	}
	var names []string
	for name := range absent {
		if table, column, ok := strings.Cut(name, "."); words[table] && (!ok || words[column]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

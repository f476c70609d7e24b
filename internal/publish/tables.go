package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agentlens-bench/agentlens/internal/parquetfile"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

// tableFile is the file of one table of one profile.
type tableFile struct {
	schema.Table
	Profile  string          // "" for a shared table
	Config   string          // name of the table in the documents, such as features_release
	Path     string          // in the folder
	Present  []schema.Column // in the file
	Rows     int64
	Bytes    int64
	Unpacked int64 // bytes of the pages uncompressed
	SHA256   string
}

// config names a table in the documents, as SQLite's views are named.
func config(table, profile string) string {
	if profile == "" {
		return table
	}
	return table + "_" + profile
}

// key lists the columns of the primary key.
func (t tableFile) key() []string {
	var key []string
	for _, c := range t.Present {
		if c.PK {
			key = append(key, c.Name)
		}
	}
	return key
}

// describe reads what the documents say of a file in the folder root.
func describe(root string, t schema.Table, profile string) (out tableFile, err error) {
	path := store.ParquetPath(root, t.Name, profile)
	name, err := filepath.Rel(root, path)
	if err != nil {
		return out, err
	}
	v, err := t.Variant(profile)
	if err != nil {
		return out, err
	}
	file, err := os.Open(path)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := sha256.New()
	size, err := io.Copy(h, file)
	if err != nil {
		return out, fmt.Errorf("read %s: %w", path, err)
	}
	f, err := parquetfile.Open(file, size)
	if err != nil {
		return out, fmt.Errorf("read %s: %w", path, err)
	}
	at, err := store.ColumnsOf(f.Schema(), v)
	if err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	out = tableFile{
		Table: t, Profile: profile, Config: config(t.Name, profile), Path: filepath.ToSlash(name),
		Rows: f.NumRows(), Bytes: size, SHA256: hex.EncodeToString(h.Sum(nil)),
	}
	for _, i := range at {
		out.Present = append(out.Present, v.Columns[i])
	}
	out.Unpacked = f.Unpacked()
	return out, nil
}

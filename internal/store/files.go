package store

import (
	"fmt"
	"path/filepath"

	"github.com/agentlens-bench/agentlens/schema"
)

const (
	dbName      = "agentlens.db"
	dataName    = "data"
	scratchName = "scratch.tmp"

	// Written by package bench.
	manifestName  = "manifest.json"
	checksumsName = "SHA256SUMS"
)

// DBPath is the SQLite file of the dataset in dir, if it has one; Database finds or makes one.
func DBPath(dir string) string { return filepath.Join(dir, dbName) }

// ParquetPath is the Parquet file of a table; profile is "" for a shared table.
func ParquetPath(dir, table, profile string) string {
	return filepath.Join(dir, dataName, profile, table+".parquet")
}

// TableStat is what a table holds. Profile is "" for a shared table. Digest is the content
// digest in hex, as the package comment defines it.
type TableStat struct {
	Table   string `json:"table"`
	Profile string `json:"profile,omitempty"`
	Rows    int64  `json:"rows"`
	Digest  string `json:"digest"`
}

// part is one Parquet file and the rows of the SQLite table that belong to it.
type part struct {
	table   schema.Table
	profile string
	variant schema.Variant
}

func (p part) String() string {
	if p.profile == "" {
		return p.table.Name
	}
	return p.profile + "/" + p.table.Name
}

// partsOf lists the parts of a dataset with these profiles, shared tables first.
func partsOf(profiles []string) ([]part, error) {
	var parts []part
	for _, profile := range append([]string{""}, profiles...) {
		for _, t := range schema.Tables() {
			if t.PerProfile != (profile != "") {
				continue
			}
			v, err := t.Variant(profile)
			if err != nil {
				return nil, fmt.Errorf("store: %w", err)
			}
			parts = append(parts, part{t, profile, v})
		}
	}
	return parts, nil
}

package ingest

import (
	"context"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// The items of a source; see package format.
type (
	Item        = format.Item
	RecordError = format.RecordError
	Evidence    = format.Evidence
	Rank        = format.Rank
)

// The ranks of evidence, best first.
const (
	RankLabels     = format.RankLabels
	RankReportFile = format.RankReportFile
	RankReport     = format.RankReport
	RankSummary    = format.RankSummary
	RankColumn     = format.RankColumn
	RankMetadata   = format.RankMetadata
	RankFileName   = format.RankFileName
)

// Limits bound what one source may make us hold or expand. Zero means the default.
type Limits struct {
	MaxRecordBytes int64   // one record: a file, or a line of JSON Lines; default 256 MiB
	MaxTotalBytes  int64   // one source, expanded; default 1 TiB
	MaxEntries     int64   // entries of one archive; default 10 million
	MaxRatio       float64 // expanded / compressed bytes of one archive, after the first 64 MiB; default 1,000
}

// Options of Read.
type Options struct {
	Format string // reader to use for every record; "" sniffs
	Labels string // file of outcomes, "" for none
	Limits Limits
	Jobs   int                          // parsing goroutines, at least 1
	Report func(doneBytes, total int64) // progress; total 0 when unknown; may be nil; called from one goroutine
}

// SourceDigest identifies one source by content: the same files in any order, in a folder
// or an archive, give the same digest.
type SourceDigest struct {
	Files  int64  `json:"files"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the sorted lines "<sha256 of file>  <path in source>\n"
}

// Summary is what Read saw.
type Summary struct {
	Sources []SourceDigest   // sorted by digest
	Skipped map[string]int64 // files not read, by reason
}

// Emit receives the items of a source. It is called from many goroutines at once and in
// no fixed order; an error stops the run.
type Emit func(Item) error

// ReadFunc is the shape of Read.
type ReadFunc func(ctx context.Context, sources []string, opt Options, emit Emit) (Summary, error)

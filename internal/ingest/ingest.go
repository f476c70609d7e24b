package ingest

import (
	"context"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// Item is one thing a source yields. Exactly one field is set.
type Item struct {
	Trajectory *trajectory.Trajectory
	Evidence   *Evidence                  // an outcome found outside the trajectory
	Published  *schema.Published          // a row of the release's annotations
	Task       *schema.PublishedTask      // a row of the release's tasks table
	Reference  *schema.PublishedReference // a merged PTA the release ships
	Refused    *RecordError
}

// RecordError is one refused record. It never stops a run.
type RecordError struct {
	File    string // inside the source
	Line    int64  // 1-based, 0 when the format has no lines
	Record  string // id, "" when it could not be read
	Code    string // stable, snake_case
	Message string // what was wrong, what was expected
	Hint    string // the way out
}

// Rank orders evidence for an outcome; a smaller rank wins (formats section 10.4).
type Rank uint8

// The ranks, best first.
const (
	RankLabels     Rank = iota + 1 // --labels FILE
	RankReportFile                 // per-instance report.json
	RankReport                     // test_result.report or report in the record or a companion
	RankSummary                    // lists of a run summary
	RankColumn                     // a dataset column
	RankMetadata                   // PTA metadata.pass_fail_status
	RankFileName                   // -pass- / -fail- in the name
)

// Evidence is a statement about the outcome of the runs that Key names.
type Evidence struct {
	Key     string // trajectory id or instance id
	Model   string // restricts the statement to one model when not empty
	Rank    Rank
	Outcome trajectory.Outcome
	Source  string // short name for outcome_source, such as report.json
	Detail  string // such as empty_patch, infrastructure
	File    string // where it was found
}

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

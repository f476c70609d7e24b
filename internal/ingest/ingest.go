package ingest

import (
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/source"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
)

// The items of a source; see package format.
type (
	Item        = format.Item
	RecordError = format.RecordError
	Evidence    = format.Evidence
	Rank        = format.Rank
	Limits      = source.Limits
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

// WarnUnread is the code of the warning of a run with calls in its log that became no step and
// were not left out for a reason.
const WarnUnread = "calls_unread"

// Options of Read.
type Options struct {
	Format string // reader to use for every record that holds a run; "" sniffs
	Labels string // file of outcomes, "" for none

	Files *sidefile.Set // that has Labels, or will; nil to read it here

	// AllAttempts keeps every attempt at a task that a log numbers; by default only the
	// last one is a run.
	AllAttempts bool

	// Texts keeps whole texts, where trajectories else have beginnings: prompts, answers of
	// tools, closing words.
	Texts bool

	Tools *tools.Table // mapping of foreign tools, nil for the one that ships

	// KeepPaths leaves home directories and the names of users in the records. Secrets and
	// the names of machines are replaced in any case, except in records of the AgentLens
	// release, which are published and compared text by text.
	KeepPaths bool

	Limits Limits
	Jobs   int                          // parsing goroutines, at least 1
	Report func(doneBytes, total int64) // progress; total 0 when unknown; may be nil; called from one goroutine
}

// SourceDigest identifies one source by content: the same files in any order, in a folder
// or an archive, give the same digest. Files that are skipped by their name do not count.
type SourceDigest struct {
	Files  int64  `json:"files"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // see source.Digest
}

// Summary is what Read saw.
type Summary struct {
	Sources []SourceDigest   // sorted by digest
	Skipped map[string]int64 // files not read, by reason

	// Warnings counts what is odd about files, by code; those about runs are theirs.
	Warnings map[string]int64

	// Recognised counts the records of each format by what gave it away, such as
	// "agentlens-release by states + transitions".
	Recognised map[string]int64

	Privacy privacy.Counts // what was replaced in the records, by kind
}

// Emit receives the items of a source. It is called from many goroutines at once and in
// no fixed order; an error stops the run.
type Emit func(Item) error

package format

import (
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// Item is one thing a source yields. Exactly one field is set.
type Item struct {
	Trajectory *trajectory.Trajectory
	Evidence   *Evidence                  // a statement about the outcome of runs
	Published  *schema.Published          // a row of the release's annotations
	Task       *schema.PublishedTask      // a row of the release's tasks table
	Reference  *schema.PublishedReference // a merged PTA the release ships
	Refused    *RecordError
}

// RecordError is one refused record, or several of one file. It never stops a run.
type RecordError struct {
	File    string `json:"file"`            // inside the source
	Line    int64  `json:"line,omitzero"`   // 1-based, 0 when the format has no lines
	Record  string `json:"record,omitzero"` // id, "" when it could not be read
	Code    string `json:"code"`            // stable, snake_case
	Message string `json:"message"`         // what was wrong, what was expected
	Hint    string `json:"hint,omitzero"`   // the way out

	// Of an entry for several records; Line is that of the first.
	Count    int64            `json:"count,omitzero"`     // of records, 0 for one
	LastLine int64            `json:"last_line,omitzero"` // of the last one
	Codes    map[string]int64 `json:"codes,omitempty"`    // records by code, where they were refused for several
}

// Records returns how many records the entry stands for.
func (e *RecordError) Records() int64 { return max(e.Count, 1) }

// AddTo adds the records to counts by code.
func (e *RecordError) AddTo(byCode map[string]int64) {
	if len(e.Codes) == 0 {
		byCode[e.Code] += e.Records()
	}
	for code, n := range e.Codes {
		byCode[code] += n
	}
}

// Error gives the position, the message and the hint in one line.
func (e *RecordError) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	if e.Record != "" {
		text += " (" + e.Record + ")"
	}
	if text != "" {
		text += ": "
	}
	text += e.Message
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Rank orders evidence for an outcome; a smaller rank wins: what the user says
// goes before an evaluation, and that before what a data set or a file's name says.
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

	// Set by the caller of a reader.
	File     string // where it was found, inside its source
	SourceNo int    // 1-based number of its source; 0 when it speaks about the runs of every source
}

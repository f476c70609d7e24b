package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/atif"
	"github.com/agentlens-bench/agentlens/internal/ingest/claudecode"
	"github.com/agentlens-bench/agentlens/internal/ingest/codex"
	"github.com/agentlens-bench/agentlens/internal/ingest/completions"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/gemini"
	"github.com/agentlens-bench/agentlens/internal/ingest/messages"
	"github.com/agentlens-bench/agentlens/internal/ingest/minisweagent"
	"github.com/agentlens-bench/agentlens/internal/ingest/openhands"
	"github.com/agentlens-bench/agentlens/internal/ingest/openhandsv1"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/ingest/release"
	"github.com/agentlens-bench/agentlens/internal/ingest/sweagent"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Formats lists every JSON record that is recognised, in the order they are tried in.
// A new format is one line here.
func Formats() []format.Format { return formatsWith(tools.Default()) }

// formatsWith lists the formats with readers that map tools by the table.
func formatsWith(table *tools.Table) []format.Format {
	return slices.Concat(
		outcome.Formats(),
		release.Formats(),
		atif.Formats(table),
		openhandsv1.Formats(table),
		completions.Formats(table),
		openhands.Formats(),
		minisweagent.Formats(table),
		sweagent.Formats(table),
		claudecode.Formats(table),
		codex.Formats(table),
		gemini.Formats(table),
		messages.Formats(table),
	)
}

// RunFormats lists the formats that hold runs: the values of Options.Format.
func RunFormats() []format.Format {
	return slices.DeleteFunc(Formats(), func(f format.Format) bool { return f.Companion })
}

// table is a kind of CSV file, recognised by its header. Those without read are skipped.
type table struct {
	detect func(header []string) bool
	read   func(format.Record) []Item
	skip   string // the reason
}

func tables() []table {
	return []table{
		{detect: release.IsTrajectoriesHeader, read: release.ReadTrajectories},
		{detect: release.IsTasksHeader, read: release.ReadTasks},
		{detect: outcome.IsLabelsHeader, read: outcome.ReadTable},
		{detect: minisweagent.IsSummaryHeader, skip: "results_summary.csv of mini-SWE-agent, whose outcomes are those of results_summary.json or report.json"},
	}
}

// recognise returns the format of a record and the key that decided, nil when no reader takes it.
func recognise(formats []format.Format, p *format.Probe) (*format.Format, string) {
	for i := range formats {
		if key, ok := formats[i].Detect(p); ok {
			return &formats[i], key
		}
	}
	return nil, ""
}

// forced returns the formats to try when every run is to be read by the one named.
func forced(all []format.Format, id string) ([]format.Format, error) {
	var known []string
	for _, f := range all {
		if f.Companion {
			continue
		}
		if f.ID != id {
			known = append(known, f.ID)
			continue
		}
		if f.Parts == nil {
			f.Read = demanding(f)
		}
		if f.Joined != nil {
			f.Joined = func(*format.Probe) bool { return true }
		}
		f.Detect = func(*format.Probe) (string, bool) { return "--format " + id, true }
		companions := slices.DeleteFunc(slices.Clone(all), func(f format.Format) bool { return !f.Companion })
		return append(companions, f), nil
	}
	return nil, usage.Errorf("", "format %q is not known; known are %s", id, strings.Join(known, ", "))
}

// demanding returns the format's reader, which also refuses records that neither look like
// the format nor hold a step by it.
func demanding(f format.Format) func(format.Record) ([]Item, error) {
	detect, read := f.Detect, f.Read
	return func(rec format.Record) ([]Item, error) {
		items, err := read(rec)
		if err != nil {
			return nil, err
		}
		if _, fits := detect(rec.Probe); fits {
			return items, nil
		}
		for _, item := range items {
			if item.Trajectory == nil || len(item.Trajectory.States) > 1 {
				return items, nil
			}
		}
		return nil, &RecordError{
			Code:    "wrong_format",
			Message: fmt.Sprintf("%s: no step of a run can be read from it as %s", rec.Probe.Seen(), f.ID),
			Hint:    "leave option format out to let the content decide",
		}
	}
}

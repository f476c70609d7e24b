package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/ingest/release"
)

// Formats lists every JSON record that is recognised, in the order they are tried in
// (formats section 1). A new format is one line here.
func Formats() []format.Format {
	return slices.Concat(
		outcome.Formats(),
		release.Formats(),
	)
}

// RunFormats lists the formats that hold runs: the values of Options.Format.
func RunFormats() []format.Format {
	return slices.DeleteFunc(Formats(), func(f format.Format) bool { return f.Companion })
}

// table is a kind of CSV file, recognised by its header.
type table struct {
	detect func(header []string) bool
	read   func(format.Record) []Item
}

func tables() []table {
	return []table{
		{release.IsTrajectoriesHeader, release.ReadTrajectories},
		{release.IsTasksHeader, release.ReadTasks},
		{outcome.IsLabelsHeader, outcome.ReadTable},
	}
}

// Recognise returns the format of a record and the key that decided, or why there is none.
func recognise(formats []format.Format, p *format.Probe) (*format.Format, string) {
	for i := range formats {
		if key, ok := formats[i].Detect(p); ok {
			return &formats[i], key
		}
	}
	return nil, ""
}

// forced returns the formats to try when every run is to be read by the one named.
func forced(id string) ([]format.Format, error) {
	var known []string
	for _, f := range RunFormats() {
		if f.ID != id {
			known = append(known, f.ID)
			continue
		}
		f.Detect = func(*format.Probe) (string, bool) { return "--format " + id, true }
		companions := slices.DeleteFunc(Formats(), func(f format.Format) bool { return !f.Companion })
		return append(companions, f), nil
	}
	return nil, fmt.Errorf("%w: format %q is not known; known are %s", ErrUsage, id, strings.Join(known, ", "))
}

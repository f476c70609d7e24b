// Package sessiontest is what the tests of readers of foreign logs share.
package sessiontest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Read reads a record with the first of the formats that recognises it.
func Read(formats []format.Format, file string, data []byte) ([]format.Item, error) {
	rec := format.Record{File: file, Data: data, Probe: format.NewProbe(file, data)}
	for _, f := range formats {
		if _, ok := f.Detect(rec.Probe); ok {
			return f.Read(rec)
		}
	}
	return nil, fmt.Errorf("%s is not recognised: %s", file, rec.Probe.Seen())
}

// One reads a record that holds one run.
func One(t testing.TB, formats []format.Format, file string, data []byte) *trajectory.Trajectory {
	t.Helper()
	items, err := Read(formats, file, data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(items) == 0 || items[0].Trajectory == nil {
		t.Fatalf("%s: no run", file)
	}
	return items[0].Trajectory
}

// Judged reads a record that holds one run, with what it says about the run's outcome, nil
// for nothing.
func Judged(t testing.TB, formats []format.Format, file string, data []byte) (*trajectory.Trajectory, *format.Evidence) {
	t.Helper()
	items, err := Read(formats, file, data)
	if err != nil {
		t.Fatal(err)
	}
	run := items[0].Trajectory
	var evidence *format.Evidence
	for _, item := range items[1:] {
		evidence = item.Evidence
		if evidence.Key != run.ID {
			t.Errorf("evidence about %q, the run is %q", evidence.Key, run.ID)
		}
	}
	return run, evidence
}

// Summary counts a run's steps by tool, its failed steps and its known exit codes.
func Summary(t *trajectory.Trajectory) string {
	count := map[string]int{}
	failed, codes := 0, 0
	for _, s := range t.States[1:] {
		count[s.Tool]++
		if s.IsError.Or(0) == 1 {
			failed++
		}
		if s.ExitCode.Valid {
			codes++
		}
	}
	var tools []string
	for tool, n := range count {
		tools = append(tools, fmt.Sprintf("%s %d", tool, n))
	}
	slices.Sort(tools)
	return fmt.Sprintf("%s %s %s | %d steps, %d failed, %d codes: %s | %s %v", t.FormatVersion, t.TaskID, t.Model,
		len(t.States)-1, failed, codes, strings.Join(tools, " "), t.ExitStatus, t.Warnings)
}

// Fuzz holds a reader to its word on any record: an error, or whole runs.
func Fuzz(t *testing.T, formats []format.Format, file string, data []byte) {
	for _, f := range formats {
		if f.Read == nil {
			continue
		}
		items, err := f.Read(format.Record{File: file, Data: data, Probe: format.NewProbe(file, data)})
		if err != nil {
			continue
		}
		for _, item := range items {
			if run := item.Trajectory; run != nil && (run.ID == "" || len(run.States) != len(run.Transitions)+1) {
				t.Errorf("%s: run %q with %d states", f.ID, run.ID, len(run.States))
			}
		}
	}
}

// Bench reads a record that holds one run again and again, in MB/s.
func Bench(b *testing.B, formats []format.Format, file string, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		One(b, formats, file, data)
	}
}

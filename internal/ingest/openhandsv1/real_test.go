package openhandsv1_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/readtest"
)

// TestRealRuns reads 36 conversations of a benchmark. Of the 99 editor answers with a member
// error only 26 have a text in it; the others list directories. 7 conversations lack events.
func TestRealRuns(t *testing.T) {
	archive := conformance.Dir(t, "data", "real-runs.tar.zst")
	got := readtest.Read(t, ingest.Options{Jobs: 2}, readtest.Extract(t, archive, "openhands-v1/"))
	if got.Err != nil || len(got.Refused) > 0 || len(got.Summary.Skipped) > 0 {
		t.Fatal(got.Err, got.Refused, got.Summary.Skipped)
	}
	readtest.WantTally(t, got.Runs, `
		runs: 36
		steps: 2323
		tool run_in_terminal: 1221
		tool read_file: 526
		tool list_dir: 73
		tool create_file: 215
		tool replace_string_in_file: 204
		tool think: 84
		errors by exit_code: 355
		errors by flag: 26
		exit 0: 864
		exit 1: 337
		exit 2: 3
		exit 4: 10
		exit 5: 4
		exit 130: 1
		outcome unknown: 36
		condensations: 67
		input tokens: 45914577
		cached tokens: 45906942
		output tokens: 541538
		warning missing_event: 228
		warning skipped_action: 49
		warning stray_observation: 3
		warning temporary_root: 36
	`)
	tasks, gaps := map[string]int{}, 0
	for _, r := range got.Runs {
		tasks[r.TaskID]++
		if r.Model != "litellm_proxy/anthropic/claude-sonnet-4-20250514" || r.Format != "openhands-v1-dir" || r.FormatVersion != "events before 1.3" {
			t.Errorf("%s: %s, %s, %s", r.ID, r.Model, r.Format, r.FormatVersion)
		}
		for _, w := range r.Warnings {
			if w.Code == "missing_event" {
				gaps++
			}
		}
		for i := range r.States {
			if s := &r.States[i]; strings.HasPrefix(s.FilePath, "tmp") && strings.Count(s.FilePath, "/") > 1 {
				t.Errorf("%s: path %q has a temporary root", r.ID, s.FilePath)
			}
		}
	}
	if len(tasks) != 17 || tasks["astropy__astropy-14539"] != 5 || gaps != 7 {
		t.Errorf("%d tasks, %v, %d gaps", len(tasks), tasks, gaps)
	}
}

// TestFixtures reads two conversations and a list of events, from a folder and from a
// shuffled archive, with and without the list of instances.
func TestFixtures(t *testing.T) {
	dir := conformance.Dir(t, "fixtures", "openhands-v1")
	got := readtest.Read(t, ingest.Options{Jobs: 2}, dir)
	if got.Err != nil || len(got.Refused) > 0 {
		t.Fatal(got.Err, got.Refused)
	}
	readtest.WantTally(t, got.Runs, `
		runs: 3
		steps: 46
		tool run_in_terminal: 24
		tool read_file: 14
		tool list_dir: 3
		tool create_file: 2
		tool think: 3
		errors by exit_code: 10
		errors by flag: 1
		exit 0: 13
		exit 1: 10
		outcome unknown: 3
		warning missing_event: 30
		warning stray_observation: 1
		warning task_unknown: 3
		warning temporary_root: 2
	`)
	for seed := range uint64(3) {
		again := readtest.Read(t, ingest.Options{Jobs: 1 + int(seed)}, readtest.Tar(t, dir, seed))
		if !reflect.DeepEqual(again, got) {
			t.Errorf("seed %d: another reading", seed)
		}
	}
	// One conversation alone is the same run under the same id.
	alone := readtest.Read(t, ingest.Options{}, filepath.Join(dir, "b2688296b4844863aaede6f60a88b9da"))
	if len(alone.Runs) != 1 || len(got.Runs) != 3 || alone.Runs[0].ID != "b2688296b4844863aaede6f60a88b9da" || !reflect.DeepEqual(alone.Runs[0].States, got.Runs[0].States) {
		t.Errorf("alone: %v", alone.Err)
	}
}

package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/schema"
)

// benchStates are runs of 30 states with 1,000 bytes of observation each.
func benchStates(n int) []schema.State {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("def self return import error test file assert None line in the of pass class for if not value 0x1f")
	tools := []string{"terminal", "str_replace_editor", "think", "finish"}
	rows := make([]schema.State, n)
	for i := range rows {
		var obs strings.Builder
		for obs.Len() < 1000 {
			obs.WriteString(words[rng.IntN(len(words))])
			fmt.Fprintf(&obs, " %d ", rng.IntN(1000))
		}
		text, tool, stage := obs.String(), tools[rng.IntN(len(tools))], "exploration"
		path, hash := fmt.Sprintf("src/module_%d.py", rng.IntN(500)), fmt.Sprintf("%012x", rng.Uint64()>>16)
		tokens := rng.Int64N(100000)
		rows[i] = schema.State{
			TrajectoryID: fmt.Sprintf("project__project-%05d_model-%d_run", i/30/8, i/30%8), Step: int64(i % 30),
			StateID: fmt.Sprintf("state_%d", i%30), Tool: &tool, RawTool: &tool, Command: &path, FilePath: &path,
			OperationType: &tool, ResultingState: "file_modified:" + path, ContentHash: &hash,
			StageSource: &stage, StageRelease: &stage, InputTokens: &tokens, OutputTokens: &tokens,
			ObservationChars: tokens, ObservationHash: hash + "0000", Observation: &text,
		}
	}
	return rows
}

func benchmarkWrite(b *testing.B, appendAll func(*Writer) error) {
	for b.Loop() {
		w, err := Create(b.TempDir(), []string{"release"})
		if err != nil {
			b.Fatal(err)
		}
		if err := appendAll(w); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Finish(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite50kStates(b *testing.B) {
	states := benchStates(50_000)
	b.ResetTimer()
	benchmarkWrite(b, func(w *Writer) error { return w.Append("states", "", states) })
}

func BenchmarkWrite1MAlignments(b *testing.B) {
	rows := make([]schema.Alignment, 1_000_000)
	for i := range rows {
		n := int64(i % 7)
		rows[i] = schema.Alignment{
			TrajectoryID: fmt.Sprintf("project__project-%05d_model_run", i/100), CandidateStep: int64(i % 100),
			Aligned: i%3 == 0, NodeIndex: &n, PathPosition: &n,
		}
	}
	b.ResetTimer()
	benchmarkWrite(b, func(w *Writer) error { return w.Append("alignments", "release", rows) })
}

// BenchmarkLoad makes the SQLite file of a dataset of Parquet files only.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	rows := benchStates(50_000)
	madeDataset{{"states", ""}: reflect.ValueOf(rows)}.write(b, dir, 1000)
	withManifest(b, dir, schema.Profiles())
	out := filepath.Join(b.TempDir(), "x.db")
	for b.Loop() {
		if err := Load(b.Context(), dir, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(rows)), "rows")
}

package openhands

import (
	"bytes"
	"context"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/synth"
)

// BenchmarkReadOutput reads synthetic output.jsonl lines; MB/s of one core.
func BenchmarkReadOutput(b *testing.B) {
	var lines [][]byte
	size := 0
	cfg := synth.Config{Seed: 1, Tasks: 4, Models: 4, Runs: 3, Outcomes: synth.Inline}
	err := synth.Generate(context.Background(), cfg, func(_ string, line []byte) error {
		lines = append(lines, bytes.Clone(line))
		size += len(line)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if _, err := readOutput(format.Record{File: "output.jsonl", Data: line, Probe: format.NewProbe("output.jsonl", line)}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

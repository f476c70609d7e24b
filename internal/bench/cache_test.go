package bench_test

import (
	"path/filepath"
	"testing"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/bench"
)

// TestNoCache builds the sample with runs that are read anew each time they are asked for,
// as those of a task are that is too large to keep: the bytes are the same.
func TestNoCache(t *testing.T) {
	dir := t.TempDir()
	kept, anew := options(filepath.Join(dir, "kept")), options(filepath.Join(dir, "anew"))
	kept.Sample = bench.Sample{Name: datasets.SampleName, Data: datasets.Sample()}
	anew.Sample, anew.CacheBytes = kept.Sample, -1
	build(t, kept)
	build(t, anew)
	if a, b := sums(t, kept.Out), sums(t, anew.Out); a != b {
		t.Errorf("SHA256SUMS with runs kept\n%s\nand read anew\n%s", a, b)
	}
}

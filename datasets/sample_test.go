package datasets

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/agentlens-bench/agentlens/internal/synth"
)

var update = flag.Bool("update", false, "rewrite sample/sample.tar.gz")

func sampleConfig() synth.Config {
	return synth.Config{Tasks: SampleTasks, Models: SampleModels, Runs: SampleRuns, Seed: SampleSeed}
}

func TestSampleIsReproducible(t *testing.T) {
	var b bytes.Buffer
	if err := synth.WriteArchive(context.Background(), sampleConfig(), &b); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join("sample", SampleName), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() == Sample() {
		return
	}
	if bytes.Equal(unzip(t, &b), unzip(t, strings.NewReader(Sample()))) {
		t.Fatal("same records, compressed differently: the compression library has changed; run go test ./datasets -update")
	}
	t.Fatal("the generator has changed: run go test ./datasets -update")
}

func unzip(t *testing.T, r io.Reader) []byte {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSampleIsSmall(t *testing.T) {
	if n := len(Sample()); n > 2_000_000 {
		t.Errorf("%d bytes, want at most 2 MB", n)
	}
}

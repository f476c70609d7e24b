package ingest_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/synth"
)

// A file is never held: a log larger than the bound is read below it, live objects and
// garbage together.
func TestLargeLogIsStreamed(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: writes and reads a log of 200 MB, and -short is set")
	}
	const (
		least = 200 << 20
		bound = 128 << 20
	)
	cfg := synth.Config{Tasks: 20, Models: 4, Runs: 40, Seed: 1}
	file := filepath.Join(t.TempDir(), "output.jsonl")
	size := generate(t, file, cfg)
	if size < least {
		t.Fatalf("the log has %d bytes, want at least %d", size, least)
	}
	var runs, refused atomic.Int64
	runtime.GC() // what other tests left behind does not count
	before := heap()
	peak := watchHeap()
	summary, err := ingest.Read(context.Background(), []string{file}, ingest.Options{Jobs: 2}, func(item ingest.Item) error {
		switch {
		case item.Trajectory != nil:
			runs.Add(1)
		case item.Refused != nil:
			refused.Add(1)
		}
		return nil
	})
	highest := peak()
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(cfg.Tasks * cfg.Models * cfg.Runs); runs.Load() != want || refused.Load() != 0 || summary.Sources[0].Bytes != size {
		t.Errorf("%d runs, %d refused, %d bytes; want %d, 0, %d", runs.Load(), refused.Load(), summary.Sources[0].Bytes, want, size)
	}
	t.Logf("%d runs of %d MB: %d MB of heap before, at most %d MB while reading", runs.Load(), size>>20, before>>20, highest>>20)
	if highest > bound {
		t.Errorf("the heap grew to %d bytes, at most %d may be", highest, bound)
	}
}

// generate writes all records of cfg into one file and returns its size.
func generate(t *testing.T, file string, cfg synth.Config) (size int64) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	err = synth.Generate(context.Background(), cfg, func(_ string, line []byte) error {
		n, err := w.Write(line)
		size += int64(n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return size
}

// watchHeap looks at the heap every few milliseconds until the returned function is
// called, which returns the highest figure in bytes.
func watchHeap() (stop func() uint64) {
	var (
		highest uint64
		watcher sync.WaitGroup
	)
	done := make(chan struct{})
	watcher.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			highest = max(highest, heap())
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return func() uint64 {
		close(done)
		watcher.Wait()
		return highest
	}
}

// heap returns the bytes of objects on the heap, dead ones that are not yet swept included.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

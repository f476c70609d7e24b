package bench_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/synth"
)

// BenchmarkBuildRelease builds the whole release, by profile. It needs the shared folder.
func BenchmarkBuildRelease(b *testing.B) {
	archive := releaseArchive(b)
	info, err := os.Stat(archive)
	if err != nil {
		b.Fatal(err)
	}
	for _, profiles := range [][]string{{"release"}, {"paper"}, {"process"}, registry.Names()} {
		name := profiles[0]
		if len(profiles) > 1 {
			name = "all"
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(info.Size())
			for range b.N {
				opt := options(filepath.Join(b.TempDir(), "bench"), archive)
				var err error
				if opt.Profiles, err = registry.Named(profiles...); err != nil {
					b.Fatal(err)
				}
				build(b, opt)
			}
		})
	}
}

// BenchmarkBuildSynthetic builds 1,000 invented runs with every profile; the time per run
// stays the same for 100,000.
func BenchmarkBuildSynthetic(b *testing.B) {
	logs := b.TempDir()
	cfg := synth.Config{Tasks: 5, Models: 8, Runs: 25, Seed: 3, Shuffle: true}
	files := map[string]*os.File{}
	err := synth.Generate(context.Background(), cfg, func(name string, line []byte) error {
		f := files[name]
		if f == nil {
			path := filepath.Join(logs, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			var err error
			if f, err = os.Create(path); err != nil {
				return err
			}
			files[name] = f
		}
		_, err := f.Write(line)
		return err
	})
	for _, f := range files {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		build(b, options(filepath.Join(b.TempDir(), "bench"), logs))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/run")
}

// BenchmarkVerifyRelease checks the built release.
func BenchmarkVerifyRelease(b *testing.B) {
	opt := options(filepath.Join(b.TempDir(), "bench"), releaseArchive(b))
	build(b, opt)
	b.ResetTimer()
	for range b.N {
		if v, err := bench.Verify(context.Background(), opt.Out, bench.VerifyOptions{}); err != nil || !v.OK {
			b.Fatal(err, v.Problems)
		}
	}
}

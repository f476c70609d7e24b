package conformance

import (
	"archive/tar"
	"errors"
	"io"
	"iter"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Release returns the path of the published dataset. It skips the test when the shared
// folder is absent.
func Release(t testing.TB) string {
	t.Helper()
	return Dir(t, "data", "agentlens-bench-1.0.tar.zst")
}

// Files yields the files of a tar compressed with zstandard, in its order: the name, and the
// content, which can be read until the next one. Whatever can't be read fails the test.
func Files(t testing.TB, archive string) iter.Seq2[string, io.Reader] {
	t.Helper()
	return func(yield func(string, io.Reader) bool) {
		t.Helper()
		f, err := os.Open(archive)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Typeflag == tar.TypeReg && !yield(h.Name, r) {
				return
			}
		}
	}
}

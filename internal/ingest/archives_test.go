package ingest_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// entry is one member of an archive a test makes.
type entry struct {
	name string
	body []byte
	kind byte // tar type flag, 0 for a file
	link string
}

func entries(names []string, files map[string][]byte, prefix string) []entry {
	out := make([]entry, len(names))
	for i, name := range names {
		out[i] = entry{name: prefix + name, body: files[name]}
	}
	return out
}

func tarBytes(t testing.TB, list []entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, e := range list {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.body)), Typeflag: tar.TypeReg}
		if e.kind != 0 {
			h.Typeflag, h.Linkname, h.Size = e.kind, e.link, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write(e.body); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func compress(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser
	switch {
	case strings.HasSuffix(name, ".gz"), strings.HasSuffix(name, ".tgz"):
		w = gzip.NewWriter(&buf)
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(&buf)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return data
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// writeTar writes a tar, compressed as its name says.
func writeTar(t testing.TB, file string, list []entry) {
	t.Helper()
	write(t, file, compress(t, file, tarBytes(t, list)))
}

func writeZip(t testing.TB, file string, list []entry) {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range list {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.kind == tar.TypeSymlink {
			h.SetMode(os.ModeSymlink | 0o777)
			e.body = []byte(e.link)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, file, buf.Bytes())
}

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

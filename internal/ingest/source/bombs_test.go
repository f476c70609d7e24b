package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// encounter is what a walk met.
type encounter struct {
	read    int64 // bytes of files
	files   int
	refused []string
	warned  []string
	err     error
}

func walkLimited(t *testing.T, name string, data []byte, limits Limits) (w encounter) {
	t.Helper()
	root := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(root, data, 0o644); err != nil {
		t.Fatal(err)
	}
	w.err = Walk(t.Context(), root, limits, Handler{
		File: func(f File) error {
			n, err := io.Copy(io.Discard, f.Body)
			w.read += n
			w.files++
			if err != nil {
				return &BrokenError{Err: err}
			}
			return nil
		},
		Refuse: func(e format.RecordError) { w.refused = append(w.refused, e.Code) },
		Skip:   func(string) {},
		Warn:   func(code string) { w.warned = append(w.warned, code) },
	})
	return w
}

func deflated(t *testing.T, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// sharing is a zip file whose entries all point at one stream. In the directory the stream
// has more bytes than it has, by excess.
func sharing(t *testing.T, entries int, data []byte, excess uint32) []byte {
	stream := deflated(t, data)
	sum, packed, size := crc32.ChecksumIEEE(data), uint32(len(stream))+excess, uint32(len(data))
	le := binary.LittleEndian
	var out, dir []byte
	out = append(out, "PK\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00"...)
	out = le.AppendUint32(le.AppendUint32(le.AppendUint32(out, sum), packed), size)
	out = append(le.AppendUint16(le.AppendUint16(out, 6), 0), "a.json"...)
	out = append(out, stream...)
	for i := range entries {
		name := fmt.Sprintf("%06d.json", i)
		dir = append(dir, "PK\x01\x02\x14\x00\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00"...)
		dir = le.AppendUint32(le.AppendUint32(le.AppendUint32(dir, sum), packed), size)
		dir = le.AppendUint16(dir, uint16(len(name)))
		dir = append(dir, make([]byte, 16)...) // no extra, no comment, offset 0
		dir = append(dir, name...)
	}
	at := uint32(len(out))
	out = append(out, dir...)
	out = append(out, "PK\x05\x06\x00\x00\x00\x00"...)
	out = le.AppendUint16(le.AppendUint16(out, uint16(entries)), uint16(entries))
	return append(le.AppendUint32(le.AppendUint32(out, uint32(len(dir))), at), 0, 0)
}

// TestBombs: limits count over an archive, whatever its entries are like.
func TestBombs(t *testing.T) {
	zeros := append([]byte(`{"a":"`), make([]byte, 30<<20)...) // no 64 MiB, from which one stream is looked at
	many := func() []byte {
		var buf bytes.Buffer
		w := zip.NewWriter(&buf)
		stream := deflated(t, zeros)
		for i := range 4 {
			f, err := w.CreateRaw(&zip.FileHeader{
				Name: fmt.Sprintf("%d.json", i), Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(zeros),
				CompressedSize64: uint64(len(stream)), UncompressedSize64: uint64(len(zeros)),
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(stream); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	gzipped := func(data []byte) []byte {
		var buf bytes.Buffer
		w, err := gzip.NewWriterLevel(&buf, 9)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	nested := func() []byte { // each stream alone is small, the two together are not
		var buf bytes.Buffer
		w := tar.NewWriter(&buf)
		member := gzipped(zeros)
		for i := range 4 {
			if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.json.gz", i), Mode: 0o644, Size: int64(len(member))}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(member); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return gzipped(buf.Bytes())
	}
	for _, tc := range []struct {
		name, file string
		data       []byte
		reason     string
	}{
		{"entries share a stream", "a.zip", sharing(t, 500, zeros, 0), "shares bytes of the archive"},
		{"two entries share a small stream", "a.zip", sharing(t, 2, []byte(`{}`), 0), "shares bytes of the archive"},
		{"a size that lies", "a.zip", sharing(t, 1, zeros, 1<<30), "more than the archive has"},
		{"many small bombs", "a.zip", many(), "over the ratio of 100"},
		{"gzip in tar in gzip", "a.tar.gz", nested(), "over the ratio of 100"},
	} {
		w := walkLimited(t, tc.file, tc.data, Limits{MaxRatio: 100})
		var unsafe *UnsafeError
		if !errors.As(w.err, &unsafe) || !strings.Contains(unsafe.Error(), tc.reason) {
			t.Errorf("%s: %v, want %s", tc.name, w.err, tc.reason)
		}
		if w.read > 70<<20 {
			t.Errorf("%s: %d bytes were read of an archive of %d", tc.name, w.read, len(tc.data))
		}
	}
	if w := walkLimited(t, "a.zip", sharing(t, 1, []byte(`{"a":1}`), 0), Limits{}); w.err != nil || w.files != 1 || len(w.refused) > 0 {
		t.Errorf("one entry: %+v", w)
	}
}

// TestSparse: holes in a tar are refused in both forms, with advice about them.
func TestSparse(t *testing.T) {
	header := &tar.Header{Name: "a.json", Mode: 0o644, Typeflag: tar.TypeReg, PAXRecords: map[string]string{"GNU.sparse.major": "1"}}
	for _, h := range []*tar.Header{header, {Name: "a.json", Typeflag: tar.TypeGNUSparse}} {
		if got := tarSpecial(h); got != sparseFile {
			t.Errorf("type %q: %q", h.Typeflag, got)
		}
	}
	a := admission{w: &walker{root: "a.tar", limits: Limits{}.WithDefaults()}, seen: map[[16]byte]struct{}{}}
	if _, err := a.admit("a.json", sparseFile); err == nil || !strings.Contains(err.Error(), "option sparse") || strings.Contains(err.Error(), "dereference") {
		t.Errorf("hint: %v", err)
	}
}

// TestGzipTail: padding is passed over, other data behind the members is a warning.
func TestGzipTail(t *testing.T) {
	member := func(text string) string {
		var buf bytes.Buffer
		w := gzip.NewWriter(&buf)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.String()
	}
	one, two := member(`{"a":`), member("1}\n")
	pad := strings.Repeat("\x00", 513)
	for _, tc := range []struct {
		name, data string
		warned     int
		refused    int
	}{
		{"members", one + two, 0, 0},
		{"padding", one + two + pad, 0, 0},
		{"garbage", one + two + "garbage", 1, 0},
		{"garbage after padding", one + two + pad + "x", 1, 0},
		{"a cut member", one + two[:len(two)-9], 0, 1},
		{"a damaged checksum", one + two[:len(two)-5] + "\xff" + two[len(two)-4:], 0, 1},
	} {
		w := walkLimited(t, "a.json.gz", []byte(tc.data), Limits{})
		if w.err != nil || len(w.warned) != tc.warned || len(w.refused) != tc.refused || tc.refused == 0 && w.read != 8 {
			t.Errorf("%s: %+v", tc.name, w)
		}
	}
}

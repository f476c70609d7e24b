package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// entry is a file of an archive, or a link where target is set.
type entry struct{ name, text, target string }

func tarOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		if e.target != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.target
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(0o644)
		text := e.text
		if e.target != "" {
			h.SetMode(os.ModeSymlink | 0o777)
			text = e.target
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipOf(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstdOf(t *testing.T, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

// metBy walks a source and returns what it met, sorted: "path line: record", refused records
// as "path line! code", "skipped: reason".
func metBy(t *testing.T, root string, limits Limits) (out []string, err error) {
	t.Helper()
	err = Walk(context.Background(), root, limits, Handler{
		File: func(f File) error {
			_, err := Split(f, 1<<20, nil, func() []byte { return nil }, func(c Chunk) error {
				out = append(out, fmt.Sprintf("%s %d: %s", f.Path, c.Line, bytes.TrimSpace(c.Data)))
				return nil
			}, func(e format.RecordError) { out = append(out, fmt.Sprintf("%s %d! %s", f.Path, e.Line, e.Code)) })
			return err
		},
		Refuse: func(e format.RecordError) { out = append(out, fmt.Sprintf("%s %d! %s", e.File, e.Line, e.Code)) },
		Skip:   func(reason string) { out = append(out, "skipped: "+reason) },
	})
	slices.Sort(out)
	return out, err
}

func save(t *testing.T, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// A folder's records are the same out of every container, whatever its name says.
func TestContainersHoldTheSameRecords(t *testing.T) {
	entries := []entry{
		{name: "a/run.json", text: "{\n\"a\": 1}\n"}, {name: "b/lines.jsonl", text: "{\"b\":1}\n{\"b\":2}\n"}, {name: "notes.pdf", text: "x"},
	}
	dir := t.TempDir()
	for _, e := range entries {
		file := filepath.Join(dir, filepath.FromSlash(e.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(e.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := metBy(t, dir, Limits{})
	if err != nil || len(want) != 4 || want[1] != `b/lines.jsonl 1: {"b":1}` {
		t.Fatalf("%q %v", want, err)
	}
	if n := Size(dir); n != 10+16+1 {
		t.Errorf("%d bytes", n)
	}
	packed := tarOf(t, entries...)
	for name, data := range map[string][]byte{
		"runs.tar": packed, "runs.tar.gz": gzipOf(t, packed), "runs.tar.zst": zstdOf(t, packed), "runs.zip": zipOf(t, entries...), "download": gzipOf(t, packed),
	} {
		got, err := metBy(t, save(t, name, data), Limits{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q, %v", name, got, want, err)
		}
	}
	members := tarOf(t, entry{name: "a/run.json.gz", text: string(gzipOf(t, []byte(entries[0].text)))}, entry{name: "b/lines.jsonl.zst", text: string(zstdOf(t, []byte(entries[1].text)))}, entries[2])
	if got, err := metBy(t, save(t, "members.tar", members), Limits{}); err != nil || !slices.Equal(got, want) {
		t.Errorf("compressed members: %q, want %q, %v", got, want, err)
	}
}

// What could write elsewhere, or exhausts a machine, refuses the whole archive by name.
func TestArchivesThatAreRefused(t *testing.T) {
	one := entry{name: "a.json", text: "{}"}
	for _, c := range []struct {
		name    string
		entries []entry
		limits  Limits
		want    string
	}{
		{"above", []entry{{name: "../a.json", text: "{}"}}, Limits{}, `entry "../a.json"`},
		{"absolute", []entry{{name: "/a.json", text: "{}"}}, Limits{}, `entry "/a.json"`},
		{"link", []entry{{name: "l.json", target: "/etc/passwd"}}, Limits{}, `entry "l.json"`},
		{"twice", []entry{one, one}, Limits{}, "occurs twice"},
		{"twice, by another spelling", []entry{one, {name: "./a.json", text: "{}"}}, Limits{}, "occurs twice"},
		{"too many", []entry{one, {name: "b.json", text: "{}"}}, Limits{MaxEntries: 1}, "option max-entries"},
		{"too large", []entry{{name: "b.json", text: strings.Repeat(" ", 3000)}}, Limits{MaxTotalBytes: 1000}, "1000"},
	} {
		for kind, data := range map[string][]byte{"tar": tarOf(t, c.entries...), "zip": zipOf(t, c.entries...)} {
			_, err := metBy(t, save(t, "x."+kind, data), c.limits)
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v, want one that says %s", c.name, kind, err, c.want)
			}
		}
	}
}

// Records before damage are kept; the damage is told once, with the file.
func TestDamageIsARefusedRecord(t *testing.T) {
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "{\"n\":%d,\"x\":%d}\n", i, i*i*7919%100_003)
	}
	packed := gzipOf(t, []byte(lines.String()))
	archive := tarOf(t, entry{name: "a.jsonl", text: "{\"a\":1}\n"}, entry{name: "b.jsonl", text: lines.String()})
	for name, c := range map[string]struct {
		data []byte
		code string
	}{
		"cut.jsonl.gz": {packed[:len(packed)/2], "truncated_archive"},
		"cut.tar":      {archive[:len(archive)/2], "truncated_archive"},
		"bad.jsonl.gz": {append(slices.Clone(packed[:len(packed)-8]), 1, 2, 3, 4, 5, 6, 7, 8), "corrupt_archive"},
	} {
		got, err := metBy(t, save(t, name, c.data), Limits{})
		refused := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.Contains(s, "! ") })
		if err != nil || len(refused) != 1 || !strings.HasSuffix(refused[0], c.code) || len(got) < 1000 {
			t.Errorf("%s: %d records, refused %q, %v", name, len(got), refused, err)
		}
	}
}

func TestWhatIsNoSource(t *testing.T) {
	if _, err := metBy(t, filepath.Join(t.TempDir(), "nowhere"), Limits{}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Error(err)
	}
	if _, err := metBy(t, os.DevNull, Limits{}); err == nil || !strings.Contains(err.Error(), "neither a file nor a folder") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	read := Handler{File: func(f File) error {
		if _, err := f.Body.ReadByte(); err != nil {
			return &BrokenError{Err: err}
		}
		return nil
	}, Refuse: func(format.RecordError) {}, Skip: func(string) {}}
	if err := Walk(ctx, save(t, "a.tar", tarOf(t, entry{name: "a.json", text: "{}"})), Limits{}, read); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

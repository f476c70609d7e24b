package ingest_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/agentlens-bench/agentlens/internal/ingest"
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

// run is a small trajectory of the release's shape.
func run(id string) []byte {
	return fmt.Appendf(nil, `{
  "initial_state": "state_0",
  "states": {
    "state_0": {"state_id": "state_0", "step": 0, "resulting_state": "initial", "tool_used": null, "log_entry": null, "metadata": {"is_initial": true}},
    "state_1": {"state_id": "state_1", "step": 1, "observation": "seen %s", "resulting_state": "terminal:ls", "tool_used": "run_in_terminal", "intent_stage": "exploration",
      "log_entry": {"kind": "toolCall", "tool": "run_in_terminal", "args": {"command": "ls"}}, "metadata": {"input_tokens": 5}}
  },
  "transitions": [{"transition_id": "t1", "from_state": "state_0", "to_state": "state_1", "action_type": "run_in_terminal", "step": 1}],
  "metadata": {"task_name": "o__r-1", "model_name": "m", "pass_fail_status": "passed"}
}`, id)
}

func runs(n int) []entry {
	list := make([]entry, n)
	for i := range list {
		name := fmt.Sprintf("o__r-1-logs-m-pass-%d_pta", i)
		list[i] = entry{name: "trajectories/o__r-1/" + name + ".json", body: run(name)}
	}
	return list
}

func TestRefusedArchives(t *testing.T) {
	body := run("x")
	zeros := bytes.Repeat([]byte(" "), 80<<20)
	many := runs(12)
	for _, c := range []struct {
		name  string
		entry entry
		want  []string
	}{
		{"traversal", entry{name: "a/../../x.json", body: body}, []string{`"a/../../x.json"`, "leads out"}},
		{"traversal with backslashes", entry{name: `a\..\..\x.json`, body: body}, []string{"leads out"}},
		{"absolute", entry{name: "/etc/x.json", body: body}, []string{`"/etc/x.json"`, "absolute"}},
		{"drive", entry{name: `C:\x.json`, body: body}, []string{"drive"}},
		{"symbolic link", entry{name: "l.json", kind: tar.TypeSymlink, link: "/etc/passwd"}, []string{`"l.json"`, "symbolic link", "--dereference"}},
		{"hard link", entry{name: "l.json", kind: tar.TypeLink, link: many[0].name}, []string{"hard link"}},
		{"device", entry{name: "d.json", kind: tar.TypeChar}, []string{"device"}},
		{"pipe", entry{name: "d.json", kind: tar.TypeFifo}, []string{"pipe"}},
		{"duplicate", entry{name: many[0].name, body: body}, []string{many[0].name, "twice"}},
		{"duplicate in other words", entry{name: "./trajectories/./" + strings.TrimPrefix(many[0].name, "trajectories/"), body: body}, []string{"twice"}},
		{"bomb", entry{name: "bomb.json", body: zeros}, []string{`"bomb.json"`, "option max-ratio"}},
	} {
		for _, container := range []string{"x.tar.gz", "x.tar.zst", "x.zip"} {
			if container == "x.zip" && (c.entry.kind != 0 && c.entry.kind != tar.TypeSymlink) {
				continue
			}
			t.Run(c.name+"/"+container, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), container)
				list := append(runs(2), c.entry)
				if container == "x.zip" {
					writeZip(t, file, list)
				} else {
					writeTar(t, file, list)
				}
				limits := ingest.Limits{MaxRatio: 100}
				_, err := read(t, ingest.Options{Limits: limits}, file)
				wantError(t, err, append(c.want, file)...)
			})
		}
	}
	file := filepath.Join(t.TempDir(), "many.tar.gz")
	writeTar(t, file, many)
	_, err := read(t, ingest.Options{Limits: ingest.Limits{MaxEntries: 10}}, file)
	wantError(t, err, "option max-entries", many[10].name)
	_, err = read(t, ingest.Options{Limits: ingest.Limits{MaxTotalBytes: 3000}}, file)
	wantError(t, err, "option max-total-bytes")
	if _, err = read(t, ingest.Options{}, file); err != nil {
		t.Error(err)
	}
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) && !strings.Contains(err.Error(), strconv.Quote(w)) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// TestCutArchives cuts and damages archives: what was read before is kept, and the place
// is named.
func TestCutArchives(t *testing.T) {
	plain := tarBytes(t, runs(200))
	for _, container := range []string{"x.tar", "x.tar.gz", "x.tar.zst"} {
		data := compress(t, container, plain)
		if container == "x.tar.zst" {
			data = smallBlocks(t, plain)
		}
		for _, at := range []int{len(data) / 2, len(data) * 9 / 10, len(data) - 1} {
			if container == "x.tar" && at == len(data)-1 {
				at = len(data) - 1024 // at the border of an entry
			}
			file := filepath.Join(t.TempDir(), container)
			write(t, file, data[:at])
			got, err := read(t, ingest.Options{}, file)
			if err != nil {
				t.Fatalf("%s cut at %d of %d: %v", container, at, len(data), err)
			}
			if len(got.runs) < 50 {
				t.Errorf("%s cut at %d of %d: %d runs kept", container, at, len(data), len(got.runs))
			}
			if len(got.refused) != 1 || got.refused[0].Code != "truncated_archive" {
				t.Errorf("%s cut at %d of %d: %v", container, at, len(data), got.refused)
			}
		}
	}
	// A flipped bit fails the checksum of gzip.
	data := compress(t, "x.tar.gz", plain)
	data[len(data)-6] ^= 1
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	write(t, file, data)
	got, err := read(t, ingest.Options{}, file)
	if err != nil || len(got.runs) != 200 || len(got.refused) != 1 || got.refused[0].Code != "corrupt_archive" {
		t.Errorf("flipped bit: %v, %d runs, %v", err, len(got.runs), got.refused)
	}
	// Two archives put together.
	file = filepath.Join(t.TempDir(), "x.tar")
	write(t, file, append(slices.Clone(plain), plain...))
	got, err = read(t, ingest.Options{}, file)
	if err != nil || len(got.runs) != 200 || len(got.refused) != 1 || got.refused[0].Code != "trailing_data" {
		t.Errorf("two archives: %v, %d runs, %v", err, len(got.runs), got.refused)
	}
	// A cut zip has lost its directory.
	file = filepath.Join(t.TempDir(), "x.zip")
	writeZip(t, file, runs(3))
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, whole[:len(whole)/2])
	_, err = read(t, ingest.Options{}, file)
	wantError(t, err, "no readable record", "cut off")
	// One damaged entry of a zip costs that entry.
	broken := slices.Clone(whole)
	broken[bytes.Index(broken, []byte("_pta.json"))+40] ^= 0xff
	write(t, file, broken)
	got, err = read(t, ingest.Options{}, file)
	if err != nil || len(got.runs) != 2 || len(got.refused) != 1 || !strings.HasSuffix(got.refused[0].Code, "_archive") {
		t.Errorf("damaged entry: %v, %d runs, %v", err, len(got.runs), got.refused)
	}
}

// smallBlocks compresses in blocks, so that a cut does not cost everything.
func smallBlocks(t *testing.T, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(data, 8<<10) {
		if _, err := z.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	_, err := read(t, ingest.Options{}, filepath.Join(dir, "missing"))
	wantError(t, err, "does not exist", filepath.Join(dir, "missing"))
	_, err = read(t, ingest.Options{}, dir)
	wantError(t, err, "is empty")
	write(t, filepath.Join(dir, "README.md"), []byte("# logs"))
	_, err = read(t, ingest.Options{}, dir)
	wantError(t, err, "no readable record", "1 text file (.md)")
	write(t, filepath.Join(dir, "bad.json"), []byte("{"))
	_, err = read(t, ingest.Options{}, dir)
	wantError(t, err, "no readable record", "bad.json", "ends inside a value")

	for _, e := range runs(2) {
		file := filepath.Join(dir, filepath.FromSlash(e.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, e.body)
	}
	write(t, filepath.Join(dir, ".DS_Store"), []byte("{"))
	write(t, filepath.Join(dir, "core"), []byte("\x7fELF"))
	write(t, filepath.Join(dir, "inner.tar.gz"), compress(t, "x.gz", tarBytes(t, runs(1))))
	write(t, filepath.Join(dir, "more.json.gz"), compress(t, "x.gz", run("more")))
	write(t, filepath.Join(dir, "secret.json"), run("secret"))
	if err := os.Chmod(filepath.Join(dir, "secret.json"), 0); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"dangling.json": "nowhere", "loop": ".", "linked.json": "more.json.gz"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(t, ingest.Options{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, e := range got.refused {
		codes = append(codes, e.File+" "+e.Code)
		if strings.Contains(e.Error(), dir) {
			t.Errorf("names the machine: %v", e.Error())
		}
	}
	slices.Sort(codes)
	want := []string{"bad.json bad_json", "dangling.json unreadable_file"}
	wantRuns := 2 + 2 + 1 // two runs, one compressed and linked to, and root may read everything
	if os.Geteuid() != 0 {
		want, wantRuns = append(want, "secret.json unreadable_file"), wantRuns-1
	}
	if !slices.Equal(codes, want) || len(got.runs) != wantRuns {
		t.Errorf("refused %v, %d runs", codes, len(got.runs))
	}
	for _, reason := range []string{"text file (.md)", "no JSON by its content", "symbolic link to a folder"} {
		if got.summary.Skipped[reason] != 1 {
			t.Errorf("skipped %q: %d", reason, got.summary.Skipped[reason])
		}
	}
	if len(got.summary.Skipped) != 4 {
		t.Errorf("skipped %v: a hidden file does not count", got.summary.Skipped)
	}
}

// TestSameDigest holds the digest to the content: the container and its folders do not
// count, a changed byte does.
func TestSameDigest(t *testing.T) {
	dir := t.TempDir()
	jsonl := append(bytes.ReplaceAll(run("a"), []byte("\n"), nil), '\n')
	jsonl = append(jsonl, jsonl...)
	single := filepath.Join(dir, "runs.jsonl")
	write(t, single, jsonl)
	zipped := filepath.Join(dir, "runs.jsonl.gz")
	write(t, zipped, compress(t, "x.gz", jsonl))
	archive := filepath.Join(dir, "x.tar")
	writeTar(t, archive, []entry{{name: "deep/er/runs.jsonl", body: jsonl}})
	changed := filepath.Join(dir, "x.zip")
	writeZip(t, changed, []entry{{name: "runs.jsonl", body: append(slices.Clone(jsonl), '\n')}})
	digest := func(source string) ingest.SourceDigest {
		got, err := read(t, ingest.Options{}, source)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.runs) != 2 || got.runs[0].SourceRecord != 1 || got.runs[1].SourceRecord != 2 {
			t.Errorf("%s: %d runs", source, len(got.runs))
		}
		return got.summary.Sources[0]
	}
	a, b, c, d := digest(single), digest(zipped), digest(archive), digest(changed)
	if a != b || a != c {
		t.Errorf("differ: %v %v %v", a, b, c)
	}
	if a.SHA256 == d.SHA256 {
		t.Error("a changed file has the same digest")
	}
}

func TestCancelled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.tar")
	writeTar(t, file, runs(300))
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int64
	_, err := ingest.Read(ctx, []string{file}, ingest.Options{Jobs: 2}, func(ingest.Item) error {
		if n.Add(1) == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n.Load() > 100 {
		t.Errorf("%v after %d items", err, n.Load())
	}
	boom := errors.New("boom")
	_, err = ingest.Read(context.Background(), []string{file}, ingest.Options{Jobs: 2}, func(ingest.Item) error { return boom })
	if !errors.Is(err, boom) {
		t.Errorf("%v, want the error of emit", err)
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	writeTar(t, filepath.Join(dir, "a.tar"), runs(2000))
	writeTar(t, filepath.Join(dir, "b.tar"), runs(10))
	var last, total int64
	opt := ingest.Options{Jobs: 2, Report: func(done, all int64) {
		if done < last {
			t.Errorf("progress goes back from %d to %d", last, done)
		}
		last, total = done, all
	}}
	if _, err := read(t, opt, filepath.Join(dir, "a.tar"), filepath.Join(dir, "b.tar")); err != nil {
		t.Fatal(err)
	}
	if total == 0 || last != total {
		t.Errorf("%d of %d", last, total)
	}
}

package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
)

// copies writes files as a folder and as archives, below prefix, and returns their paths.
func copies(t *testing.T, prefix string, files map[string][]byte) []string {
	t.Helper()
	dir := t.TempDir()
	var plain, gz, zst, zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	tw := tar.NewWriter(&plain)
	folder := filepath.Join(dir, "folder")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, filepath.FromSlash(prefix+name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		err = errors.Join(err, os.WriteFile(path, files[name], 0o644))
		err = errors.Join(err, tw.WriteHeader(&tar.Header{Name: prefix + name, Size: int64(len(files[name])), Mode: 0o644}))
		_, failed := tw.Write(files[name])
		err = errors.Join(err, failed)
		w, failed := z.Create(prefix + name)
		if err = errors.Join(err, failed); err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	gw := gzip.NewWriter(&gz)
	sw, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gw, sw} {
		if _, err := w.Write(plain.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{folder}
	for name, b := range map[string]*bytes.Buffer{"a.tar": &plain, "a.tar.gz": &gz, "a.tar.zst": &zst, "a.zip": &zipped} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func take(t *testing.T, from string, files map[string][]byte) (Result, error) {
	t.Helper()
	opt := quick(t.TempDir())
	opt.From = from
	return Run(t.Context(), recipe("http://127.0.0.1:1", files), opt)
}

// A copy may be the dataset, or hold it beside other files.
func TestFrom(t *testing.T) {
	files := testFiles()
	around := maps.Clone(files)
	around["notes.txt"] = []byte("mine")
	for _, prefix := range []string{"", "./", "set/", "app-bbf8471/set/"} {
		for _, path := range copies(t, prefix, around) {
			res, err := take(t, path, files)
			if err != nil {
				t.Errorf("%s in %q: %v", filepath.Base(path), prefix, err)
				continue
			}
			holds(t, res.Dir, files)
			if len(res.Skipped) != 1 || !strings.HasSuffix(res.Skipped[0], "notes.txt") || res.TakenFiles != int64(len(files)) || res.DownloadedFiles != 0 || res.FromCache != 0 {
				t.Errorf("%s in %q: %+v", filepath.Base(path), prefix, res)
			}
		}
	}
	// The folder with most of the files is the dataset, whatever else is named like them.
	in := map[string][]byte{"LICENSE": []byte("another"), "zoo/LICENSE": []byte("a third")}
	for name, b := range files {
		in["app/set/"+name] = b
	}
	for _, path := range copies(t, "", in) {
		res, err := take(t, path, files)
		if err != nil || !slices.Equal(res.Skipped, []string{"LICENSE", "zoo/LICENSE"}) {
			t.Errorf("%s: %+v, %v", path, res, err)
		}
	}
}

// An archive that was appended to holds a file more than once; one that is right is enough.
func TestFromTwice(t *testing.T) {
	files := map[string][]byte{"a": bytes.Repeat([]byte("0123456789"), 1<<15), "b": []byte("b")}
	for _, order := range [][]string{
		slices.Repeat([]string{"good"}, 20), {"good", "bad"}, {"bad", "good"},
	} {
		var archive bytes.Buffer
		tw := tar.NewWriter(&archive)
		write := func(name string, b []byte) {
			err := tw.WriteHeader(&tar.Header{Name: name, Size: int64(len(b)), Mode: 0o644})
			_, failed := tw.Write(b)
			if err := errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
		}
		for _, kind := range order {
			if kind == "good" {
				write("set/a", files["a"])
			} else {
				write("set/a", []byte("another"))
			}
		}
		write("set/b", files["b"])
		path := filepath.Join(t.TempDir(), "a.tar")
		if err := errors.Join(tw.Close(), os.WriteFile(path, archive.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		opt := quick(t.TempDir())
		opt.From = path
		var told int64
		opt.Progress = func(_ string, done, _ int64) { told = done }
		r := recipe("http://127.0.0.1:1", files)
		res, err := Run(t.Context(), r, opt)
		if err != nil || res.TakenFiles != 2 || told != r.Bytes {
			t.Errorf("%v: %+v, told of %d bytes, %v", order[:2], res, told, err)
			continue
		}
		holds(t, res.Dir, files)
	}
}

func TestFromIsWrong(t *testing.T) {
	files := testFiles()
	crlf := map[string][]byte{}
	for name, b := range files {
		crlf[name] = bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
	}
	lacks := maps.Clone(files)
	delete(lacks, "LICENSE")
	lacks["a/one.json"] = []byte("{}")
	longer := maps.Clone(files)
	longer["empty"] = bytes.Repeat([]byte("\r\n"), 1<<10)
	for _, tt := range []struct {
		what             string
		in               map[string][]byte
		missing, changed int
		want             []string
	}{
		{"lacks", lacks, 1, 1, []string{"of 4 files 1 missing (LICENSE) and 1 different (a/one.json: wrong bytes: SHA-256 " + digest([]byte("{}")), "(2 bytes, want 13)", "without option from"}},
		{"CRLF", crlf, 0, 2, []string{"2 different", "LICENSE: wrong bytes", "line ends were changed to CRLF", "2 differ in their line ends only", "core.autocrlf=false"}},
		{"longer", longer, 0, 1, []string{"1 different (empty: wrong bytes"}},
		{"other", map[string][]byte{"run.json": nil}, 4, 0, []string{"holds none of the 4 files"}},
	} {
		for _, path := range copies(t, "x/", tt.in) {
			_, err := take(t, path, files)
			var bad *SourceError
			if !errors.As(err, &bad) || len(bad.Missing) != tt.missing || len(bad.Different) != tt.changed {
				t.Errorf("%s, %s: %v", tt.what, filepath.Base(path), err)
				continue
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: %v: does not say %q", tt.what, filepath.Base(path), err, want)
				}
			}
		}
	}
}

// What a copy has right is kept: the mirror is asked for the rest only.
func TestFromThenMirror(t *testing.T) {
	s := serve(t, testFiles())
	opt := quick(t.TempDir())
	part := maps.Clone(s.files)
	delete(part, "LICENSE")
	opt.From = copies(t, "", part)[0]
	if _, err := Run(t.Context(), s.recipe(), opt); err == nil {
		t.Fatal("a copy that lacks a file was taken")
	}
	opt.From = ""
	res, err := Run(t.Context(), s.recipe(), opt)
	if err != nil || res.FromCache != 3 || res.DownloadedFiles != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	// A copy is looked at although the cache has everything.
	opt.From = copies(t, "", part)[0]
	if _, err := Run(t.Context(), s.recipe(), opt); err == nil {
		t.Error("a copy that lacks a file was taken")
	}
}

func TestFromCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	path := copies(t, "", map[string][]byte{"a": bytes.Repeat([]byte("a"), 5000)})
	for _, p := range path[1:] {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		cut := filepath.Join(dir, filepath.Base(p))
		if err := os.WriteFile(cut, b[:len(b)/2], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := take(t, cut, testFiles()); err == nil || !strings.Contains(err.Error(), "cut off or damaged") {
			t.Errorf("%s: %v", filepath.Base(p), err)
		}
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]string{text: "neither a folder nor a .tar", filepath.Join(dir, "no"): "no such file"} {
		if _, err := take(t, p, testFiles()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// A run is stopped inside an entry too, whatever its size.
func TestWalkTarStops(t *testing.T) {
	const size = 16 << 20
	var archive bytes.Buffer
	tw := tar.NewWriter(&archive)
	err := tw.WriteHeader(&tar.Header{Name: "large", Size: size, Mode: 0o644})
	_, failed := tw.Write(make([]byte, size))
	if err := errors.Join(err, failed, tw.Close()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err = walkTar(ctx, io.MultiReader(&archive), func(entry) error {
		stop()
		return nil
	})
	if !errors.Is(err, context.Canceled) || archive.Len() < size {
		t.Errorf("%d bytes left unread, %v", archive.Len(), err)
	}
}

// An archive decides about no path.
func TestHostileArchive(t *testing.T) {
	files := testFiles()
	for _, path := range copies(t, "../../../../tmp/", files)[1:] {
		res, err := take(t, path, files)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		holds(t, res.Dir, files)
	}
}

// TestRelease takes the authors' release from its archive, and reads it as a build does.
func TestRelease(t *testing.T) {
	archive := conformance.Release(t)
	r, err := Load(datasets.Recipes(), "agentlens-bench")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Cache: t.TempDir(), From: archive}
	res, err := Run(t.Context(), r, opt)
	if err != nil || len(res.Skipped) > 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	res, err = Run(t.Context(), r, Options{Cache: opt.Cache})
	if err != nil || res.FromCache != r.Files || res.DownloadedBytes > 0 {
		t.Errorf("%+v, %v", res, err)
	}
	read, err := ingest.Read(t.Context(), []string{res.Dir}, ingest.Options{Jobs: 2}, func(ingest.Item) error { return nil })
	if err != nil || len(read.Sources) != 1 || Content(read.Sources[0]) != r.Build {
		t.Errorf("a build reads %+v, the recipe says %+v, %v", read.Sources, r.Build, err)
	}
}

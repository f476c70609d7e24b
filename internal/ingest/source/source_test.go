package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// split cuts data and returns the chunks as "line:text", refusals as "line!code".
func split(kind Kind, size, limit int64, body io.Reader) (out []string, whole *Whole, err error) {
	file := File{Path: "f", Kind: kind, Size: size, Body: bufio.NewReaderSize(body, 16)}
	whole, err = Split(file, limit, nil, func() []byte { return nil },
		func(c Chunk) error {
			out = append(out, fmt.Sprintf("%d:%s", c.Line, c.Data))
			return nil
		},
		func(e format.RecordError) { out = append(out, fmt.Sprintf("%d!%s", e.Line, e.Code)) })
	return out, whole, err
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		data string
		want []string
	}{
		{Lines, "a\nb\n", []string{"1:a", "2:b"}},
		{Lines, "a\r\n\r\n \nb", []string{"1:a", "4:b"}},
		{Lines, "", []string{"0!empty_file"}},
		{Lines, "\n\n", []string{"0!empty_file"}},
		{Lines, "{\n}\n", []string{"0:{\n}\n"}},
		{Lines, "0123456789012345678901234567890123456789\na\n", []string{"1!record_too_large", "2:a"}},
		{Lines, "a\n0123456789012345678901234567890123456789", []string{"1:a", "2!record_too_large"}},
		{JSON, "{\"a\":1}\n{\"b\":2}\n", []string{`1:{"a":1}`, `2:{"b":2}`}},
		{JSON, "{\"a\":1}\nx", []string{`1:{"a":1}`, `2:x`}},
		{JSON, "{\"a\":1}\n \n", []string{"0:{\"a\":1}\n \n"}},
		{JSON, "{\"a\":\n1}\n", []string{"0:{\"a\":\n1}\n"}},
		{JSON, "[1]\n[2]\n", []string{"0:[1]\n[2]\n"}},
		{JSON, " \n", []string{"0!empty_file"}},
		{JSON, "\ufeff", []string{"0!empty_file"}},
		{JSON, "[0123456789012345678901234567890123456789]", []string{"0!record_too_large"}},
		{JSON, "[\n0123456789012345678901234567890123456789]", []string{"0!record_too_large"}},
		{Table, "a,b\n1,2\n", []string{"0:a,b\n1,2\n"}},
	} {
		for _, size := range []int64{-1, int64(len(c.data)), 1, 1 << 40} {
			got, _, err := split(c.kind, size, 32, strings.NewReader(c.data))
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%d %q of size %d: %q, %v, want %q", c.kind, c.data, size, got, err, c.want)
			}
		}
	}
}

// TestSplitBroken has the body fail: whole lines before are kept, the cut one is not.
func TestSplitBroken(t *testing.T) {
	body := io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, _, err := split(Lines, -1, 100, body)
	var broken *BrokenError
	if !errors.As(err, &broken) || broken.Line != 3 || !errors.Is(err, io.ErrUnexpectedEOF) || !slices.Equal(got, []string{"1:a", "2:b"}) {
		t.Errorf("%q, %v", got, err)
	}
	got, _, err = split(JSON, -1, 100, io.MultiReader(strings.NewReader("{\n"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if !errors.As(err, &broken) || broken.Line != 0 || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSplitLinesIsPlainSplitting compares with splitting the whole text.
func TestSplitLinesIsPlainSplitting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.StringMatching(`[ab{}\n\r ]{0,80}`).Draw(t, "data")
		limit := rapid.Int64Range(1, 40).Draw(t, "limit")
		first, _, _ := strings.Cut(data, "\n")
		if f := strings.TrimSpace(first); f == "{" || f == "[" {
			t.Skip("skipped: the drawn text is one document, not lines")
		}
		var want []string
		for i, line := range strings.Split(data, "\n") {
			text := strings.TrimRight(line, "\r")
			end := 0
			if i < strings.Count(data, "\n") {
				end = 1
			}
			switch {
			case int64(len(line)+end) > limit+2:
				want = append(want, fmt.Sprintf("%d!record_too_large", i+1))
			case strings.TrimSpace(text) != "":
				want = append(want, fmt.Sprintf("%d:%s", i+1, text))
			}
		}
		if want == nil {
			want = []string{"0!empty_file"}
		}
		got, whole, err := split(Lines, -1, limit, strings.NewReader(data))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
		var d Digest
		d.Add("f", whole.SHA256, whole.Bytes)
		if whole.Bytes != int64(len(data)) {
			t.Fatalf("%d bytes hashed of %d", whole.Bytes, len(data))
		}
	})
}

func TestUnsafePath(t *testing.T) {
	for name, bad := range map[string]bool{
		"a/b.json": false, "./a": false, "a/..b/c": false, "a..": false, "...": false, "a/./b": false, "é": false,
		"": true, "..": true, "../a": true, "a/..": true, "a/../b": true, `a\..\b`: true, "/a": true, `\a`: true, `\\host\a`: true,
		"C:/a": true, `c:a`: true, "a\x00b": true,
	} {
		if got := unsafePath(name) != ""; got != bad {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestDigest(t *testing.T) {
	sum := func(paths ...string) string {
		var d Digest
		for i, p := range paths {
			d.Add(p, fmt.Sprintf("%064d", i), 1)
		}
		return d.Sum()
	}
	same := sum("a/x", "b/y")
	for _, paths := range [][]string{{"r/a/x", "r/b/y"}, {"q/r/a/x", "q/r/b/y"}} {
		if sum(paths...) != same {
			t.Errorf("%v: folders that all share count", paths)
		}
	}
	for _, paths := range [][]string{{"a/y", "b/x"}, {"a/x", "b/y", "c/z"}, {"aa/x", "b/y"}} {
		if sum(paths...) == same {
			t.Errorf("%v: not told apart", paths)
		}
	}
	if sum("ab/x", "ac/y") == sum("b/x", "c/y") {
		t.Error("half a folder name was left out")
	}
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfNDistinct(rapid.StringMatching(`(a/|b/){0,3}[xy]`), 1, 6, rapid.ID[string]).Draw(t, "paths")
		order := rapid.Permutation(paths).Draw(t, "order")
		var one, two, deeper Digest
		for _, p := range paths {
			one.Add(p, p+"!", 1)
			deeper.Add("root/of/"+p, p+"!", 1)
		}
		for _, p := range order {
			two.Add(p, p+"!", 1)
		}
		if one.Sum() != two.Sum() || one.Sum() != deeper.Sum() {
			t.Fatal("order or place changes the digest")
		}
	})
}

func TestClassify(t *testing.T) {
	for file, want := range map[string]Kind{
		"a/run.json": JSON, "x.traj": JSON, "x.traj.json": JSON, "o.jsonl": Lines, "O.JSONL": Lines, "t.csv": Table,
		"README.md": Other, "LICENSE": Other, "a.parquet": Parquet, "a.log": Other, "patch.diff": Other, "c.yaml": Other, "run": Unknown, "run.v2": Unknown,
	} {
		if got, reason := Classify(file); got != want || (reason != "") != (want == Other) {
			t.Errorf("%s: %d %q", file, got, reason)
		}
	}
}

// TestOutputsAreNotRead walks a folder of logs that holds outputs of this program: their files
// are skipped, with one reason, and what stands beside them is read. The source itself may be
// an output: then its files are meant.
func TestOutputsAreNotRead(t *testing.T) {
	root := t.TempDir()
	const ours = `{"version": "1.0.0", "tool": "agentlens", "tool_version": "0.1.0"}`
	for file, text := range map[string]string{
		"a/run.json": "{}", "a/z.md": "", "b/manifest.json": ours, "b/data/t.parquet": "PAR1", "b/errors.jsonl": "", "b/run/x.json": "{}",
		"c/manifest.json": `{"tool": "another", "tool_version": "1"}`, "c/run.json": "{}", "bb/run.json": "{}", "d/e/manifest.json": ours, "d/run.json": "{}",
		"f/manifest.json": `{"tool": "agentlens"}`, "g/manifest.json": "{", "h/manifest.json/x.json": "{}",
	} {
		path := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	walk := func(root string) (files []string, skipped map[string]int) {
		skipped = map[string]int{}
		err := Walk(t.Context(), root, Limits{}, Handler{
			File:   func(f File) error { files = append(files, f.Path); return nil },
			Refuse: func(e format.RecordError) { t.Errorf("refused: %v", &e) },
			Skip:   func(reason string) { skipped[reason]++ },
		})
		if err != nil {
			t.Fatal(err)
		}
		return files, skipped
	}
	files, skipped := walk(root)
	want := "a/run.json bb/run.json c/manifest.json c/run.json d/run.json f/manifest.json g/manifest.json h/manifest.json/x.json"
	if got := strings.Join(files, " "); got != want || fmt.Sprint(skipped) != "map[dataset, export or other output made by this program:5 text file (.md):1]" {
		t.Errorf("%s, skipped %v; want %s", got, skipped, want)
	}
	if files, _ := walk(filepath.Join(root, "b")); len(files) != 4 {
		t.Errorf("an output given as source: %v", files)
	}
}

// FuzzWalk reads any bytes as a source of any name: it must neither crash nor leave the
// limits nor give a path that leads out.
func FuzzWalk(f *testing.F) {
	for _, name := range []string{"x.tar", "x.json", "x.jsonl.gz", "x.zip", "x.tar.zst"} {
		f.Add(name, []byte("{\"a\":1}\n{\"b\":2}\n"))
		f.Add(name, []byte("PK\x05\x06"+strings.Repeat("\x00", 18)))
		f.Add(name, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0})
		f.Add(name, []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 9, 0, 0, '{'})
		f.Add(name, bytes.Repeat([]byte{0}, 1024))
	}
	for _, name := range []string{`a\b..\..` + "\xff.json", "C:\xed\xa0\x80.jsonl.gz"} { // no UTF-8, and no path of an archive
		f.Add(name, []byte("{\"a\":1}\n"))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if name != filepath.Base(name) || len(name) > 100 || strings.ContainsRune(name, 0) || name == "." || name == ".." {
			t.Skip("skipped: the drawn name is not that of one file")
		}
		root := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(root, data, 0o644); err != nil {
			t.Skip("the file system refuses the name")
		}
		limits := Limits{MaxRecordBytes: 1 << 20, MaxTotalBytes: 8 << 20, MaxEntries: 100}
		paths := map[string]bool{}
		err := Walk(context.Background(), root, limits, Handler{
			File: func(file File) error {
				if shown := validPath(name); unsafePath(file.Path) != "" && file.Path != shown && file.Path != PlainName(shown) {
					t.Errorf("path %q", file.Path)
				}
				paths[file.Path] = true
				_, err := Split(file, limits.MaxRecordBytes, nil, func() []byte { return nil }, func(c Chunk) error {
					if int64(len(c.Data)) > limits.MaxRecordBytes+2 {
						t.Errorf("a record of %d bytes", len(c.Data))
					}
					return nil
				}, func(format.RecordError) {})
				return err
			},
			Refuse: func(e format.RecordError) {
				if e.Code == "" || strings.Contains(e.Error(), filepath.Dir(root)) {
					t.Errorf("%+v", e)
				}
			},
			Skip: func(string) {},
		})
		var unsafe *UnsafeError
		if err != nil && !errors.As(err, &unsafe) {
			t.Errorf("%v (%v)", err, reflect.TypeOf(err))
		}
	})
}

// What the lines of a file are is asked of its first lines until one tells; none is lost by
// that, and their numbers are those of the file.
func TestSplitLooksAhead(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
	}{
		{"a.jsonl", "\n{\"side\":1}\nbroken\n{\"whole\":1}\n{\"x\":2}\n", "0:\n{\"side\":1}\nbroken\n{\"whole\":1}\n{\"x\":2}\n"},
		{"a.json", "\n \n{\"whole\":1}\n{\"x\":2}\n", "0:\n \n{\"whole\":1}\n{\"x\":2}\n"},
		{"a.jsonl", "\n{\"side\":1}\n\n{\"row\":1}\n{\"whole\":1}", "2:{\"side\":1}|4:{\"row\":1}|5:{\"whole\":1}"},
		{"a.json", "{\"side\":1}\n{\"side\":2}\n", "1:{\"side\":1}|2:{\"side\":2}"},
		{"a.json", "\n{\"side\":\n1}\n", "0:\n{\"side\":\n1}\n"},
	} {
		var got []string
		ask := func(line []byte) Joint {
			switch {
			case bytes.Contains(line, []byte("whole")):
				return Joined
			case bytes.Contains(line, []byte("row")):
				return Apart
			}
			return Undecided
		}
		kind, _ := Classify(tt.name)
		file := File{Path: tt.name, Kind: kind, Size: int64(len(tt.text)), Body: bufio.NewReader(strings.NewReader(tt.text))}
		_, err := Split(file, 1<<20, ask, func() []byte { return nil }, func(c Chunk) error {
			got = append(got, fmt.Sprintf("%d:%s", c.Line, c.Data))
			return nil
		}, func(e format.RecordError) { t.Error(e.Error()) })
		if text := strings.Join(got, "|"); err != nil || text != tt.want {
			t.Errorf("%s %q: %q, %v, want %q", tt.name, tt.text, text, err, tt.want)
		}
	}
}

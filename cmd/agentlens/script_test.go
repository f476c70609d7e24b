package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
)

// exitcode runs a command and checks its exit code: exitcode N agentlens ARG...
// Its output is in the files out and err.
func exitcode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	program, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(program, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "TMPDIR="+ts.Getenv("TMPDIR"),
		cachedir.Variable+"="+ts.Getenv(cachedir.Variable))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), stdout.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("err"), stderr.Bytes(), 0o644))
	if got := cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", got, want, stdout.String(), stderr.String())
	}
}

// mkarchive makes a tar archive: mkarchive FILE ENTRY... where an entry is name=file for a
// regular file, or name->target for a symbolic link. FILE's ending gives the compression.
func mkarchive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mkarchive FILE ENTRY...")
	}
	var buf bytes.Buffer
	var w io.Writer = &buf
	var finish []io.Closer
	switch {
	case strings.HasSuffix(args[0], ".gz"):
		z := gzip.NewWriter(w)
		w, finish = z, append(finish, z)
	case strings.HasSuffix(args[0], ".zst"):
		z, err := zstd.NewWriter(w)
		ts.Check(err)
		w, finish = z, append(finish, z)
	}
	tw := tar.NewWriter(w)
	for _, entry := range args[1:] {
		if name, target, ok := strings.Cut(entry, "->"); ok {
			ts.Check(tw.WriteHeader(&tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeSymlink}))
			continue
		}
		name, file, ok := strings.Cut(entry, "=")
		if !ok {
			ts.Fatalf("entry %q: want name=file or name->target", entry)
		}
		data := ts.ReadFile(file)
		ts.Check(tw.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644}))
		_, err := io.WriteString(tw, data)
		ts.Check(err)
	}
	ts.Check(tw.Close())
	for _, c := range finish {
		ts.Check(c.Close())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), buf.Bytes(), 0o644))
}

// mkline appends a line to a file, with repetitions and bytes a script can't hold:
// mkline FILE PART... where a part is text, N*text, or \xHH bytes.
func mkline(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mkline FILE PART...")
	}
	var line strings.Builder
	for _, part := range args[1:] {
		n := 1
		if count, text, ok := strings.Cut(part, "*"); ok {
			if v, err := strconv.Atoi(count); err == nil {
				n, part = v, text
			}
		}
		for {
			i := strings.Index(part, `\x`)
			if i < 0 || i+4 > len(part) {
				break
			}
			v, err := strconv.ParseUint(part[i+2:i+4], 16, 8)
			ts.Check(err)
			part = part[:i] + string([]byte{byte(v)}) + part[i+4:]
		}
		line.WriteString(strings.Repeat(part, n))
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	ts.Check(err)
	_, err = fmt.Fprintln(f, line.String())
	ts.Check(errors.Join(err, f.Close()))
}

// replace copies a file with the first N occurrences of a text replaced, all without N:
// replace FROM TO OLD NEW [N].
func replace(ts *testscript.TestScript, neg bool, args []string) {
	n := -1
	if len(args) == 5 {
		var err error
		n, err = strconv.Atoi(args[4])
		ts.Check(err)
	}
	if neg || len(args) < 4 {
		ts.Fatalf("usage: replace FROM TO OLD NEW [N]")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[2]) {
		ts.Fatalf("%s has no %q", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Replace(text, args[2], args[3], n)), 0o644))
}

//go:build unix

package sidefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPipe: a pipe can be read once, and who asks again gets what was read.
func TestPipe(t *testing.T) {
	path := pipe(t)
	text := strings.Repeat("instance_id,passed\n", 10_000) // more than a pipe holds
	written := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond) // the reader comes first
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = io.WriteString(f, text[:9])
			time.Sleep(100 * time.Millisecond)
			_, werr := io.WriteString(f, text[9:])
			err = errors.Join(err, werr, f.Close())
		}
		written <- err
	}()
	var set Set
	for range 2 {
		f, err := set.Read(t.Context(), path)
		sum := sha256.Sum256([]byte(text))
		if err != nil || string(f.Data) != text || f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Fatalf("%d bytes, %s, %v", len(f.Data), f.SHA256, err)
		}
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// TestWaitEnds: neither a pipe that nobody opens nor one that nobody writes to outlasts the
// context.
func TestWaitEnds(t *testing.T) {
	silent := pipe(t)
	writer, err := os.OpenFile(silent, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	for _, path := range []string{pipe(t), silent} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		begin := time.Now()
		_, err := Read(ctx, path)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	}
	if f, err := OpenRegular(pipe(t)); err == nil {
		f.Close()
		t.Error("a pipe passes for a file")
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := read(t.Context(), file, 5); err != nil || string(f.Data) != "12345" {
		t.Errorf("%q, %v", f.Data, err)
	}
	for path, most := range map[string]int64{file: 4, "/dev/zero": 100, dir: 5, filepath.Join(dir, "missing"): 5} {
		var at *fs.PathError
		if _, err := read(t.Context(), path, most); !errors.As(err, &at) || at.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

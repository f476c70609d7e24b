// Package sidefile reads the files that a call names beside its logs: outcomes, mappings of
// tools, donors, rules, parameters.
//
// Invariants:
//
//   - A file is opened once. What its digest is of is what was read, also of a pipe.
//   - No wait for a file outlasts its context: a named pipe that nobody writes to, a device
//     that gives nothing.
//   - A file is held in memory, so one above MaxBytes is refused.
package sidefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// MaxBytes is far above any of these files.
const MaxBytes = 256 << 20

// File is what was read.
type File struct {
	Data   []byte
	SHA256 string // hex
}

// Reader returns a reader of the data.
func (f File) Reader() io.Reader { return bytes.NewReader(f.Data) }

// A Set keeps files for those who ask again. The zero value is ready to use; of a nil one
// nothing is kept.
type Set struct {
	mu    sync.Mutex
	files map[string]File
}

// Read reads a file, or returns what was read of it before.
func (s *Set) Read(ctx context.Context, path string) (File, error) {
	if s == nil {
		return Read(ctx, path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.files[path]; ok {
		return f, nil
	}
	f, err := Read(ctx, path)
	if err != nil {
		return f, err
	}
	if s.files == nil {
		s.files = map[string]File{}
	}
	s.files[path] = f
	return f, nil
}

// Digest returns the SHA-256 of a file in hex, "" for no file.
func (s *Set) Digest(ctx context.Context, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	f, err := s.Read(ctx, path)
	return f.SHA256, err
}

// Read reads a file, a pipe or a device. The error is a *fs.PathError, or of the context.
func Read(ctx context.Context, path string) (File, error) { return read(ctx, path, MaxBytes) }

func read(ctx context.Context, path string, most int64) (File, error) {
	f, err := open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	if info.IsDir() {
		return File{}, &fs.PathError{Op: "read", Path: path, Err: errors.New("is a folder; name a file")}
	}
	data, err := io.ReadAll(io.LimitReader(Reader(ctx, f), most+1))
	if err != nil {
		return File{}, err
	}
	if int64(len(data)) > most {
		return File{}, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is larger than %d bytes", most)}
	}
	sum := sha256.Sum256(data)
	return File{data, hex.EncodeToString(sum[:])}, nil
}

// Reader reads a file, such as standard input, until the context ends.
func Reader(ctx context.Context, f *os.File) io.Reader {
	wait := waiter(f)
	return readerFunc(func(p []byte) (int, error) {
		if err := wait(ctx); err != nil {
			return 0, err
		}
		return f.Read(p)
	})
}

type readerFunc func(p []byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// OpenRegular opens a file for reading that is a regular one when it is opened; it waits for
// no other kind.
func OpenRegular(path string) (*os.File, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is no longer a regular file")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

package fetch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"
	"golang.org/x/sync/errgroup"

	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// A cache is the folder of one dataset on this machine. An unfinished file is a hidden one
// beside its place.
type cache struct{ dir string }

// DigestError is a file with other bytes than listed.
type DigestError struct {
	File      File
	Got       string // SHA-256 of the bytes that came
	Bytes     int64  // how many; one more than listed when there were more still
	LineFeeds bool   // it would be right with LF for every CRLF
}

func (e *DigestError) Error() string {
	text := fmt.Sprintf("wrong bytes: SHA-256 %s, want %s", e.Got, e.File.SHA256)
	switch {
	case e.LineFeeds:
		text += " (its line ends were changed to CRLF)"
	case e.Bytes > e.File.Bytes:
		text += fmt.Sprintf(" (more than %d bytes)", e.File.Bytes)
	case e.Bytes < e.File.Bytes:
		text += fmt.Sprintf(" (%d bytes, want %d)", e.Bytes, e.File.Bytes)
	}
	return text
}

// localError is a failure of this machine, which ends the fetch.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

func local(err error) error {
	if err == nil {
		return nil
	}
	return localError{fmt.Errorf("the cache can't be written: %w; make room, or choose another folder with option cache", err)}
}

// openCache makes the dataset's folder in root and waits until no other fetch uses it.
func openCache(ctx context.Context, root string, r Recipe) (cache, func(), error) {
	name := r.Name + "-" + r.SHA256[:12]
	root, err := filepath.Abs(root)
	if err != nil {
		return cache{}, nil, err
	}
	c := cache{filepath.Join(root, name)}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return cache{}, nil, local(err)
	}
	type lock struct {
		release func()
		err     error
	}
	held := make(chan lock, 1)
	go func() {
		release, err := lockedfile.MutexAt(filepath.Join(root, "."+name+".lock")).Lock()
		held <- lock{release, err}
	}()
	select {
	case l := <-held:
		return c, l.release, local(l.err)
	case <-ctx.Done():
		go func() {
			if l := <-held; l.err == nil {
				l.release()
			}
		}()
		return cache{}, nil, ctx.Err()
	}
}

func (c cache) path(f File) string { return filepath.Join(c.dir, filepath.FromSlash(f.Path)) }

func (c cache) part(f File) string {
	dir, base := path.Split(f.Path)
	return filepath.Join(c.dir, filepath.FromSlash(dir), "."+base+".part")
}

// apart refuses an output that is the cache of the dataset, holds it or lies in it.
func (c cache) apart(out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	for _, p := range [][2]string{{c.dir, out}, {out, c.dir}} {
		if rel, err := filepath.Rel(p[0], p[1]); err == nil && filepath.IsLocal(rel) {
			return usage.Errorf("", "the output %s and the cache %s must lie apart; choose another output, or leave it out", out, c.dir)
		}
	}
	return nil
}

// verify says of each file whether it is there with the right bytes, jobs at a time.
func (c cache) verify(ctx context.Context, files []File, jobs int) ([]bool, error) {
	good := make([]bool, len(files))
	var group errgroup.Group
	group.SetLimit(jobs)
	for i, f := range files {
		group.Go(func() (err error) {
			if ctx.Err() == nil {
				good[i], err = c.has(f)
			}
			return err
		})
	}
	return good, cmp.Or(group.Wait(), ctx.Err())
}

func (c cache) has(f File) (bool, error) {
	info, err := os.Lstat(c.path(f))
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() != f.Bytes) {
		return false, nil
	}
	if err != nil {
		return false, unreadable(err)
	}
	file, err := os.Open(c.path(f))
	if err != nil {
		return false, unreadable(err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return false, unreadable(err)
	}
	return hex.EncodeToString(h.Sum(nil)) == f.SHA256, nil
}

func unreadable(err error) error {
	return fmt.Errorf("the cache can't be read: %w; remove what is in the way, or choose another folder with option cache", err)
}

// openPart opens what was got of a file so far, to read and to go on. What is no file, such
// as a link to elsewhere, is removed.
func (c cache) openPart(f File) (*os.File, error) {
	part := c.part(f)
	if err := os.MkdirAll(filepath.Dir(part), 0o755); err != nil {
		return nil, local(err)
	}
	if info, err := os.Lstat(part); err == nil && !info.Mode().IsRegular() {
		if err := os.Remove(part); err != nil {
			return nil, local(err)
		}
	}
	file, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	return file, local(err)
}

// finish closes a verified part and puts it in its place.
func (c cache) finish(f File, part *os.File) error {
	if err := errors.Join(part.Sync(), part.Close()); err != nil {
		return local(err)
	}
	return local(output.PutFile(part.Name(), c.path(f)))
}

// put stores a file whose bytes are at hand. Other bytes than listed are a *DigestError.
func (c cache) put(f File, data []byte) error {
	if err := check(f, data); err != nil {
		return err
	}
	part, err := c.openPart(f)
	if err != nil {
		return err
	}
	defer part.Close()
	if err := part.Truncate(0); err != nil {
		return local(err)
	}
	if _, err := part.Write(data); err != nil {
		return local(err)
	}
	return c.finish(f, part)
}

func check(f File, data []byte) error {
	if digest(data) == f.SHA256 {
		return nil
	}
	plain := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return &DigestError{File: f, Got: digest(data), Bytes: int64(len(data)), LineFeeds: digest(plain) == f.SHA256}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// link refuses a file that is made read-only: as a part of an output it could not be flushed.
func link(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return fs.ErrPermission
	}
	return os.Link(from, to)
}

// copyTo makes the folder out with all files, by links where the file system can.
func (c cache) copyTo(ctx context.Context, out string, files []File) error {
	d, err := output.Begin(out, nil)
	if err != nil {
		return err
	}
	err = func() error {
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			to, err := d.Path(f.Path)
			if err != nil {
				return err
			}
			if link(c.path(f), to) == nil {
				continue
			}
			data, err := os.ReadFile(c.path(f))
			if err != nil {
				return err
			}
			if err := os.WriteFile(to, data, 0o644); err != nil {
				return err
			}
		}
		return d.Commit()
	}()
	return d.End(err)
}

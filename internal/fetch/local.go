package fetch

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"
)

// entry is one file of a folder or archive while it is visited.
type entry struct {
	name string // slash-separated; never used as a path
	open func() (io.ReadCloser, error)
}

// walk visits the regular files of a folder or archive (tar, also compressed with gzip or
// zstandard; zip). Package source leaves out files that hold no logs; a dataset has such.
func walk(ctx context.Context, root string, visit func(entry) error) error {
	next := func(e entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return visit(e)
	}
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return walkFolder(root, next)
	}
	f, err := os.Open(root)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := walkArchive(ctx, f, info.Size(), next); err != nil {
		return fmt.Errorf("%s: %w", root, err)
	}
	return nil
}

func walkFolder(root string, visit func(entry) error) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != root && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return nil // it will be missing
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		return visit(entry{filepath.ToSlash(rel), func() (io.ReadCloser, error) { return os.Open(file) }})
	})
}

func walkArchive(ctx context.Context, f *os.File, size int64, visit func(entry) error) error {
	r := bufio.NewReader(f)
	head, _ := r.Peek(512)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return walkZip(f, size, visit)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return damaged(err)
		}
		defer z.Close()
		return walkTar(ctx, z, visit)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return damaged(err)
		}
		defer z.Close()
		return walkTar(ctx, z, visit)
	case len(head) == 512 && string(head[257:262]) == "ustar":
		return walkTar(ctx, r, visit)
	}
	return errors.New("it is neither a folder nor a .tar, .tar.gz, .tar.zst or .zip archive")
}

func damaged(err error) error {
	return fmt.Errorf("the archive is cut off or damaged (%w); get it again", err)
}

// cancelable ends the reading of an entry, which can be of any size.
type cancelable struct {
	ctx context.Context
	io.Reader
}

func (c cancelable) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(b)
}

func walkTar(ctx context.Context, r io.Reader, visit func(entry) error) error {
	for t := tar.NewReader(cancelable{ctx, r}); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := visit(entry{h.Name, func() (io.ReadCloser, error) { return io.NopCloser(t), nil }}); err != nil {
			return err
		}
	}
}

func walkZip(f io.ReaderAt, size int64, visit func(entry) error) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return damaged(err)
	}
	for _, e := range z.File {
		if !e.Mode().IsRegular() {
			continue
		}
		if err := visit(entry{e.Name, e.Open}); err != nil {
			return err
		}
	}
	return nil
}

func index(files []File) map[string]int {
	at := make(map[string]int, len(files))
	for i, f := range files {
		at[f.Path] = i
	}
	return at
}

// findRoot returns the folder of names, with its slash, below which most listed files are:
// a copy may be one of the dataset, or of the whole repository that holds it.
func findRoot(names []string, listed map[string]int) string {
	votes := map[string]int{}
	best := ""
	for _, name := range names {
		for at := 0; ; {
			if _, ok := listed[name[at:]]; ok {
				root := name[:at]
				votes[root]++
				if votes[root] > votes[best] {
					best = root
				}
			}
			slash := strings.IndexByte(name[at:], '/')
			if slash < 0 {
				break
			}
			at += slash + 1
		}
	}
	return best
}

// SourceError says what is wrong with a copy of a dataset.
type SourceError struct {
	From      string
	Want      int64
	Missing   []string       // sorted
	Different []*DigestError // sorted by path
}

func (e *SourceError) Error() string {
	changed := 0
	var different []string
	for _, d := range e.Different {
		different = append(different, d.File.Path+": "+d.Error())
		if d.LineFeeds {
			changed++
		}
	}
	if int64(len(e.Missing)+len(different)) == e.Want && changed == 0 {
		return fmt.Sprintf("%s holds none of the %d files of this dataset; give a copy of it, or leave option from out", e.From, e.Want)
	}
	var wrong []string
	if n := len(e.Missing); n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d missing (%s)", n, some(e.Missing)))
	}
	if n := len(different); n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d different (%s)", n, some(different)))
	}
	text := fmt.Sprintf("%s is no whole copy: of %d files %s", e.From, e.Want, strings.Join(wrong, " and "))
	if changed > 0 {
		text += fmt.Sprintf("; %d differ in their line ends only, CRLF for LF: check the mirror out again with git -c core.autocrlf=false, or take an archive of it", changed)
	}
	return text + "; the right ones are kept, and a fetch without option from gets the others"
}

// some shows the first few of a list.
func some(names []string) string {
	const most = 3
	if n := len(names) - most; n > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(", and %d more", n)
	}
	return strings.Join(names, ", ")
}

// take verifies the copy of the dataset at from and stores what the cache has not.
// It returns the names of files that are not in the list.
func (c cache) take(ctx context.Context, from string, r Recipe, have []bool, jobs int, done func(File)) ([]string, error) {
	var names []string
	err := walk(ctx, from, func(e entry) error {
		names = append(names, e.name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	listed := index(r.List)
	root := findRoot(names, listed)

	skipped := []string{}
	var mu sync.Mutex                       // guards calls of done
	busy := make([]sync.Mutex, len(r.List)) // each guards one of found and its file: an archive may hold it twice
	found := make([]error, len(r.List))     // errMissing, a *DigestError or nil
	for i := range found {
		found[i] = errMissing
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	err = walk(inner, from, func(e entry) error {
		path, below := strings.CutPrefix(e.name, root)
		i, ok := listed[path]
		if !ok || !below {
			skipped = append(skipped, e.name)
			return nil
		}
		f := r.List[i]
		data, err := read(e, 2*f.Bytes+1) // with every LF a CRLF
		if err != nil {
			return fmt.Errorf("%s: %s can't be read: %w", from, e.name, err)
		}
		group.Go(func() error {
			busy[i].Lock()
			defer busy[i].Unlock()
			if found[i] == nil {
				return nil
			}
			first := found[i] == errMissing
			var err error
			if have[i] {
				err = check(f, data)
			} else {
				err = c.put(f, data)
			}
			var wrong *DigestError
			if err != nil && !errors.As(err, &wrong) {
				return err
			}
			found[i] = err
			if first {
				mu.Lock()
				defer mu.Unlock()
				done(f)
			}
			return nil
		})
		return nil
	})
	if failed := group.Wait(); failed != nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	bad := &SourceError{From: from, Want: r.Files}
	for i, err := range found {
		var wrong *DigestError
		switch {
		case err == errMissing:
			bad.Missing = append(bad.Missing, r.List[i].Path)
		case errors.As(err, &wrong):
			bad.Different = append(bad.Different, wrong)
		}
	}
	if len(bad.Missing)+len(bad.Different) > 0 {
		return skipped, bad
	}
	return skipped, nil
}

var errMissing = errors.New("missing")

// read reads at most that many bytes.
func read(e entry, most int64) ([]byte, error) {
	r, err := e.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, most))
}

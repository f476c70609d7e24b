package source

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// File is one file of a source while it is being read.
type File struct {
	Path string // inside the source
	Kind Kind   // by its name; never Other
	Size int64  // bytes, -1 when unknown
	Body *bufio.Reader
}

// Handler gets what a walk meets. All calls come from the goroutine that walks.
type Handler struct {
	// File reads one file. It may leave bytes unread. A *BrokenError says that the body
	// failed, a *SkipError that the file is none to read; every other error ends the walk.
	File   func(File) error
	Refuse func(format.RecordError)
	Skip   func(reason string)
	Warn   func(code string)     // about a file of which nothing is lost; may be nil
	Report func(readBytes int64) // bytes of the source read so far; may be nil
}

// BrokenError is a failure of a file's body after some records.
type BrokenError struct {
	Line int64 // where reading stopped, 1-based; 0 for a file without lines
	Err  error
}

func (e *BrokenError) Error() string { return e.Err.Error() }

func (e *BrokenError) Unwrap() error { return e.Err }

// SkipError is a file that is passed over for what it holds.
type SkipError struct{ Reason string }

func (e *SkipError) Error() string { return "skipped: " + e.Reason }

// Walk reads the source at root: a folder, a file, a compressed file, or an archive
// (tar, also compressed with gzip or zstandard; zip). The kind is told by content.
func Walk(ctx context.Context, root string, limits Limits, h Handler) error {
	w := &walker{ctx: ctx, root: root, limits: limits.WithDefaults(), Handler: h}
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage.Errorf("", "source %s does not exist; give a folder, a file or an archive of logs", root)
	case err != nil:
		return fmt.Errorf("source %s cannot be opened: %w", root, err)
	case info.IsDir():
		return w.folder()
	case !info.Mode().IsRegular():
		return fmt.Errorf("source %s is neither a file nor a folder: an archive is read with a look back, so write a pipe to a file first", root)
	}
	f, err := sidefile.OpenRegular(root)
	if err != nil {
		return fmt.Errorf("source %s cannot be opened: %w", root, err)
	}
	defer f.Close()
	return w.single(f, info.Size())
}

// Size returns the bytes of the files under root, for progress. Files that can't be
// looked at count 0.
func Size(root string) int64 {
	var total int64
	_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}

type walker struct {
	ctx    context.Context
	root   string
	limits Limits
	Handler

	read     int64 // bytes taken from the file system
	size     int64 // of a zip file, whose bytes may be read in any order; else 0
	expanded int64 // bytes given to readers
	entry    string
	hidden   map[string]bool // folders that were passed over

	body, inner *bufio.Reader // of the member at hand, and of what it expands to
}

// refill points a buffer at the next member.
func refill(buffer **bufio.Reader, r io.Reader) *bufio.Reader {
	if *buffer == nil {
		*buffer = bufio.NewReaderSize(r, bufferSize)
	} else {
		(*buffer).Reset(r)
	}
	return *buffer
}

func (w *walker) folder() error {
	root, err := filepath.EvalSymlinks(w.root)
	if err != nil {
		return fmt.Errorf("source %s cannot be opened: %w", w.root, err)
	}
	made := "" // the folder of a dataset that the walk is in
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		rel, relErr := filepath.Rel(root, file)
		if relErr != nil {
			return relErr
		}
		rel = validPath(filepath.ToSlash(rel))
		if err != nil {
			w.unreadable(rel, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if rel == "." {
			return nil
		}
		if ignore, _ := ignored(rel); ignore {
			if d.IsDir() {
				_, folder := ignored(rel + "/file")
				w.skipHidden(folder)
				return fs.SkipDir
			}
			return nil
		}
		if made != "" && strings.HasPrefix(file, made) {
			if !d.IsDir() {
				w.Skip("dataset, export or other output made by this program")
			}
			return nil
		}
		if d.IsDir() {
			if isOutput(file) {
				made = file + string(filepath.Separator)
			}
			return nil
		}
		if kind, reason := Classify(PlainName(rel)); kind == Other {
			w.Skip(reason)
			return nil
		}
		return w.folderFile(rel, file)
	})
}

// isOutput reports whether a folder is a dataset or another output of this program that has
// a manifest.
func isOutput(dir string) bool {
	const most = 1 << 20 // bytes of a manifest; its first members are enough
	path := filepath.Join(dir, "manifest.json")
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := sidefile.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return false
	}
	p := format.NewProbe("", text)
	tool, _ := p.Get("tool").Text()
	return tool == "agentlens" && p.Has("tool_version")
}

func (w *walker) folderFile(rel, file string) error {
	info, err := os.Stat(file) // follows a link to a file
	if err != nil {
		w.unreadable(rel, err)
		return nil
	}
	if info.IsDir() {
		w.Skip("symbolic link to a folder")
		return nil
	}
	if !info.Mode().IsRegular() {
		w.Skip("neither a file nor a folder")
		return nil
	}
	f, err := sidefile.OpenRegular(file)
	if err != nil {
		w.unreadable(rel, err)
		return nil
	}
	defer f.Close()
	return w.member(rel, info.Size(), &rawReader{w: w, r: f})
}

func (w *walker) unreadable(rel string, err error) {
	var pathErr *fs.PathError
	reason := err.Error()
	if errors.As(err, &pathErr) {
		reason = pathErr.Err.Error() // without the path on this machine
	}
	w.Refuse(format.RecordError{
		File: rel, Code: "unreadable_file",
		Message: "cannot be read: " + reason,
		Hint:    "make it readable, or take it out of the source",
	})
}

// single reads a source that is one file.
func (w *walker) single(f *os.File, size int64) error {
	raw := &rawReader{w: w, r: f}
	body := bufio.NewReaderSize(raw, bufferSize)
	base := validPath(filepath.Base(w.root))
	head, _ := body.Peek(headSize)
	if err := w.ctx.Err(); err != nil {
		return err // else an archive without a head is passed over as no log
	}
	if isZip(head) {
		return w.zip(f, size)
	}
	if isTar(head, base) {
		return w.tar(&expandReader{w: w, r: body})
	}
	inner, closeInner, err := w.decompress(head, body, raw)
	if err != nil {
		return w.broken(base, err)
	}
	if inner == nil {
		return w.file(base, size, body)
	}
	defer closeInner()
	plain := bufio.NewReaderSize(inner, bufferSize)
	name := PlainName(base)
	head, _ = plain.Peek(headSize)
	if isTar(head, name) {
		return w.tar(plain)
	}
	return w.file(name, -1, plain)
}

// member reads one file of a folder or archive, and looks through its compression.
func (w *walker) member(name string, size int64, raw *rawReader) error {
	body := refill(&w.body, raw)
	head, _ := body.Peek(headSize)
	inner, closeInner, err := w.decompress(head, body, raw)
	if err != nil {
		return w.broken(name, err)
	}
	if inner == nil {
		return w.plainMember(name, size, body)
	}
	defer closeInner()
	return w.plainMember(PlainName(name), -1, refill(&w.inner, inner))
}

func (w *walker) plainMember(name string, size int64, body *bufio.Reader) error {
	head, _ := body.Peek(headSize)
	if isZip(head) || isTar(head, name) {
		w.Skip("archive inside a source: give it as a source of its own")
		return nil
	}
	return w.file(name, size, body)
}

// file hands one plain file to the handler.
func (w *walker) file(name string, size int64, body *bufio.Reader) error {
	kind, reason := Classify(name)
	if kind == Other {
		w.Skip(reason)
		return nil
	}
	if kind == Unknown {
		head, _ := body.Peek(headSize)
		head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(bom)), " \t\r\n")
		if len(head) == 0 || head[0] != '{' && head[0] != '[' {
			w.Skip("no JSON by its content")
			return nil
		}
		kind = JSON
	}
	w.entry = name
	err := w.File(File{Path: name, Kind: kind, Size: size, Body: body})
	var broken *BrokenError
	var skip *SkipError
	switch {
	case errors.As(err, &broken):
		return w.broken(name, err)
	case errors.As(err, &skip):
		w.Skip(skip.Reason)
		return nil
	}
	return err
}

// broken turns the failure of a file's body into a refused record, unless it is fatal.
func (w *walker) broken(name string, err error) error {
	var unsafe *UnsafeError
	if errors.As(err, &unsafe) {
		return unsafe
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		w.unreadable(name, err)
		return nil
	}
	var line int64
	var broken *BrokenError
	if errors.As(err, &broken) {
		line, err = broken.Line, broken.Err
	}
	w.Refuse(damage(name, line, w.expanded, err))
	return nil
}

func damage(name string, line, offset int64, err error) format.RecordError {
	e := format.RecordError{
		File: name, Line: line, Code: "corrupt_archive",
		Message: fmt.Sprintf("the data is damaged after about %d expanded bytes of the source: %v; records before are kept", offset, err),
		Hint:    "fetch or write the file again",
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Code = "truncated_archive"
		e.Message = fmt.Sprintf("the data is cut off after about %d expanded bytes of the source; records before are kept", offset)
	}
	return e
}

const (
	bufferSize = 128 << 10
	headSize   = 1024
	bom        = "\ufeff"
)

// rawReader counts the bytes of the source itself and ends on cancellation.
type rawReader struct {
	w *walker
	r io.Reader
	n int64
	// inside marks the body of an archive entry: its bytes were counted by the archive.
	inside bool
	failed bool // with an error other than the end
}

func (r *rawReader) Read(p []byte) (int, error) {
	if err := r.w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	r.n += int64(n)
	if !r.inside {
		r.w.read += int64(n)
		if r.w.Report != nil {
			r.w.Report(r.w.read)
		}
	}
	r.failed = r.failed || err != nil && err != io.EOF
	return n, err
}

// expandReader counts what comes out of a decompressor or an archive, and stops bombs.
type expandReader struct {
	w     *walker
	r     io.Reader
	taken func() int64 // compressed bytes consumed; nil when nothing is compressed
	n     int64
}

func (r *expandReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.n += int64(n)
	r.w.expanded += int64(n)
	if r.w.expanded > r.w.limits.MaxTotalBytes {
		return n, &UnsafeError{
			Source: r.w.root, Entry: r.w.entry,
			Reason: fmt.Sprintf("takes the source over %d expanded bytes", r.w.limits.MaxTotalBytes),
			Hint:   "raise option max-total-bytes if it is meant to be that large",
		}
	}
	if r.taken != nil && r.n > ratioFrom {
		if in := r.taken(); r.w.limits.over(r.n, in) {
			return n, r.bomb(fmt.Sprintf("expands %d bytes to more than %d", in, r.n))
		}
	}
	if in := cmp.Or(r.w.size, r.w.read); r.w.expanded > ratioFrom && r.w.limits.over(r.w.expanded, in) {
		return n, r.bomb(fmt.Sprintf("takes the source from %d bytes to more than %d", in, r.w.expanded))
	}
	return n, err
}

func (l *Limits) over(out, in int64) bool { return float64(out) > l.MaxRatio*float64(max(in, 1)) }

func (r *expandReader) bomb(what string) error {
	return &UnsafeError{
		Source: r.w.root, Entry: r.w.entry,
		Reason: fmt.Sprintf("%s, over the ratio of %g", what, r.w.limits.MaxRatio),
		Hint:   "raise option max-ratio if you trust it",
	}
}

// decompress returns a reader of the plain data when head begins a gzip or zstandard
// stream, nil when it does not. The close function is set with the reader.
func (w *walker) decompress(head []byte, body *bufio.Reader, raw *rawReader) (io.Reader, func(), error) {
	taken := func() int64 { return raw.n }
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}):
		z, err := newGzipReader(body)
		if err != nil {
			return nil, nil, err
		}
		return &expandReader{w: w, r: z, taken: taken}, func() {
			if z.trailing && w.Warn != nil {
				w.Warn("gzip_trailing_data")
			}
			z.z.Close()
		}, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, err
		}
		return &expandReader{w: w, r: z, taken: taken}, z.Close, nil
	}
	return nil, nil, nil
}

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// isTar knows tar by its magic, and archives of before POSIX by name.
func isTar(head []byte, name string) bool {
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return true
	}
	lower := strings.ToLower(name)
	return len(head) >= 512 && (strings.HasSuffix(lower, ".tar") || strings.HasSuffix(lower, ".tgz"))
}

package source

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

// admission checks the entries of one archive.
type admission struct {
	w    *walker
	seen map[[16]byte]struct{} // digests of names: an archive may have millions
}

// admit returns the clean path of an entry, or refuses the archive.
func (a *admission) admit(name, special string) (string, error) {
	refuse := func(reason, hint string) error {
		return &UnsafeError{Source: a.w.root, Entry: name, Reason: reason, Hint: hint}
	}
	if reason := unsafePath(name); reason != "" {
		return "", refuse(reason, "make the archive again from inside its folder")
	}
	switch special {
	case "":
	case sparseFile:
		return "", refuse("is "+special, "make the archive again without option sparse, so that files are whole in it")
	default:
		return "", refuse("is "+special, "archives may hold files and folders only: make it again with links followed (tar --dereference --hard-dereference)")
	}
	clean := validPath(path.Clean(strings.ReplaceAll(name, `\`, "/")))
	sum := sha256.Sum256([]byte(clean))
	key := [16]byte(sum[:16])
	if _, again := a.seen[key]; again && clean != "." {
		return "", refuse("occurs twice", "make the archive again: which of the two is meant can't be told")
	}
	if int64(len(a.seen)) >= a.w.limits.MaxEntries {
		return "", refuse(fmt.Sprintf("is the one after %d entries", a.w.limits.MaxEntries), "raise option max-entries if it is meant to be that large")
	}
	a.seen[key] = struct{}{}
	return clean, nil
}

// tar reads a tar stream, already expanded and metered.
func (w *walker) tar(stream io.Reader) error {
	tail := &tailReader{r: stream}
	tr := tar.NewReader(tail)
	a := admission{w: w, seen: map[[16]byte]struct{}{}}
	base := validPath(filepath.Base(w.root))
	for {
		header, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return w.broken(base, err)
		}
		w.entry = header.Name
		clean, err := a.admit(header.Name, tarSpecial(header))
		if err != nil {
			return err
		}
		if header.Typeflag == tar.TypeDir || header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		body := &rawReader{w: w, r: tr, inside: true}
		if err := w.archiveFile(clean, header.Size, body); err != nil {
			return err
		}
		if body.failed {
			return nil // reported with the entry; nothing behind it can be found
		}
	}
	if !tail.zero() {
		w.Refuse(damage(base, 0, w.expanded, io.ErrUnexpectedEOF))
		return nil
	}
	// Read to the end, so that a damaged checksum is noticed.
	rest := bufio.NewReader(tail)
	for {
		c, err := rest.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return w.broken(base, err)
		}
		if c != 0 {
			w.Refuse(format.RecordError{
				File: base, Code: "trailing_data",
				Message: "there is data behind the end of the archive, which is not read",
				Hint:    "archives put together with cat are not read: make one archive of all files",
			})
			return nil
		}
	}
}

// sparseFile is an entry that states holes instead of their zeros. A reader makes them up in
// any number.
const sparseFile = "a sparse file"

func tarSpecial(h *tar.Header) string {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return sparseFile
		}
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeXGlobalHeader:
		return ""
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a named pipe"
	case tar.TypeGNUSparse:
		return sparseFile
	}
	return fmt.Sprintf("of the unknown kind %q", h.Typeflag)
}

// archiveFile reads one regular entry.
func (w *walker) archiveFile(clean string, size int64, body *rawReader) error {
	if ignore, folder := ignored(clean); ignore {
		w.skipHidden(folder)
		return nil
	}
	if kind, reason := Classify(PlainName(clean)); kind == Other {
		w.Skip(reason)
		return nil
	}
	return w.member(clean, size, body)
}

// zip reads a zip file by its directory.
func (w *walker) zip(f *os.File, size int64) error {
	base := validPath(filepath.Base(w.root))
	zr, err := zip.NewReader(&meteredReaderAt{w: w, r: f}, size)
	if err != nil {
		var unsafe *UnsafeError
		if errors.As(err, &unsafe) || w.ctx.Err() != nil {
			return err
		}
		if errors.Is(err, zip.ErrFormat) {
			err = io.ErrUnexpectedEOF // the directory stands at the end of the file
		}
		return w.broken(base, err)
	}
	zr.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return flate.NewReader(r) })
	zr.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20)))
	a := admission{w: w, seen: map[[16]byte]struct{}{}}
	clean := make([]string, len(zr.File))
	for i, entry := range zr.File {
		if clean[i], err = a.admit(entry.Name, zipSpecial(entry)); err != nil {
			return err
		}
	}
	if err := w.apart(zr.File, size); err != nil {
		return err
	}
	w.size = size
	for i, entry := range zr.File {
		if entry.Mode().IsDir() || strings.HasSuffix(entry.Name, "/") {
			continue
		}
		w.entry = entry.Name
		if err := w.zipEntry(clean[i], entry); err != nil {
			return err
		}
	}
	return nil
}

// apart refuses a zip file whose entries share bytes, or state more of them than the file has:
// the same stream could be read for every entry.
func (w *walker) apart(entries []*zip.File, size int64) error {
	const header = 30 // least bytes before the data of an entry
	type span struct {
		name       string
		start, end int64
	}
	refuse := func(name, reason string) error {
		return &UnsafeError{Source: w.root, Entry: name, Reason: reason, Hint: "make the archive again from the files"}
	}
	spans := make([]span, 0, len(entries))
	for _, e := range entries {
		start, err := e.DataOffset()
		switch {
		case w.ctx.Err() != nil:
			return w.ctx.Err()
		case err != nil:
			continue // refused when it is read
		case e.CompressedSize64 > uint64(max(0, size-start)):
			return refuse(e.Name, fmt.Sprintf("states %d compressed bytes, more than the archive has behind its place", e.CompressedSize64))
		}
		spans = append(spans, span{e.Name, start - header, start + int64(e.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), strings.Compare(a.name, b.name))
	})
	for i := 1; i < len(spans); i++ {
		if spans[i].start < spans[i-1].end {
			return refuse(spans[i].name, fmt.Sprintf("shares bytes of the archive with entry %q", spans[i-1].name))
		}
	}
	return nil
}

func (w *walker) zipEntry(clean string, entry *zip.File) error {
	if entry.Flags&1 != 0 {
		w.Refuse(format.RecordError{
			File: clean, Code: "encrypted_entry", Message: "is encrypted", Hint: "make the archive again without a password",
		})
		return nil
	}
	body, err := entry.Open()
	if err != nil {
		return w.broken(clean, err)
	}
	defer body.Close()
	compressed := int64(min(entry.CompressedSize64, uint64(w.size)))
	metered := &expandReader{w: w, r: body, taken: func() int64 { return compressed }}
	return w.archiveFile(clean, int64(min(entry.UncompressedSize64, 1<<62)), &rawReader{w: w, r: metered, inside: true})
}

func zipSpecial(entry *zip.File) string {
	switch mode := entry.Mode(); {
	case mode.IsDir(), mode.IsRegular():
		return ""
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	default:
		return "neither a file nor a folder"
	}
}

// meteredReaderAt ends on cancellation and counts the bytes of the source.
type meteredReaderAt struct {
	w *walker
	r io.ReaderAt
}

func (m *meteredReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if err := m.w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.ReadAt(p, off)
	m.w.read += int64(n)
	if m.w.Report != nil {
		m.w.Report(m.w.read)
	}
	return n, err
}

// tailReader remembers the end of what went through it: a whole tar archive ends with
// blocks of zeros, a cut one does not.
type tailReader struct {
	r    io.Reader
	tail [512]byte
	n    int64
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	last := p[max(0, n-len(t.tail)):n]
	copy(t.tail[:], t.tail[len(last):])
	copy(t.tail[len(t.tail)-len(last):], last)
	return n, err
}

func (t *tailReader) zero() bool { return t.n >= int64(len(t.tail)) && t.tail == [512]byte{} }

package source

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Digest identifies a source by the content of the files that were read, whatever
// container they came in. Files skipped by their name do not count.
type Digest struct {
	files []digestFile
	bytes int64
}

type digestFile struct{ sum, path string }

// Add notes one file: the hex SHA-256 of its content, and its size.
func (d *Digest) Add(path, sum string, size int64) {
	d.files = append(d.files, digestFile{sum, path})
	d.bytes += size
}

// Files returns the number of files.
func (d *Digest) Files() int64 { return int64(len(d.files)) }

// Bytes returns their bytes.
func (d *Digest) Bytes() int64 { return d.bytes }

// Sum returns the hex SHA-256 of the sorted lines "<sha256 of file>  <path>\n". The folders
// that all files share are left out of the path, so that a folder and an archive that holds
// the folder are the same source.
func (d *Digest) Sum() string {
	prefix := d.common()
	files := slices.Clone(d.files)
	slices.SortFunc(files, func(a, b digestFile) int {
		if n := strings.Compare(a.sum, b.sum); n != 0 {
			return n
		}
		return strings.Compare(a.path, b.path)
	})
	h := sha256.New()
	for _, f := range files {
		h.Write([]byte(f.sum + "  " + f.path[prefix:] + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// common returns the length of the folders all paths share.
func (d *Digest) common() int {
	if len(d.files) == 0 {
		return 0
	}
	shared := d.files[0].path
	shared = shared[:strings.LastIndexByte(shared, '/')+1]
	for _, f := range d.files {
		for !strings.HasPrefix(f.path, shared) {
			shared = shared[:strings.LastIndexByte(shared[:len(shared)-1], '/')+1]
		}
	}
	return len(shared)
}

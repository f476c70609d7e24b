package synth

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/gzip"
)

// WriteArchive generates cfg as a .tar.gz without times or owners, files in name order. It
// holds the whole set in memory: it is meant for samples.
func WriteArchive(ctx context.Context, cfg Config, w io.Writer) error {
	files := map[string]*bytes.Buffer{}
	err := Generate(ctx, cfg, func(name string, line []byte) error {
		if files[name] == nil {
			files[name] = new(bytes.Buffer)
		}
		files[name].Write(line)
		return nil
	})
	if err != nil {
		return err
	}
	zip, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	pack := tar.NewWriter(zip)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name].Bytes()
		if err := pack.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o644, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := pack.Write(text); err != nil {
			return err
		}
	}
	if err := pack.Close(); err != nil {
		return err
	}
	return zip.Close()
}

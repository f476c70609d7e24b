package figures

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
)

// Write writes figures into a folder, which is made if there is none: <name>.<format> for
// every format and <table>.csv for every table. Files of the same names are replaced. It
// returns the files in the order they were written.
func Write(dir string, figs []Figure, formats []string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files []string
	write := func(name string, content func(io.Writer) error) error {
		var b bytes.Buffer
		if err := content(&b); err != nil {
			return err
		}
		files = append(files, filepath.Join(dir, name))
		return os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
	}
	for i := range figs {
		f := &figs[i]
		for _, format := range formats {
			if err := write(f.Name+"."+format, func(w io.Writer) error { return f.WriteTo(w, format) }); err != nil {
				return files, err
			}
		}
		for j := range f.Tables {
			if err := write(f.Tables[j].Name+".csv", f.Tables[j].WriteCSV); err != nil {
				return files, err
			}
		}
	}
	return files, nil
}

package figures

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/output"
)

// Folder begins a folder of figures. One that there is already takes new figures beside those
// it has, and in the place of those of the same names, when it holds figures only, as they were
// written.
func Folder(dir string) (*output.Folder, error) {
	return output.Begin(dir, &output.Kind{Name: "a folder of figures", File: func(name string) bool {
		kind := strings.TrimPrefix(filepath.Ext(name), ".")
		return !strings.Contains(name, "/") && (kind == "csv" || slices.Contains(Formats(), kind))
	}})
}

// Write writes figures into a folder: <name>.<format> for every format and <table>.csv for
// every table. It returns the names of the files in the order they were written.
func Write(dir *output.Folder, figs []Figure, formats []string) ([]string, error) {
	var files []string
	write := func(name string, content func(io.Writer) error) error {
		var b bytes.Buffer
		if err := content(&b); err != nil {
			return err
		}
		files = append(files, name)
		return dir.Write(name, b.Bytes())
	}
	for i := range figs {
		f := &figs[i]
		for _, format := range formats {
			if err := write(f.Name+"."+format, func(w io.Writer) error { return f.WriteTo(w, format) }); err != nil {
				return nil, err
			}
		}
		for j := range f.Tables {
			if err := write(f.Tables[j].Name+".csv", f.Tables[j].WriteCSV); err != nil {
				return nil, err
			}
		}
	}
	if err := dir.KeepOthers(); err != nil {
		return nil, err
	}
	return files, dir.Commit()
}

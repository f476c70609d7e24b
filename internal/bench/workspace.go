package bench

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// ErrExists is returned when the output folder holds a version and Force is not set.
var ErrExists = errors.New("output folder already holds a dataset")

// beginOutput starts the output folder of a build; with force it may replace a dataset.
func beginOutput(out string, force bool) (*output.Folder, error) {
	var replace *output.Kind
	if force {
		replace = &output.Kind{Name: "a dataset made by build", Is: isDataset, File: ofDataset}
	} else if _, err := os.Stat(filepath.Join(out, ManifestName)); err == nil {
		return nil, fmt.Errorf("%w: %s (choose another output, or replace it with option force)", ErrExists, out)
	}
	return output.Begin(out, replace)
}

// isDataset says why a manifest is not that of a dataset that may be replaced.
func isDataset(manifest []byte) error {
	var m Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		return fmt.Errorf("its %s is another program's", ManifestName)
	}
	switch {
	case m.Tool != toolName:
		return fmt.Errorf("its %s does not say that %s made it", ManifestName, toolName)
	case len(m.Parameters.Profiles) == 0 || len(m.Tables) == 0:
		return fmt.Errorf("its %s is that of another output", ManifestName)
	case m.Publication != nil:
		return errors.New("it was made by publish")
	case m.Version != "":
		return fmt.Errorf("it is version %s of a root, which never changes", m.Version)
	}
	return nil
}

// ofDataset says whether a build makes a file of that name.
func ofDataset(name string) bool {
	switch name {
	case ManifestName, ErrorsName, filepath.Base(store.DBPath("")):
		return true
	}
	return strings.HasPrefix(name, "data/") && path.Ext(name) == ".parquet"
}

// apart refuses an output folder inside a source or around one: a build would read what it
// writes.
func apart(out string, sources []string) error {
	out, err := output.Resolve(out)
	if err != nil {
		return err
	}
	for _, s := range sources {
		source, err := output.Resolve(s)
		if err != nil {
			return err
		}
		if output.Within(out, source) || output.Within(source, out) {
			return usage.Errorf("", "output %s and source %s lie in one another; choose an output elsewhere", out, source)
		}
	}
	return nil
}

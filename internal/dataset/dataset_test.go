package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/dataset"
)

func TestRead(t *testing.T) {
	root := t.TempDir()
	dir, other, old := filepath.Join(root, "dir"), filepath.Join(root, "other"), filepath.Join(root, "old")
	for _, d := range []string{dir, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	own := errors.New("own")
	if err := dataset.Read(dir, func() error { return own }); !errors.Is(err, own) {
		t.Error(err)
	}
	if err := dataset.Read(dir, func() error { return nil }); err != nil {
		t.Error(err)
	}
	for _, failed := range []error{nil, own} {
		err := dataset.Read(dir, func() error {
			if err := errors.Join(os.Rename(dir, old), os.Rename(other, dir), os.Rename(old, other)); err != nil {
				t.Fatal(err)
			}
			return failed
		})
		if !errors.Is(err, dataset.ErrReplaced) || errors.Is(err, own) {
			t.Errorf("after %v: %v", failed, err)
		}
	}
	if err := dataset.Read(dir, func() error { return os.Remove(dir) }); !errors.Is(err, dataset.ErrReplaced) {
		t.Error(err)
	}
	if err := dataset.Read(dir, func() error { return nil }); err == nil {
		t.Error("a folder that is not there")
	}
}

package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
)

// ErrNoDataset is returned for a folder that is no dataset.
var ErrNoDataset = errors.New("no dataset")

// A Problem is something wrong with a dataset.
type Problem struct {
	Check   string `json:"check"` // files, manifest, tables, derived, rebuild or documents
	Where   string `json:"where"` // file, or table with row and column
	Message string `json:"message"`
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Check, p.Where, p.Message) }

// openDataset opens the folder so that a new version put in its place meanwhile is not
// mixed with this one.
func openDataset(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrNoDataset, dir, err)
	}
	f, err := openIn(root, ManifestName)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		if rerr := errors.Join(replaced(dir, root), root.Close()); rerr != nil {
			return nil, rerr
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w at %s: %w", ErrNoDataset, dir, err)
		}
		return nil, fmt.Errorf("%w at %s: it has no %s; make one with `agentlens build --out %s`", ErrNoDataset, dir, ManifestName, dir)
	}
	return root, nil
}

// openIn opens a file of the folder. Hubs keep files in a store and link to them from a folder
// for each version: a link out of the folder is followed, which root alone would refuse.
func openIn(root *os.Root, name string) (*os.File, error) {
	name = filepath.FromSlash(name)
	f, err := root.Open(name)
	if err == nil {
		return f, nil
	}
	if info, lerr := root.Lstat(name); lerr != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil, err
	}
	return os.Open(filepath.Join(root.Name(), name))
}

func readIn(root *os.Root, name string) (text []byte, err error) {
	f, err := openIn(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(f)
}

// replaced returns ErrReplaced when dir no longer names the folder that root holds.
func replaced(dir string, root *os.Root) error {
	now, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dataset.ErrReplaced
	}
	held, err2 := root.Stat(".")
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	if !os.SameFile(now, held) {
		return dataset.ErrReplaced
	}
	return nil
}

// CheckFiles compares the files of a dataset with SHA256SUMS.
func CheckFiles(dir string) ([]Problem, error) {
	root, err := openDataset(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	problems, err := checkFiles(root)
	if err != nil || len(problems) > 0 {
		if rerr := replaced(dir, root); rerr != nil {
			return nil, rerr
		}
	}
	return problems, err
}

const crlfEnds = "has CRLF line ends, else it is unchanged; copy it without line end conversion"

func checkFiles(root *os.Root) ([]Problem, error) {
	text, err := readIn(root, ChecksumsName)
	if errors.Is(err, fs.ErrNotExist) {
		return []Problem{{"files", ChecksumsName, "is missing, so no file can be checked"}}, nil
	}
	if err != nil {
		return nil, err
	}
	var problems []Problem
	if bytes.Contains(text, []byte("\r\n")) {
		problems = append(problems, Problem{"files", ChecksumsName, crlfEnds})
	}
	listed := map[string]bool{ChecksumsName: true}
	for n, line := range checksum.Parse(text) {
		want, name := line.SHA256, line.Path
		if name == "" {
			problems = append(problems, Problem{"files", fmt.Sprintf("%s line %d", ChecksumsName, n+1), "want a SHA-256 in hex, two spaces and a file name"})
			continue
		}
		listed[name] = true
		sum, err := sumOf(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, Problem{"files", name, "is listed in " + ChecksumsName + " but missing"})
			continue
		}
		if err != nil {
			problems = append(problems, Problem{"files", name, "can't be read: " + err.Error()})
			continue
		}
		if sum == want {
			continue
		}
		crlf, err := onlyLineEnds(root, name, want)
		if err != nil {
			return nil, err
		}
		message := fmt.Sprintf("has SHA-256 %s, want %s", sum, want)
		if crlf {
			message = crlfEnds
		}
		problems = append(problems, Problem{"files", name, message})
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case checksum.Hidden(d):
			return checksum.Skip(d)
		case !d.IsDir() && !listed[name]:
			problems = append(problems, Problem{"files", name, "is not listed in " + ChecksumsName})
		}
		return nil
	})
	return problems, err
}

// sumOf returns the SHA-256 of a file in hex.
func sumOf(root *os.Root, name string) (string, error) {
	f, err := openIn(root, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// onlyLineEnds reports whether a text file would have the digest if its CRLF were LF.
func onlyLineEnds(root *os.Root, name, want string) (bool, error) {
	if ext := filepath.Ext(name); ext == ".parquet" || ext == ".db" {
		return false, nil
	}
	text, err := readIn(root, name)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	return hex.EncodeToString(sum[:]) == want, nil
}

// sortProblems orders problems by check and place.
func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return strings.Compare(a.Check+"\x00"+a.Where, b.Check+"\x00"+b.Where)
	})
}

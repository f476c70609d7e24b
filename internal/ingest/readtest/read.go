package readtest

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Result is everything one call of ingest.Read emitted: runs by id, the rest by its text.
type Result struct {
	Runs     []*trajectory.Trajectory
	Evidence []ingest.Evidence
	Refused  []ingest.RecordError
	Summary  ingest.Summary
	Err      error
}

// Read reads sources to the end.
func Read(t testing.TB, opt ingest.Options, sources ...string) *Result {
	t.Helper()
	var mu sync.Mutex
	r := new(Result)
	opt.Jobs = max(opt.Jobs, 1)
	r.Summary, r.Err = ingest.Read(context.Background(), sources, opt, func(item ingest.Item) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case item.Trajectory != nil:
			r.Runs = append(r.Runs, item.Trajectory)
		case item.Evidence != nil:
			r.Evidence = append(r.Evidence, *item.Evidence)
		case item.Refused != nil:
			r.Refused = append(r.Refused, *item.Refused)
		}
		return nil
	})
	slices.SortFunc(r.Runs, func(a, b *trajectory.Trajectory) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.SourceFile, b.SourceFile))
	})
	sortByText(r.Evidence)
	sortByText(r.Refused)
	return r
}

func sortByText[T any](list []T) {
	text := func(v T) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(text(a), text(b)) })
}

// Settle gives the runs the outcomes that follow from all evidence, as a build does.
func (r *Result) Settle() {
	index := outcome.NewIndex()
	for _, e := range r.Evidence {
		index.Add(e)
	}
	for _, t := range r.Runs {
		index.AddRun(t)
	}
	for _, t := range r.Runs {
		settled := index.Resolve(t.ID, t.TaskID, t.Model)
		t.Outcome, t.OutcomeSource, t.OutcomeDetail = settled.Outcome, settled.Source, settled.Detail
		t.Warnings = append(t.Warnings, settled.Warnings...)
	}
}

// Files writes files into a new folder and returns it.
func Files(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), []byte(data))
	}
	return dir
}

// Extract unpacks the files below a folder of a tar, compressed with zstandard, into a new
// folder and returns the one that stands for it.
func Extract(t testing.TB, archive, folder string) string {
	t.Helper()
	dir := t.TempDir()
	for name, r := range conformance.Files(t, archive) {
		name = strings.TrimPrefix(name, "./")
		if !strings.HasPrefix(name, folder) || !filepath.IsLocal(name) {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
	return filepath.Join(dir, filepath.FromSlash(folder))
}

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Tar writes the files of a folder into a tar in an order that follows from the seed, and
// returns its path.
func Tar(t testing.TB, dir string, seed uint64) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := filepath.Join(t.TempDir(), "shuffled.tar")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := tar.NewWriter(f)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		h := &tar.Header{Name: filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Tally counts what runs and their states say: runs, steps, tools, errors by source, exit
// codes, outcomes, condensations and warnings. It is a text of sorted lines.
func Tally(runs []*trajectory.Trajectory) string {
	n := map[string]int64{"runs": int64(len(runs))}
	for _, r := range runs {
		n["outcome "+r.Outcome.String()]++
		n["condensations"] += r.Condensations
		for i := range r.States[1:] {
			s := &r.States[i+1]
			n["steps"]++
			n["tool "+s.Tool]++
			if s.IsError.Or(0) == 1 {
				n["errors by "+s.ErrorSource]++
			}
			if s.ExitCode.Valid {
				n["exit "+strconv.FormatInt(s.ExitCode.Value, 10)]++
			}
			n["input tokens"] += s.InputTokens.Or(0)
			n["output tokens"] += s.OutputTokens.Or(0)
			n["cached tokens"] += s.CachedTokens.Or(0)
		}
		for _, w := range r.Warnings {
			count, _, _ := strings.Cut(w.Detail, " x ")
			times, err := strconv.ParseInt(count, 10, 64)
			if err != nil {
				times = 1
			}
			n["warning "+w.Code] += times
		}
	}
	var lines []string
	for key, n := range n {
		if n != 0 {
			lines = append(lines, key+": "+strconv.FormatInt(n, 10))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// WantTally compares the tally of runs with lines in any order and indentation.
func WantTally(t testing.TB, runs []*trajectory.Trajectory, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	if got := Tally(runs); got != strings.Join(lines, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
}

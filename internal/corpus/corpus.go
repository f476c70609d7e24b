package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/spill"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// DefaultCacheBytes is room for the runs of an ordinary task.
const DefaultCacheBytes = 48 << 20

// Corpus is the settled content of some sources.
type Corpus struct {
	Tasks []Task // sorted by id
	Runs  int    // of all tasks

	// The release's own tables, sorted; empty for other sources.
	Published           []schema.Published
	PublishedTasks      []schema.PublishedTask
	PublishedReferences []schema.PublishedReference

	Refused  []ingest.RecordError // sorted by file, line, record; see ingest.Refusals
	Formats  map[string]int64     // runs by format, before duplicates were refused
	Warnings map[string]int64     // warnings of readers and outcomes, by code
	Unused   []string             // ids of the labels file that name no run, sorted
	Input    ingest.Summary

	// CacheBytes bounds the decoded runs that the Loader of one task keeps; the rest is read
	// again, for the same result. Open sets it to DefaultCacheBytes.
	CacheBytes int64

	spill   *spill.File
	release *stage.Release
	clean   *stage.Clean
}

// Open reads the sources. The states wait in a temporary file on the file system of
// the folder scratch, "" for the system's folder for temporary files, which Close removes.
// Sources without a readable run are an error that says what was refused or skipped.
func Open(ctx context.Context, sources []string, opt ingest.Options, scratch string) (*Corpus, error) {
	for _, s := range sources {
		for _, table := range []string{"agentlens.db", "data/trajectories.parquet"} {
			if _, err := os.Stat(filepath.Join(s, table)); err == nil {
				return nil, fmt.Errorf("source %s is a dataset; give the logs it was built from", s)
			}
		}
	}
	f, err := spill.Create(scratch)
	if err != nil {
		return nil, err
	}
	f.Texts = opt.Texts
	c, err := settled(ctx, sources, opt, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

func settled(ctx context.Context, sources []string, opt ingest.Options, f *spill.File) (*Corpus, error) {
	cat := newCatalog(f)
	in, err := ingest.Read(ctx, sources, opt, cat.add)
	if err != nil {
		return nil, err
	}
	tasks := cat.settle()
	for code, n := range in.Warnings {
		cat.warnings[code] += n
	}
	if len(tasks) == 0 {
		return nil, noRuns(cat, in)
	}
	return &Corpus{
		Tasks: tasks, Runs: len(cat.runs),
		Published: cat.published, PublishedTasks: cat.tasks, PublishedReferences: cat.references,
		Refused: cat.refused, Formats: cat.formats, Warnings: cat.warnings, Unused: cat.outcomes.Unused(), Input: in, CacheBytes: DefaultCacheBytes,
		spill: f, release: stage.NewRelease(), clean: stage.NewClean(shell.New(shell.Options{})),
	}, nil
}

// noRuns explains sources in which every record was refused or skipped.
// ErrNoRuns is returned for sources that hold no log.
var ErrNoRuns = errors.New("no run found")

func noRuns(cat *catalog, in ingest.Summary) error {
	if len(cat.refused) > 0 {
		return fmt.Errorf("no run could be read: %d records refused; the first: %w", countRefused(cat.refused), &cat.refused[0])
	}
	var skipped int64
	for _, n := range in.Skipped {
		skipped += n
	}
	return fmt.Errorf("%w in the source (%d files that are no logs were skipped); try `agentlens build --help` for the formats", ErrNoRuns, skipped)
}

// CountRefused returns the number of refused records.
func (c *Corpus) CountRefused() int64 { return countRefused(c.Refused) }

func countRefused(entries []ingest.RecordError) (n int64) {
	for i := range entries {
		n += entries[i].Records()
	}
	return n
}

// Loader reads the runs of one task of c.Tasks.
func (c *Corpus) Loader(t *Task) *Loader {
	return &Loader{spill: c.spill, release: c.release, clean: c.clean, task: t, most: c.CacheBytes, kept: map[int]*Labelled{}}
}

// Read returns a run as its log has it, without the labels of a Loader; its outcome is settled.
func (c *Corpus) Read(r *Run) (*trajectory.Trajectory, error) { return read(c.spill, r) }

// Close removes the spill file.
func (c *Corpus) Close() error { return c.spill.Close() }

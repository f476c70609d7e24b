package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// Options of Build.
type Options struct {
	Sources      []string          // folders, files, archives
	Sample       Sample            // the source when there is none
	Out          string            // folder to make; or:
	Root         string            // folder of versions, in which one is made
	Version      string            // version to make in Root, "" for the next one by what changed
	Force        bool              // replace the version in Out
	Profiles     []profile.Profile // with their parameters, each once; nil for all with the defaults
	Reference    profile.Mode
	K            int    // runs per reference
	Donors       string // file of donors for profile.Donors, "" picks them by hash
	Tools        string // file that adds to the mapping of foreign tools, "" for none
	Observations Observations
	Ingest       ingest.Options // Jobs is overwritten
	Jobs         int            // 0 means one per processor
	CacheBytes   int64          // of decoded runs that a task in work keeps; 0 means the default, less than 0 none

	// The version and parent that a rebuild repeats.
	again       string
	againParent *Parent

	files *sidefile.Set // read already; nil for none

	// Progress is called from one goroutine at a time, with phase "read" in bytes (total 0
	// when unknown) or "assess" in runs. It may be nil.
	Progress func(phase string, done, total int64)
}

// Sample is a source that comes with the program.
type Sample struct{ Name, Data string }

// Result says what a build made.
type Result struct {
	Dir       string `json:"dir"`
	Version   string `json:"version,omitzero"`
	Unchanged bool   `json:"unchanged,omitzero"` // nothing changed since Version, so no version was made
	Counts
	References   map[string]int64 `json:"references"`          // that scored runs were judged by, by profile
	Unscored     []string         `json:"tasks_without_score"` // too few passing runs to judge any run
	UnusedLabels []string         `json:"unused_labels"`       // ids of the labels file that name no run
	Refused      int64            `json:"refused"`
	RefusedCodes map[string]int64 `json:"refused_by_code"`
	Skipped      map[string]int64 `json:"skipped_files"`
	Warnings     map[string]int64 `json:"warnings"`
	Privacy      privacy.Counts   `json:"privacy"` // what was replaced in the sources, by kind
}

func (o *Options) check() error {
	if len(o.Sources) == 0 && o.Sample.Name == "" {
		return usage.Errorf("", "no source")
	}
	switch {
	case o.Out == "" && o.Root == "":
		return usage.Errorf("", "no output folder; name one with option out, or a folder of versions with option root")
	case o.Out != "" && o.Root != "":
		return usage.Errorf("out", "and option root exclude each other")
	case o.Root == "" && o.Version != "":
		return usage.Errorf("version", "needs option root")
	case o.Root != "" && o.Force:
		return usage.Errorf("force", "needs option out; versions in a root are never replaced")
	}
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Jobs < 0 {
		return usage.Errorf("jobs", "%d: want 1 or more, or 0 for one per processor", o.Jobs)
	}
	if len(o.Profiles) == 0 {
		o.Profiles = registry.All()
	}
	for i, name := range o.names() {
		if slices.Contains(o.names()[:i], name) {
			return usage.Errorf("", "profile %q is named twice", name)
		}
	}
	for _, limit := range []struct {
		option string
		bad    bool
	}{
		{"max-record-bytes", o.Ingest.Limits.MaxRecordBytes < 0},
		{"max-total-bytes", o.Ingest.Limits.MaxTotalBytes < 0},
		{"max-entries", o.Ingest.Limits.MaxEntries < 0},
		{"max-ratio", !(o.Ingest.Limits.MaxRatio >= 0)},
	} {
		if limit.bad {
			return usage.Errorf(limit.option, "is below 0")
		}
	}
	switch o.Reference {
	case profile.LeaveOneOut, profile.Donors:
	default:
		return usage.Errorf("reference", "%q: want %s or %s", o.Reference, profile.LeaveOneOut, profile.Donors)
	}
	if o.K < profile.MinReferences || o.K > profile.MaxReferences {
		return usage.Errorf("k", "%d: a reference merges %d to %d runs", o.K, profile.MinReferences, profile.MaxReferences)
	}
	for _, p := range o.Profiles {
		if err := p.Validate(); err != nil {
			return err
		}
	}
	if o.Donors != "" && o.Reference != profile.Donors {
		return usage.Errorf("donors", "needs option reference donors")
	}
	switch o.Observations {
	case ObservationsFull, ObservationsPreview, ObservationsNone:
	default:
		return usage.Errorf("observations", "%q: want full, preview or none", o.Observations)
	}
	return nil
}

// names are those of the profiles.
func (o *Options) names() []string {
	out := make([]string, len(o.Profiles))
	for i, p := range o.Profiles {
		out[i] = p.Name()
	}
	return out
}

// Build reads the sources and makes the dataset version in opt.Out. On an error nothing is
// left at opt.Out but what was there before. Refused records are no error: see
// Result.Refused.
func Build(ctx context.Context, opt Options) (res Result, err error) {
	if err := opt.check(); err != nil {
		return res, err
	}
	if opt.files == nil {
		opt.files = &sidefile.Set{}
	}
	plan := profile.Plan{Mode: opt.Reference, K: opt.K}
	if opt.Donors != "" {
		if plan.Donors, err = readDonors(ctx, opt.files, opt.Donors); err != nil {
			return res, err
		}
	}
	line := lineage{root: opt.Root}
	out := opt.Out
	if opt.Root != "" {
		if out, err = line.begin(opt.Version); err != nil {
			return res, err
		}
	}
	if err := apart(out, opt.Sources); err != nil {
		return res, err
	}
	ws, err := beginOutput(out, opt.Force)
	if err != nil {
		return res, err
	}
	defer func() { err = ws.End(err) }()

	if len(opt.Sources) == 0 {
		path := filepath.Join(ws.Scratch(), opt.Sample.Name)
		if err := os.WriteFile(path, []byte(opt.Sample.Data), 0o600); err != nil {
			return res, err
		}
		opt.Sources = []string{path}
	}
	in := opt.Ingest
	in.Files = opt.files
	in.Jobs = opt.Jobs
	if in.Tools, err = readTools(ctx, opt.files, opt.Tools); err != nil {
		return res, err
	}
	if opt.Progress != nil {
		in.Report = func(done, total int64) { opt.Progress("read", done, total) }
	}
	runs, err := corpus.Open(ctx, opt.Sources, in, ws.Scratch())
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	if opt.CacheBytes != 0 {
		runs.CacheBytes = opt.CacheBytes
	}
	if err := checkDonors(plan, runs.Tasks); err != nil {
		return res, err
	}

	b := &builder{opt: opt, plan: plan, corpus: runs, scored: map[string]bool{}, version: opt.again, parent: opt.againParent}
	b.res.Scored, b.res.References = map[string]int64{}, map[string]int64{}
	tables, err := b.write(ctx, ws.Root())
	if err != nil {
		return res, err
	}
	b.count()
	if err := writeErrors(ws.Root(), runs.Refused); err != nil {
		return res, err
	}
	if opt.Root != "" {
		unlock, lerr := line.lock(ctx, opt.Version, func() {
			if opt.Progress != nil {
				opt.Progress("wait for another build in "+opt.Root, 0, 0)
			}
		})
		if lerr != nil {
			return res, lerr
		}
		defer func() { err = errors.Join(err, unlock()) }()
		if err := line.settle(ctx, ws.Root(), opt.Profiles, tables, len(runs.Published) > 0); err != nil {
			return res, err
		}
		b.version, b.parent = line.version.String(), line.parent
		b.res.Version, b.res.Unchanged = b.version, line.unchanged
		out = filepath.Join(opt.Root, b.version)
		if line.unchanged {
			b.res.Dir = out
			return b.res, nil
		}
		if err := ws.Aim(out); err != nil {
			return res, err
		}
	}
	err = b.writeManifest(ctx, ws.Root(), tables)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = ws.Commit()
	}
	if err != nil {
		return res, err
	}
	b.res.Dir = out
	return b.res, nil
}

// readTools reads a file that adds to the mapping of foreign tools; nil for no file.
func readTools(ctx context.Context, files *sidefile.Set, path string) (*tools.Table, error) {
	if path == "" {
		return nil, nil
	}
	f, err := files.Read(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("tools file: %w", err)
	}
	t, err := tools.Load(f.Reader())
	if err != nil {
		return nil, usage.Errorf("", "tools file %s: %w", path, err)
	}
	return t, nil
}

type builder struct {
	opt    Options
	plan   profile.Plan
	corpus *corpus.Corpus

	version string // in its root, "" for a folder of its own
	parent  *Parent

	// Written by the writer's goroutine.
	res    Result
	scored map[string]bool // tasks with a scored run
}

// write makes the database and the Parquet files. Tasks are assessed by up to Jobs workers
// and written in order.
func (b *builder) write(ctx context.Context, dir string) ([]store.TableStat, error) {
	w, err := store.Create(dir, b.opt.names())
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := b.writeShared(w); err != nil {
		return nil, err
	}

	g, ctx := errgroup.WithContext(ctx)
	outputs := make([]chan []batch, len(b.corpus.Tasks))
	for i := range outputs {
		outputs[i] = make(chan []batch, 2)
	}
	slots := make(chan struct{}, b.opt.Jobs)
	g.Go(func() error { // starts the tasks in order, so that the writer's next task is always in work
		for i := range b.corpus.Tasks {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			g.Go(func() error {
				defer func() { <-slots }()
				defer close(outputs[i])
				return b.assess(ctx, &b.corpus.Tasks[i], outputs[i])
			})
		}
		return nil
	})
	g.Go(func() error {
		var done int64
		for i, out := range outputs {
			for batches := range out {
				for _, batch := range batches {
					b.res.References[batch.profile] += batch.references
					if batch.rows == nil {
						continue
					}
					if err := w.Append(batch.table, batch.profile, batch.rows); err != nil {
						return err
					}
					b.tally(batch)
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			done += int64(len(b.corpus.Tasks[i].Runs))
			if b.opt.Progress != nil {
				b.opt.Progress("assess", done, int64(b.corpus.Runs))
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return w.Finish()
}

// tally counts what the writer sees.
func (b *builder) tally(t batch) {
	switch rows := t.rows.(type) {
	case []schema.Features:
		b.res.Scored[t.profile] += int64(len(rows))
		for i := range rows {
			b.scored[rows[i].TaskID] = true
		}
	case []schema.State:
		b.res.States += int64(len(rows))
		for i := range rows {
			if rows[i].StageRelease != nil {
				b.res.Labelled++
			}
		}
	}
}

// assess labels one task's runs and lets every profile judge them.
func (b *builder) assess(ctx context.Context, t *corpus.Task, out chan<- []batch) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("task %s: internal error: %v; please report it, and leave the task out of the source meanwhile\n%s", t.ID, p, debug.Stack())
		}
	}()
	load := b.corpus.Loader(t)
	c := &collector{ctx: ctx, out: out}
	for i := range t.Runs {
		r, err := load.Load(i)
		if err != nil {
			return err
		}
		if err := c.run(r, b.opt.Observations); err != nil {
			return err
		}
	}
	pt := load.Task()
	for _, p := range b.opt.Profiles {
		c.profile = p.Name()
		err := p.Assess(ctx, &pt, b.plan, c)
		if err == nil {
			err = c.end()
		}
		if err != nil {
			return fmt.Errorf("task %s, profile %s: %w", t.ID, p.Name(), err)
		}
	}
	return nil
}

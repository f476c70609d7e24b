package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Options of a fetch. Zero values mean the default.
type Options struct {
	Cache     string // folder that keeps datasets, a folder each; required
	Out       string // folder to make; without it the result stays in the cache
	From      string // folder or archive to take the files from, instead of the mirrors
	Mirror    string // address to use instead of the recipe's
	Jobs      int    // files at a time; default 8
	UserAgent string
	Idle      time.Duration     // without a byte, after which a request is given up; default 30 s
	Pause     time.Duration     // before the second request for a file, about; default 0.5 s
	Transport http.RoundTripper // default: one that asks the environment for a proxy

	Progress func(phase string, done, total int64) // bytes; may be nil
}

// Result is what a fetch brought.
type Result struct {
	Name            string   `json:"name"`
	Dir             string   `json:"dir"` // absolute
	Files           int64    `json:"files"`
	Bytes           int64    `json:"bytes"`
	DownloadedFiles int64    `json:"downloaded_files"`
	DownloadedBytes int64    `json:"downloaded_bytes"` // expanded, with those of failed tries
	TakenFiles      int64    `json:"taken_files"`      // out of Options.From
	FromCache       int64    `json:"from_cache"`       // files that were there already
	SHA256          string   `json:"sha256"`           // of all files, see source.Digest
	BuildSHA256     string   `json:"build_sha256"`     // that the manifest of a build of Dir states
	Licence         string   `json:"licence"`
	Attribution     string   `json:"attribution"`
	Skipped         []string `json:"skipped"` // files in From that are not of the dataset; never nil
}

// Failure is a file that could not be downloaded.
type Failure struct {
	File string
	Err  error
}

// IncompleteError lists the files that could not be downloaded. All others are in the cache.
type IncompleteError struct {
	Recipe  Recipe
	Failed  []Failure // sorted by path
	Untried int       // given up after failures in a row
}

func (e *IncompleteError) Error() string {
	var names []string
	for _, f := range e.Failed {
		names = append(names, f.File+": "+strings.ReplaceAll(f.Err.Error(), "\n", "; "))
	}
	text := fmt.Sprintf("%d of %d files could not be fetched (%s)", len(e.Failed), e.Recipe.Files, some(names))
	if e.Untried > 0 {
		text += fmt.Sprintf(" and %d were not tried after %d failures in a row", e.Untried, failuresInRow)
	}
	text += "; run it again, it goes on where it stopped"
	if e.Recipe.Archive != "" {
		text += ", or get " + e.Recipe.Archive + " by other means and give it with option from"
	}
	return text
}

// Run gets all files of a dataset. Whatever it returns, verified files stay in the cache.
// Errors: *usage.Error, *IncompleteError of a mirror, *SourceError of Options.From,
// output.ErrExists.
func Run(ctx context.Context, r Recipe, opt Options) (Result, error) {
	if opt.Jobs < 0 {
		return Result{}, usage.Errorf("", "%d jobs", opt.Jobs)
	}
	if opt.Idle < 0 {
		return Result{}, usage.Errorf("", "to be idle for %s", opt.Idle)
	}
	if opt.Mirror != "" {
		if err := checkMirror(opt.Mirror); err != nil {
			return Result{}, usage.Errorf("", "%w", err)
		}
		r.Mirrors = []string{opt.Mirror}
	}
	opt.Jobs, opt.Idle, opt.Pause = cmp.Or(opt.Jobs, 8), cmp.Or(opt.Idle, 30*time.Second), cmp.Or(opt.Pause, firstPause)
	if opt.Transport == nil {
		opt.Transport = newTransport(opt.Jobs)
	}
	if opt.Out != "" { // better now than after a download
		d, err := output.Begin(opt.Out, nil)
		if err != nil {
			return Result{}, err
		}
		if err := d.End(nil); err != nil {
			return Result{}, err
		}
	}
	c, release, err := openCache(ctx, opt.Cache, r)
	if err != nil {
		return Result{}, err
	}
	defer release()
	if opt.Out != "" {
		if err := c.apart(opt.Out); err != nil {
			return Result{}, err
		}
	}
	return run(ctx, c, r, opt)
}

func run(ctx context.Context, c cache, r Recipe, opt Options) (Result, error) {
	res := Result{
		Name: r.Name, Dir: c.dir, Files: r.Files, Bytes: r.Bytes, SHA256: r.SHA256, BuildSHA256: r.Build.SHA256,
		Licence: r.Licence, Attribution: r.Attribution, Skipped: []string{},
	}
	have, err := c.verify(ctx, r.List, opt.Jobs)
	if err != nil {
		return res, err
	}
	var there int64
	for i, f := range r.List {
		if have[i] {
			res.FromCache++
			there += f.Bytes
		}
	}
	if opt.From != "" {
		p := progress{phase: "read", total: r.Bytes, tell: opt.Progress}
		if res.Skipped, err = c.take(ctx, opt.From, r, have, opt.Jobs, p.add); err != nil {
			return res, err
		}
		res.TakenFiles = res.Files - res.FromCache
	} else {
		p := progress{phase: "fetch", done: there, total: r.Bytes, tell: opt.Progress}
		if err := c.download(ctx, r, have, opt, &res, p.add); err != nil {
			return res, err
		}
	}
	if opt.Out == "" {
		return res, nil
	}
	if res.Dir, err = filepath.Abs(opt.Out); err != nil {
		return res, err
	}
	return res, c.copyTo(ctx, res.Dir, r.List)
}

// progress adds up the bytes of files that are done.
type progress struct {
	phase       string
	done, total int64
	tell        func(phase string, done, total int64)
}

func (p *progress) add(f File) {
	p.done += f.Bytes
	if p.tell != nil {
		p.tell(p.phase, p.done, p.total)
	}
}

var errGivenUp = errors.New("too many failures in a row")

// download gets the files that the cache has not. One file is done at a time.
func (c cache) download(parent context.Context, r Recipe, have []bool, opt Options, res *Result, done func(File)) error {
	d := &downloader{client: &http.Client{Transport: opt.Transport, CheckRedirect: checkRedirect}, cache: c, agent: opt.UserAgent, idle: opt.Idle, pause: opt.Pause}
	for _, m := range r.Mirrors {
		u, err := url.Parse(m)
		if err != nil {
			return err
		}
		d.mirrors = append(d.mirrors, u)
	}
	var mu sync.Mutex // guards what follows
	bad := &IncompleteError{Recipe: r}
	inRow := 0
	group, ctx := errgroup.WithContext(parent)
	group.SetLimit(opt.Jobs)
	for i, f := range r.List {
		if have[i] {
			continue
		}
		group.Go(func() error {
			err := ctx.Err()
			if err == nil {
				err = d.file(ctx, f)
			}
			mu.Lock()
			defer mu.Unlock()
			var here localError
			switch {
			case err == nil:
				inRow = 0
				res.DownloadedFiles++
				done(f)
				return nil
			case errors.As(err, &here):
				return err
			case ctx.Err() != nil:
				bad.Untried++
				return nil
			}
			bad.Failed = append(bad.Failed, Failure{f.Path, err})
			if inRow++; inRow >= failuresInRow {
				return errGivenUp
			}
			return nil
		})
	}
	err := group.Wait()
	res.DownloadedBytes = d.received.Load()
	switch {
	case parent.Err() != nil:
		return parent.Err()
	case err != nil && !errors.Is(err, errGivenUp):
		return err
	case len(bad.Failed) > 0:
		slices.SortFunc(bad.Failed, func(a, b Failure) int { return strings.Compare(a.File, b.File) })
		return bad
	}
	return nil
}

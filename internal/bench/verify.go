package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// VerifyOptions say what Verify checks beyond the folder itself.
type VerifyOptions struct {
	Rebuild []string // sources to build again from; nil for no rebuild
	Labels  string   // labels file of the first build, where it had one
	Donors  string   // donors file of the first build, where it had one
	Tools   string   // tools file of the first build, where it had one
	Ingest  ingest.Limits
	Jobs    int

	// Publish makes of a build what the dataset is, for one that was published; nil for others.
	Publish func(ctx context.Context, built, out string) error
}

// Verification is what Verify found.
type Verification struct {
	Dir      string    `json:"dir"`
	OK       bool      `json:"ok"`
	Checks   []Check   `json:"checks"` // what was checked, in order
	Problems []Problem `json:"problems"`
}

// Check is one thing that was checked.
type Check struct {
	Name    string   `json:"name"`
	OK      bool     `json:"ok"`
	LeftOut []string `json:"left_out,omitempty"` // rules that need what the dataset was published without
}

// Verify checks a dataset: its files against SHA256SUMS, the manifest against the tables,
// SQLite against Parquet, keys, and derived columns against what they derive from. With
// sources it builds the dataset again and compares bytes. The error is about verifying;
// what is wrong with the dataset is in Problems.
func Verify(ctx context.Context, dir string, opt VerifyOptions) (Verification, error) {
	v := Verification{Dir: dir, Problems: []Problem{}}
	root, err := openDataset(dir)
	if err != nil {
		return v, err
	}
	defer root.Close()
	m, err := readManifest(root)
	if err != nil {
		return v, err
	}
	var leftOut []string
	checks := []struct {
		name string
		run  func() ([]Problem, error)
	}{
		{"files: every file has the SHA-256 that SHA256SUMS gives", func() ([]Problem, error) { return checkFiles(root) }},
		{"tables: SQLite and Parquet hold the rows the manifest counts, keys hold", func() ([]Problem, error) { return checkTables(ctx, dir, m) }},
		{"derived: totals, scores, tiers and categories follow from the columns they derive from", func() (problems []Problem, err error) {
			problems, leftOut, err = checkDerived(ctx, dir, m)
			if errors.Is(err, store.ErrDamaged) {
				return []Problem{{"derived", ".", "could not be checked: " + err.Error()}}, nil
			}
			return problems, err
		}},
	}
	if opt.Rebuild != nil {
		checks = append(checks, struct {
			name string
			run  func() ([]Problem, error)
		}{"rebuild: the sources give the same bytes again", func() ([]Problem, error) { return checkRebuild(ctx, dir, m, opt) }})
	}
	for _, c := range checks {
		if err := ctx.Err(); err != nil {
			return v, err
		}
		problems, err := c.run()
		if rerr := replaced(dir, root); rerr != nil {
			return v, rerr
		}
		if err != nil {
			return v, err
		}
		v.Add(c.name, problems)
		v.Checks[len(v.Checks)-1].LeftOut, leftOut = leftOut, nil
	}
	v.OK = len(v.Problems) == 0
	return v, nil
}

// Add notes a check and what it found.
func (v *Verification) Add(name string, problems []Problem) {
	v.Checks = append(v.Checks, Check{Name: name, OK: len(problems) == 0})
	v.Problems = append(v.Problems, problems...)
	sortProblems(v.Problems)
	v.OK = len(v.Problems) == 0
}

// ReadManifest reads the manifest of the dataset in dir.
func ReadManifest(dir string) (Manifest, error) {
	root, err := openDataset(dir)
	if err != nil {
		return Manifest{}, err
	}
	defer root.Close()
	return readManifest(root)
}

func readManifest(root *os.Root) (Manifest, error) {
	m, err := readAnyManifest(root)
	if err != nil {
		return m, err
	}
	if m.SchemaVersion != schema.Version {
		return m, fmt.Errorf("the dataset has schema version %d, this tool reads %d; build it again, or use agentlens %s",
			m.SchemaVersion, schema.Version, m.ToolVersion)
	}
	return m, nil
}

// readAnyManifest reads a manifest whatever the version of the tables.
func readAnyManifest(root *os.Root) (m Manifest, err error) {
	text, err := readIn(root, ManifestName)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s is damaged: %w", ManifestName, err)
	}
	return m, nil
}

// checkTables compares SQLite with Parquet, and both with the manifest's counts and digests.
func checkTables(ctx context.Context, dir string, m Manifest) ([]Problem, error) {
	report, err := store.Compare(ctx, dir)
	if err != nil {
		return nil, err
	}
	var problems []Problem
	for _, p := range report.Problems {
		where := p.Table
		if p.Profile != "" {
			where = p.Profile + "/" + p.Table
		}
		for _, part := range []string{p.Key, p.Column} {
			if part != "" {
				where += " " + part
			}
		}
		problems = append(problems, Problem{"tables", cmp.Or(where, filepath.Base(store.DBPath(dir))), p.Detail})
	}
	listed := map[[2]string]store.TableStat{}
	for _, t := range m.Tables {
		listed[[2]string{t.Profile, t.Table}] = t
		read := slices.ContainsFunc(report.Tables, func(r store.TableStat) bool { return r.Table == t.Table && r.Profile == t.Profile })
		if !read && len(report.Problems) == 0 {
			problems = append(problems, Problem{"manifest", strings.TrimPrefix(t.Profile+"/"+t.Table, "/"), "is listed in " + ManifestName + ", but has no file"})
		}
	}
	for _, got := range report.Tables {
		want, ok := listed[[2]string{got.Profile, got.Table}]
		name := strings.TrimPrefix(got.Profile+"/"+got.Table, "/")
		switch {
		case !ok:
			problems = append(problems, Problem{"manifest", name, "is not listed in " + ManifestName})
		case got.Rows != want.Rows:
			problems = append(problems, Problem{"manifest", name, fmt.Sprintf("has %d rows, %s counts %d", got.Rows, ManifestName, want.Rows)})
		case got.Digest != want.Digest:
			problems = append(problems, Problem{"manifest", name, fmt.Sprintf("has content digest %s, %s gives %s", got.Digest, ManifestName, want.Digest)})
		}
	}
	return problems, nil
}

// checkRebuild builds the dataset again beside it and compares SHA256SUMS.
func checkRebuild(ctx context.Context, dir string, m Manifest, opt VerifyOptions) (problems []Problem, err error) {
	p := m.Parameters
	var files sidefile.Set
	for _, given := range []struct{ flag, file, want string }{
		{"option labels", opt.Labels, p.LabelsSHA256},
		{"option donors", opt.Donors, p.DonorsSHA256},
		{"option tools", opt.Tools, p.ToolsSHA256},
	} {
		got, err := files.Digest(ctx, given.file)
		if err != nil {
			return nil, err
		}
		if got != given.want {
			if given.want == "" {
				return nil, usage.Errorf("", "%s was given, but the dataset was built without it", given.flag)
			}
			return nil, usage.Errorf("", "the dataset was built with a file for %s whose SHA-256 is %s; give that file", given.flag, given.want)
		}
	}
	temp, err := output.NewTemp("")
	if err != nil {
		return nil, err
	}
	work := temp.Path
	defer func() { err = errors.Join(err, temp.Remove()) }()
	out := filepath.Join(work, "rebuilt")
	profiles, err := p.With()
	if err != nil {
		return nil, err
	}
	version, parent := m.Version, m.Parent
	if m.Publication != nil { // which version the dataset had is decided again, or was stated
		version, parent = m.Publication.Version, m.Publication.Parent
	}
	_, err = Build(ctx, Options{
		files:        &files,
		again:        version,
		againParent:  parent,
		Sources:      opt.Rebuild,
		Out:          out,
		Profiles:     profiles,
		Reference:    profile.Mode(p.Reference),
		K:            p.K,
		Donors:       opt.Donors,
		Tools:        opt.Tools,
		Observations: p.Observations,
		Ingest:       ingest.Options{Format: p.Format, KeepPaths: p.KeepPaths, AllAttempts: p.AllAttempts, Labels: opt.Labels, Limits: opt.Ingest},
		Jobs:         opt.Jobs,
	})
	if err != nil {
		return nil, fmt.Errorf("rebuild: %w", err)
	}
	if opt.Publish != nil {
		published := filepath.Join(work, "published")
		if err := opt.Publish(ctx, out, published); err != nil {
			return nil, fmt.Errorf("rebuild: %w", err)
		}
		out = published
	}
	want, err := checksum.Read(dir)
	if err != nil {
		return nil, err
	}
	got, err := checksum.Read(out)
	if err != nil {
		return nil, err
	}
	for name, sum := range want {
		switch {
		case got[name] == "":
			problems = append(problems, Problem{"rebuild", name, "is not made by a rebuild"})
		case got[name] != sum:
			problems = append(problems, Problem{"rebuild", name, fmt.Sprintf("a rebuild gives SHA-256 %s, the dataset has %s", got[name], sum)})
		}
	}
	for name := range got {
		if want[name] == "" {
			problems = append(problems, Problem{"rebuild", name, "is made by a rebuild, but not in the dataset"})
		}
	}
	return problems, nil
}

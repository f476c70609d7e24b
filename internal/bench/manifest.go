package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

// Names of a version's files beside the tables.
const (
	ManifestName  = "manifest.json"
	ChecksumsName = checksum.Name
	ErrorsName    = "errors.jsonl"
)

// ToolVersion is recorded in every dataset; it changes when the bytes of a dataset may.
// ToolDate is its day, and that of a publication which states none.
const (
	ToolVersion = "0.1.0"
	ToolDate    = "2026-11-30"
)

// toolName marks manifests as this program's.
const toolName = "agentlens"

// Manifest describes a version: everything its bytes follow from, and what is in it.
type Manifest struct {
	Version       string                `json:"version,omitzero"` // in its root, "" for a folder of its own
	Parent        *Parent               `json:"parent,omitzero"`
	Tool          string                `json:"tool"`
	ToolVersion   string                `json:"tool_version"`
	SchemaVersion int64                 `json:"schema_version"`
	Parameters    Parameters            `json:"parameters"`
	Sources       []ingest.SourceDigest `json:"sources"`
	Counts        Counts                `json:"counts"`
	Formats       map[string]int64      `json:"formats"`
	Recognised    map[string]int64      `json:"recognised"` // records by format and the key that decided
	Tables        []store.TableStat     `json:"tables"`
	Refused       map[string]int64      `json:"refused"`
	Skipped       map[string]int64      `json:"skipped_files"`
	Warnings      map[string]int64      `json:"warnings"`
	Privacy       privacy.Counts        `json:"privacy"` // what was replaced in the sources, by kind
	Publication   *Publication          `json:"publication,omitzero"`
}

// Publication says how a folder for publishing was made of a dataset: it has Parquet files
// only, perhaps not all tables and columns, and the documents of package publish.
type Publication struct {
	Dataset  string   `json:"dataset_sha256"`           // of SHA256SUMS of the dataset it was made of
	Version  string   `json:"dataset_version,omitzero"` // of that dataset, in its root
	Parent   *Parent  `json:"dataset_parent,omitzero"`  // of that dataset
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	License  string   `json:"license"` // SPDX id
	Creators []string `json:"creators"`
	URL      string   `json:"url"`
	Date     string   `json:"date"`     // of publication, as YYYY-MM-DD
	LogText  bool     `json:"log_text"` // whether columns of log text are in it
	Without  []string `json:"without"`  // tables that were left out, and columns as table.column
	Empty    []string `json:"empty"`    // tables without rows, which have no files
}

// Parent is the version before.
type Parent struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // of its SHA256SUMS; of the content of the published annotations for version 1.0.0 of the release
}

// Parameters are the options that a version's bytes depend on.
type Parameters struct {
	Profiles     []string     `json:"profiles"`
	Reference    string       `json:"reference"`
	K            int          `json:"k"`
	DonorsSHA256 string       `json:"donors_sha256,omitzero"` // of the donors file
	LabelsSHA256 string       `json:"labels_sha256,omitzero"` // of the labels file
	ToolsSHA256  string       `json:"tools_sha256,omitzero"`  // of the tools file
	Format       string       `json:"format,omitzero"`
	Observations Observations `json:"observations"`
	AllAttempts  bool         `json:"all_attempts,omitzero"` // not only the last attempt at a task
	KeepPaths    bool         `json:"keep_paths,omitzero"`   // home directories and names of users were kept

	// Parameters of the profiles that have some, by the profile's name.
	Own map[string]jsontext.Value `json:",embed"`
}

// With returns the profiles of a version with the parameters that it was built with.
func (p Parameters) With() ([]profile.Profile, error) {
	out := make([]profile.Profile, len(p.Profiles))
	for i, name := range p.Profiles {
		var err error
		if out[i], err = p.Profile(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Profile returns the profile of that name with the parameters that a version was built with.
// One that the version does not have is an usage error.
func (p Parameters) Profile(name string) (profile.Profile, error) {
	if !slices.Contains(p.Profiles, name) {
		return nil, usage.Errorf("", "the dataset has no profile %q, only %s", name, strings.Join(p.Profiles, ", "))
	}
	of, err := registry.New(name)
	if err != nil {
		return nil, fmt.Errorf("this program does not know a profile of the dataset: %w", err)
	}
	if text, ok := p.Own[name]; ok && of.Params() != nil {
		if err := json.Unmarshal(text, of.Params()); err != nil {
			return nil, fmt.Errorf("%s is damaged: parameters of profile %s: %w", ManifestName, name, err)
		}
	}
	return of, nil
}

// Counts of a version.
type Counts struct {
	Tasks        int64            `json:"tasks"`
	Models       int64            `json:"models"`
	Trajectories int64            `json:"trajectories"`
	States       int64            `json:"states"`
	Labelled     int64            `json:"labelled_states"`
	Pass         int64            `json:"pass"`
	Fail         int64            `json:"fail"`
	Unknown      int64            `json:"unknown"`
	Scored       map[string]int64 `json:"scored"`
}

func (b *builder) writeManifest(ctx context.Context, dir string, tables []store.TableStat) error {
	m := Manifest{
		Version:       b.version,
		Parent:        b.parent,
		Tool:          toolName,
		ToolVersion:   ToolVersion,
		SchemaVersion: schema.Version,
		Parameters: Parameters{
			Profiles:     b.opt.names(),
			Own:          map[string]jsontext.Value{},
			Reference:    string(b.opt.Reference),
			K:            b.opt.K,
			Format:       b.opt.Ingest.Format,
			Observations: b.opt.Observations,
			AllAttempts:  b.opt.Ingest.AllAttempts,
			KeepPaths:    b.opt.Ingest.KeepPaths,
		},
		Sources:    b.corpus.Input.Sources,
		Counts:     b.res.Counts,
		Formats:    b.corpus.Formats,
		Recognised: b.corpus.Input.Recognised,
		Tables:     tables,
		Refused:    b.res.RefusedCodes,
		Skipped:    b.corpus.Input.Skipped,
		Warnings:   b.corpus.Warnings,
		Privacy:    b.corpus.Input.Privacy,
	}
	var err error
	for _, p := range b.opt.Profiles {
		if p.Params() == nil {
			continue
		}
		if m.Parameters.Own[p.Name()], err = json.Marshal(p.Params()); err != nil {
			return err
		}
	}
	if m.Parameters.DonorsSHA256, err = b.opt.files.Digest(ctx, b.opt.Donors); err != nil {
		return err
	}
	if m.Parameters.LabelsSHA256, err = b.opt.files.Digest(ctx, b.opt.Ingest.Labels); err != nil {
		return err
	}
	if m.Parameters.ToolsSHA256, err = b.opt.files.Digest(ctx, b.opt.Tools); err != nil {
		return err
	}
	out, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "), json.FormatNilMapAsNull(false), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ManifestName), append(out, '\n'), 0o644)
}

// digestOf returns the SHA-256 of a file in hex.
func digestOf(path string) (string, error) {
	sum, _, err := checksum.Of(path)
	return sum, err
}

// writeErrors writes errors.jsonl, empty when nothing was refused.
func writeErrors(dir string, refused []ingest.RecordError) error {
	var buf bytes.Buffer
	for _, e := range refused {
		line, err := json.Marshal(e, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		buf.Write(line)
		buf.WriteByte('\n')
	}
	return os.WriteFile(filepath.Join(dir, ErrorsName), buf.Bytes(), 0o644)
}

// count completes the result after all rows are written.
func (b *builder) count() {
	models := map[string]bool{}
	for _, t := range b.corpus.Tasks {
		for _, r := range t.Runs {
			models[r.Model] = true
			switch r.Verdict.Outcome {
			case trajectory.Pass:
				b.res.Pass++
			case trajectory.Fail:
				b.res.Fail++
			default:
				b.res.Unknown++
			}
		}
		if !b.scored[t.ID] {
			b.res.Unscored = append(b.res.Unscored, t.ID)
		}
	}
	b.res.Tasks = int64(len(b.corpus.Tasks))
	b.res.Models = int64(len(models))
	b.res.Trajectories = int64(b.corpus.Runs)
	b.res.Refused = b.corpus.CountRefused()
	b.res.UnusedLabels = b.corpus.Unused
	b.res.RefusedCodes = map[string]int64{}
	for i := range b.corpus.Refused {
		b.corpus.Refused[i].AddTo(b.res.RefusedCodes)
	}
	b.res.Skipped, b.res.Warnings, b.res.Privacy = b.corpus.Input.Skipped, b.corpus.Warnings, b.corpus.Input.Privacy
}

// writeShared writes the tables that need no trajectory.
func (b *builder) writeShared(w *store.Writer) error {
	tasks := make([]schema.Task, len(b.corpus.Tasks))
	byModel := map[string]*schema.Model{}
	for i, t := range b.corpus.Tasks {
		row := schema.Task{
			TaskID: t.ID, Repo: some(t.Repo), Description: some(t.Description), NTrajectories: int64(len(t.Runs)),
		}
		for _, r := range t.Runs {
			m := byModel[r.Model]
			if m == nil {
				m = &schema.Model{Model: r.Model}
				byModel[r.Model] = m
			}
			m.NTrajectories++
			switch r.Verdict.Outcome {
			case trajectory.Pass:
				row.NPass++
				m.NPass++
			case trajectory.Fail:
				row.NFail++
				m.NFail++
			default:
				row.NUnknown++
				m.NUnknown++
			}
		}
		tasks[i] = row
	}
	models := make([]schema.Model, 0, len(byModel))
	for _, m := range byModel {
		if judged := m.NPass + m.NFail; judged > 0 {
			rate := float64(m.NPass) / float64(judged)
			m.PassRate = &rate
		}
		models = append(models, *m)
	}
	slices.SortFunc(models, func(a, b schema.Model) int { return cmp.Compare(a.Model, b.Model) })

	refused := make([]schema.IngestError, len(b.corpus.Refused))
	for i, e := range b.corpus.Refused {
		refused[i] = schema.IngestError{
			ErrorID: int64(i + 1), File: e.File, Record: some(e.Record), Code: e.Code, Message: e.Message, Hint: some(e.Hint),
		}
		if e.Line != 0 {
			refused[i].Line = &e.Line
		}
	}
	return errors.Join(
		w.Append("tasks", "", tasks),
		w.Append("models", "", models),
		w.Append("published", "", b.corpus.Published),
		w.Append("published_tasks", "", b.corpus.PublishedTasks),
		w.Append("published_references", "", b.corpus.PublishedReferences),
		w.Append("ingest_errors", "", refused),
	)
}

// ChecksumsDigest returns the SHA-256 of a dataset's SHA256SUMS in hex, which names the
// version by its content.
func ChecksumsDigest(dir string) (string, error) { return digestOf(filepath.Join(dir, ChecksumsName)) }

package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/terminal"
)

func newBuild() *cobra.Command {
	opt := bench.Options{
		Reference:    profile.LeaveOneOut,
		Observations: bench.ObservationsPreview,
		Sample:       bench.Sample{Name: datasets.SampleName, Data: datasets.Sample()},
	}
	var asJSON bool
	var profiles *profileFlags
	cmd := &cobra.Command{
		Use:   "build [SOURCE...] --out DIR",
		Short: "Build a dataset version from logs",
		Long: `Build reads logs, labels every step, builds the references, assesses every run and writes
a dataset version: agentlens.db, data/*.parquet, manifest.json, SHA256SUMS, errors.jsonl.

A SOURCE is a folder, a file, or an archive (.tar, .tar.gz, .tar.zst, .zip, .jsonl.gz),
read as a stream. Without a SOURCE the embedded synthetic sample is built. Formats are
recognised by their structure, or chosen with --format:

` + formatList() + `
The same sources and parameters give the same bytes on any machine with any --jobs.`,
		Example: `  agentlens build --out bench-sample
  agentlens build agentlens-bench-1.0.tar.zst --out bench --profile release
  agentlens build runs/ --labels outcomes.csv --out bench
  agentlens build runs.tar.zst --reference donors --donors donors.tsv --out bench`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			opt := opt
			var err error
			if opt.Profiles, err = profiles.read(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			opt.Sources = args
			progress := newProgress(cmd.ErrOrStderr())
			opt.Progress = progress.report
			res, err := bench.Build(cmd.Context(), opt)
			progress.close()
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), res)
			} else {
				err = writeBuild(cmd.OutOrStdout(), res)
			}
			if err != nil {
				return err
			}
			if res.Refused > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "agentlens: %s refused (%s); see %s\n",
					plural(res.Refused, "record"), counts(res.RefusedCodes), filepath.Join(res.Dir, bench.ErrorsName))
				return errRefused
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.Out, "out", "", "folder to make (required)")
	f.StringVar(&opt.Root, "root", "", "folder of versions to add a version to, instead of --out")
	f.StringVar(&opt.Version, "version", "", "with --root: the version to make (default: the next one by what changed)")
	f.BoolVar(&opt.Force, "force", false, "replace the dataset version in --out")
	profiles = addProfileFlags(f)
	planned := strings.Join(registry.Having(func(c profile.Capabilities) bool { return c.Plan }), " and ") + " profile: "
	f.StringVar((*string)(&opt.Reference), "reference", string(opt.Reference), planned+"how references are chosen: loo (each run is judged by other passing runs) or donors (some runs are held out and judge the rest)")
	f.IntVar(&opt.K, "k", 5, planned+"passing runs merged into a reference, at least 2")
	f.StringVar(&opt.Donors, "donors", "", "TSV file with columns task, order, trajectory_id: the donors of --reference donors (default: the first k passing runs by the hash of their id)")
	f.StringVar((*string)(&opt.Observations), "observations", string(opt.Observations), "observation text to store: full, preview (1,000 characters) or none")
	f.StringVar(&opt.Ingest.Format, "format", "", "reader for every record, instead of recognising it")
	inputFile(f, &opt.Ingest.Labels, "labels", "CSV or JSON Lines file of outcomes: trajectory_id or instance_id, and passed")
	inputFile(f, &opt.Tools, "tools", "TSV file that adds to the mapping of foreign tools to canonical ones")
	f.BoolVar(&opt.Ingest.AllAttempts, "all-attempts", false, "keep every attempt that a log numbers, not only the last one at a task")
	f.BoolVar(&opt.Ingest.KeepPaths, "keep-paths", false, "keep home directories and the names of users; secrets and host names are always replaced")
	jobsFlag(f, &opt.Jobs, "parallel workers")
	f.Int64Var(&opt.Ingest.Limits.MaxRecordBytes, "max-record-bytes", 256<<20, "largest single record; larger ones are refused")
	f.Int64Var(&opt.Ingest.Limits.MaxTotalBytes, "max-total-bytes", 1<<40, "largest archive, expanded")
	f.Int64Var(&opt.Ingest.Limits.MaxEntries, "max-entries", 10_000_000, "most entries of an archive")
	f.Float64Var(&opt.Ingest.Limits.MaxRatio, "max-ratio", 1000, "largest ratio of expanded to compressed bytes of an archive")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// formatList lists the formats that hold runs, a line each.
func formatList() string {
	var b strings.Builder
	formats := ingest.RunFormats()
	width := 0
	for _, f := range formats {
		width = max(width, len(f.ID))
	}
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, f.ID, f.Description)
	}
	return b.String()
}

func writeJSON(w io.Writer, v any) error {
	err := json.MarshalWrite(w, v, json.Deterministic(true), jsontext.WithIndent("  "),
		json.FormatNilMapAsNull(false), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w)
	return err
}

func writeBuild(w io.Writer, r bench.Result) error {
	var b strings.Builder
	if r.Unchanged {
		fmt.Fprintf(&b, "nothing changed since %s; no version was made\n", r.Dir)
	} else {
		fmt.Fprintf(&b, "built %s\n", r.Dir)
	}
	fmt.Fprintf(&b, "  %s of %s by %s: %d pass, %d fail, %d unknown\n",
		plural(r.Trajectories, "run"), plural(r.Tasks, "task"), plural(r.Models, "model"), r.Pass, r.Fail, r.Unknown)
	fmt.Fprintf(&b, "  %d states, %d labelled\n", r.States, r.Labelled)
	for _, p := range slices.Sorted(maps.Keys(r.Scored)) {
		fmt.Fprintf(&b, "  profile %s: %s scored against %s\n", p, plural(r.Scored[p], "run"), plural(r.References[p], "reference"))
	}
	if n := len(r.Unscored); n > 0 {
		fmt.Fprintf(&b, "  %s without a scored run, as a reference needs at least %d passing runs with labelled steps: %s\n",
			plural(int64(n), "task"), profile.MinReferences, list(r.Unscored, 5))
	}
	if n := len(r.UnusedLabels); n > 0 {
		fmt.Fprintf(&b, "  %s of the labels file named no run: %s\n", plural(int64(n), "id"), list(r.UnusedLabels, 5))
	}
	if len(r.Skipped) > 0 {
		fmt.Fprintf(&b, "  files that are no logs, skipped: %s\n", counts(r.Skipped))
	}
	if len(r.Warnings) > 0 {
		fmt.Fprintf(&b, "  warnings (column trajectories.warnings): %s\n", counts(r.Warnings))
	}
	if len(r.Privacy) > 0 {
		fmt.Fprintf(&b, "  replaced in the logs: %s\n", counts(r.Privacy))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plural counts things: 1 run, 2 runs.
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func counts[K ~string](m map[K]int64) string {
	parts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

func list(names []string, most int) string {
	if n := len(names) - most; n > 0 {
		return terminal.Escape(strings.Join(names[:most], ", ")) + fmt.Sprintf(" and %d more", n)
	}
	return terminal.Escape(strings.Join(names, ", "))
}

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/ingest/tools"
	"github.com/agentlens-bench/agentlens/internal/inspect"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/terminal"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newInspect() *cobra.Command {
	var in logFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect SOURCE...",
		Short: "Say what is in logs, without building a dataset",
		Long: `Inspect reads logs as build does and prints what they hold: formats and the key that gave
each away, runs, steps and tokens by task and model, outcomes and what decided them, tools
under their canonical names and those of the log, warnings, refused records, and the tasks
that will get a reference.`,
		Example: `  agentlens inspect runs/
  agentlens inspect runs.tar.zst --labels outcomes.csv --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := in.options(cmd.Context())
			if err != nil {
				return err
			}
			progress := newProgress(cmd.ErrOrStderr())
			opt.Report = func(done, total int64) { progress.report("read", done, total) }
			res, err := inspect.Sources(cmd.Context(), args, opt)
			progress.close()
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), res)
			} else {
				err = writeInspect(cmd.OutOrStdout(), &res)
			}
			if err == nil && res.Refused > 0 {
				err = errRefused
			}
			return err
		},
	}
	in.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON, with all tasks")
	return cmd
}

// logFlags are the flags of a command that reads logs as build does.
type logFlags struct {
	opt   ingest.Options
	tools string
}

func (l *logFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.opt.Format, "format", "", "reader for every record, instead of recognising it")
	inputFile(f, &l.opt.Labels, "labels", "CSV or JSON Lines file of outcomes: trajectory_id or instance_id, and passed")
	inputFile(f, &l.tools, "tools", "TSV file that adds to the mapping of foreign tools to canonical ones")
	f.BoolVar(&l.opt.KeepPaths, "keep-paths", false, "keep home directories and the names of users; secrets and host names are always replaced")
	jobsFlag(f, &l.opt.Jobs, "parallel workers")
}

// options returns the options of the flags.
func (l *logFlags) options(ctx context.Context) (ingest.Options, error) {
	opt := l.opt
	var err error
	if opt.Jobs, err = workers(opt.Jobs); err != nil {
		return opt, err
	}
	if l.tools == "" {
		return opt, nil
	}
	f, err := sidefile.Read(ctx, l.tools)
	if err != nil {
		return opt, fmt.Errorf("tools file: %w", err)
	}
	if opt.Tools, err = tools.Load(f.Reader()); err != nil {
		return opt, usage.Errorf("", "tools file %s: %w", l.tools, err)
	}
	return opt, nil
}

func writeInspect(w io.Writer, r *inspect.Result) error {
	const most = 20 // lines of a list
	var b strings.Builder
	p := func(format string, args ...any) { b.WriteString(terminal.Escape(fmt.Sprintf(format, args...)) + "\n") }
	more := func(n int, of string) {
		if n > most {
			p("  and %s more; --json lists all", plural(int64(n-most), of))
		}
	}

	p("%s of %s by %s: %d pass, %d fail, %d unknown; %s", plural(r.Runs, "run"), plural(int64(len(r.Tasks)), "task"),
		plural(int64(len(r.Models)), "model"), r.Pass, r.Fail, r.Unknown, plural(r.Steps, "step"))
	tokens := fmt.Sprintf("%d input, %d output, %d cached tokens", r.InputTokens, r.OutputTokens, r.CachedTokens)
	if r.Untold > 0 {
		tokens += fmt.Sprintf("; %s without tokens", plural(r.Untold, "run"))
	}
	p("%s", tokens)
	p("formats")
	for _, f := range r.Formats {
		p("  %-20s %6d by %s", f.Format, f.Records, f.Key)
	}
	p("models")
	for _, m := range r.Models[:min(len(r.Models), most)] {
		p("  %-30s %s, %d pass, %d fail, %d unknown, %s", m.Name, plural(m.Runs, "run"), m.Pass, m.Fail, m.Unknown, plural(m.Steps, "step"))
	}
	more(len(r.Models), "model")
	p("outcomes")
	for _, o := range r.Outcomes {
		from := "nothing says so"
		if o.Source != "" {
			from = "from " + o.Source
		}
		if o.Detail != "" {
			from += ", " + o.Detail
		}
		p("  %-7s %6d %s", o.Outcome, o.Runs, from)
	}
	p("tools")
	for _, t := range r.Tools[:min(len(r.Tools), most)] {
		note := ""
		if !t.Known {
			note = ", no canonical tool: see --tools"
		}
		p("  %-24s %6d as %s%s", t.Tool, t.Steps, t.Raw, note)
	}
	more(len(r.Tools), "tool")
	p("references: %d of %s", r.References, plural(int64(len(r.Tasks)), "task"))
	without := slices.Clone(r.Tasks)
	without = slices.DeleteFunc(without, func(t inspect.Task) bool { return t.Reference })
	for _, t := range without[:min(len(without), most)] {
		p("  none for %s: %s", t.Name, t.Why)
	}
	more(len(without), "task")
	if len(r.Warnings) > 0 {
		p("warnings: %s", counts(r.Warnings))
	}
	if len(r.Privacy) > 0 {
		p("replaced: %s", counts(r.Privacy))
	}
	if len(r.Skipped) > 0 {
		p("files that are no logs, skipped: %s", counts(r.Skipped))
	}
	if n := len(r.Unused); n > 0 {
		p("%s of the labels file named no run: %s", plural(int64(n), "id"), list(r.Unused, 5))
	}
	if r.Refused > 0 {
		p("%s refused: %s", plural(r.Refused, "record"), counts(r.RefusedBy))
		for _, e := range r.Records {
			p("  %s", e.Error())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/convert"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newConvert() *cobra.Command {
	var in logFlags
	var to, out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "convert SOURCE... --to FORMAT --out FOLDER",
		Short: "Write logs of any format as ATIF, OpenHands trajectories or JSON Lines",
		Long: `Convert reads logs as build does and writes every run into another format: atif (v1.7, one
document a run, valid by agentlens validate), openhands (V0 trajectories, as
model/task/run_1.json), or jsonl (runs.jsonl, one run a line with all that is known of it).

The report lists what the format can't carry, by field and count: dropped; changed, so that
it reads back differently; extra, in a place that other readers may pass over. ATIF reads
back as the same states but for these.`,
		Example: `  agentlens convert runs.tar.zst --to atif --out atif
  agentlens convert runs/ --to jsonl --out lines --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(convert.Targets(), convert.Target(to)) {
				return usage.Errorf("", "--to %q: want one of %v", to, convert.Targets())
			}
			if out == "" {
				return usage.Errorf("", "--out is needed: the folder to make")
			}
			opt, err := in.options(cmd.Context())
			if err != nil {
				return err
			}
			progress := newProgress(cmd.ErrOrStderr())
			opt.Report = func(done, total int64) { progress.report("read", done, total) }
			rep, err := convert.Sources(cmd.Context(), args, opt, convert.Target(to), out)
			progress.close()
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), rep)
			} else {
				err = writeConvert(cmd.OutOrStdout(), &rep)
			}
			if err == nil && rep.Records > 0 {
				err = errRefused
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "format to write: atif, openhands or jsonl (required)")
	f.StringVar(&out, "out", "", "folder to make, which must not exist or be empty (required)")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	in.add(cmd)
	return cmd
}

func writeConvert(w io.Writer, r *convert.Report) error {
	const most = 10 // refused records
	var b strings.Builder
	fmt.Fprintf(&b, "wrote %s with %s to %s: %s\n", plural(r.Runs, "run"), plural(r.Steps, "step"), r.Out, plural(r.Files, "file"))
	for _, l := range r.Losses {
		fmt.Fprintf(&b, "  %-7s %-28s %6d: %s\n", l.Fate, l.Field, l.Count, l.Why)
	}
	if len(r.Privacy) > 0 {
		fmt.Fprintf(&b, "  replaced in the logs: %s\n", counts(r.Privacy))
	}
	if n := len(r.Refused); n > 0 {
		fmt.Fprintf(&b, "  %s refused\n", plural(r.Records, "record"))
		for _, e := range r.Refused[:min(n, most)] {
			fmt.Fprintf(&b, "    %s\n", e.Error())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/figures"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newFigures() *cobra.Command {
	var opt figures.Options
	var out, source string
	formats := figures.Formats()
	cmd := &cobra.Command{
		Use:   "figures DIR --out FOLDER",
		Short: "Redraw the paper's figures from a dataset",
		Long: `Figures draws, from the rows of a dataset, as SVG and PNG:

` + figures.Describe() + `
Beside each drawing its numbers are written as CSV. Values come from the columns the
authors published where the dataset has them, else from its first profile; scores are drawn for all of them. --source chooses one, and
every title says which it is. Figures for which a source has no data are named and left out.

The files depend on the dataset alone: the same dataset gives the same bytes.`,
		Example: `  agentlens figures bench --out figures
  agentlens figures bench --out figures --source process --only tiers,ranks
  agentlens figures bench --out figures --only timelines --run RUN --run OTHER --format png`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if out == "" {
				return usage.Errorf("", "--out is needed: the folder for the figures")
			}
			for _, f := range formats {
				if !slices.Contains(figures.Formats(), f) {
					return usage.Errorf("", "unknown format %q: want one of %s", f, strings.Join(figures.Formats(), ", "))
				}
			}
			if source != "" {
				var err error
				if opt.Source, err = figures.ParseSource(source); err != nil {
					return usage.Wrap(err)
				}
			}
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			if err := output.CheckFolder(out); err != nil {
				return err
			}
			folder, err := figures.Folder(out)
			if err != nil {
				return err
			}
			defer func() { err = folder.End(err) }()
			figs, skipped, err := figures.Make(cmd.Context(), dir, opt)
			if err != nil {
				return err
			}
			files, err := figures.Write(folder, figs, formats)
			for _, f := range files {
				fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(out, f))
			}
			for _, s := range skipped {
				fmt.Fprintf(cmd.ErrOrStderr(), "agentlens: no figure %s: %v\n", s.Name, s.Reason)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "folder for the files (required); figures it has are replaced, or stay beside the new ones")
	f.StringSliceVar(&opt.Only, "only", nil, "figures to draw: "+strings.Join(figures.Names(), ",")+" (default all)")
	f.StringSliceVar(&formats, "format", formats, "formats of the drawings: "+strings.Join(figures.Formats(), ","))
	f.StringVar(&source, "source", "", "where values come from: "+figures.ListSources()+" (default the first that the dataset has)")
	f.StringArrayVar(&opt.Runs, "run", nil, "trajectory id of a run for the timelines; may be repeated (default the paper's examples, or one of every tier)")
	return cmd
}

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/internal/analysis"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

const statsInputs = `INPUT is a dataset folder (a row per run: the columns of trajectories, features, tiers and
signals of --profile, and published; a column that several tables have belongs to the first
of them, and table.column names any), a SQLite file with --query, a Parquet file, a CSV file
with a header, or - for CSV on standard input. Inputs are only read.

Rows that lack a value are left out and counted. In CSV an empty cell and the words of
--missing are no value. A label is positive when it is true, yes, pass, passed, success,
resolved, t, y or 1, negative when it is false, no, fail, failed, failure, unresolved, f, n
or 0, and left out when it is unknown; --positive names any other value.

What can't be computed is undefined, with the reason. Exit code 1 when nothing could be.`

func newStats() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Statistics of any columns: AUROC, ROC, KS, chi-square, kappa and more",
		Long:  "Stats computes one statistic of columns of a table.\n\n" + statsInputs,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAUROC(), newROC(), newYouden(), newConfusion(), newKS(), newChi2(), newKappa(),
		newMannWhitney(), newCorrelate(), newDescribe(), newCheck())
	return cmd
}

// statsFlags are what the statistics share.
type statsFlags struct {
	in     tabular.Input
	by     string
	format outputFormat

	score, label, positive string
	level                  float64
	seed                   uint64
	resamples              int
}

// outputFormat is how a result is printed.
type outputFormat struct{ json, csv bool }

func (o *outputFormat) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.BoolVar(&o.csv, "csv", false, "print the result as CSV")
}

func (o *outputFormat) write(cmd *cobra.Command, rep analysis.Report) error {
	switch w := cmd.OutOrStdout(); {
	case o.json && o.csv:
		return usage.Errorf("", "--json and --csv exclude each other")
	case o.json:
		return writeJSON(w, rep)
	case o.csv:
		for _, r := range rep.Results {
			of := ""
			if r.By != nil {
				of = rep.By + " " + *r.By + ": "
			}
			for _, warning := range r.Warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s%s\n", of, warning)
			}
			if why := r.FirstUndefined(); why != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "undefined: %s%s\n", of, why)
			}
		}
		return rep.WriteCSV(data(cmd))
	default:
		return rep.WriteText(w)
	}
}

func (s *statsFlags) inputFlags(f *pflag.FlagSet) {
	f.StringVar(&s.in.Profile, "profile", "", "profile of a dataset folder (default: the first it was built with)")
	f.StringVar(&s.in.Query, "query", "", "SQL query that gives the rows, for a SQLite file or a dataset folder")
	f.StringVar(&s.in.Where, "where", "", "SQL condition on the columns: only rows for which it holds; quote a name with dots in double quotes")
	f.StringSliceVar(&s.in.Missing, "missing", tabular.DefaultMissing(), "cells of CSV that hold no value, besides the empty one")
	f.StringVar(&s.by, "by", "", "column: one result for each of its values")
	s.format.flags(f)
}

func (s *statsFlags) levelFlag(f *pflag.FlagSet) {
	f.Float64Var(&s.level, "level", 0.95, "coverage of intervals")
}

func (s *statsFlags) resamplingFlags(f *pflag.FlagSet, resamples int, what string) {
	f.IntVar(&s.resamples, "resamples", resamples, what)
	f.Uint64Var(&s.seed, "seed", 1, "seed of the resampling; the same seed gives the same figures")
}

func (s *statsFlags) resampling() stats.Resampling {
	return stats.Resampling{Resamples: s.resamples, Seed: s.seed, Level: s.level}
}

// command adds to a statistic of an input what all have.
func (s *statsFlags) command(c *cobra.Command) *cobra.Command {
	c.Use += " INPUT"
	c.Long += "\n\n" + statsInputs
	c.Args = cobra.ExactArgs(1)
	s.inputFlags(c.Flags())
	return c
}

// run loads columns, nil for all, and prints what an analysis makes of them.
func (s *statsFlags) run(cmd *cobra.Command, input string, columns []string, analyse func(*tabular.Frame) (analysis.Result, error)) error {
	if s.format.json && s.format.csv {
		return usage.Errorf("", "--json and --csv exclude each other")
	}
	in := s.in
	path, err := datasetOr(input)
	if err != nil {
		return err
	}
	in.Path, in.Stdin = path, cmd.InOrStdin()
	if s.by != "" && columns != nil {
		columns = append(slices.Clone(columns), s.by)
	}
	rep := analysis.Report{Analysis: cmd.Name(), Input: input, By: s.by, Parameters: parameters(cmd)}
	err = interruptible(cmd.Context(), func() error {
		f, err := tabular.Load(cmd.Context(), in, columns)
		if err != nil {
			return err
		}
		rep.Results, rep.Without, err = analysis.Split(f, s.by, analyse)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.format.write(cmd, rep); err != nil {
		return err
	}
	return computed(rep)
}

// interruptible runs a computation that does not look at the context, and no longer waits
// for it when the context ends.
func interruptible(ctx context.Context, compute func() error) error {
	done := make(chan error, 1)
	go func() { done <- compute() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// computed is an error when no result has a figure.
func computed(rep analysis.Report) error {
	reason := "no rows"
	for _, r := range rep.Results {
		if r.Computed() {
			return nil
		}
		if why := r.FirstUndefined(); why != "" {
			reason = why
		}
	}
	return fmt.Errorf("nothing could be computed: %s", reason)
}

// parameters are the flags that say what was computed, with their values.
func parameters(cmd *cobra.Command) map[string]string {
	p := map[string]string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "help", "json", "csv":
			return
		}
		if v := strings.Trim(f.Value.String(), "[]"); v != "" {
			p[f.Name] = v
		}
	})
	return p
}

// choice looks up the value of a flag.
func choice[T any](flag, value string, names []string, values []T) (T, error) {
	if i := slices.Index(names, value); i >= 0 {
		return values[i], nil
	}
	var none T
	return none, usage.Errorf("", "--%s %q: want %s", flag, value, strings.Join(names, ", "))
}

// datasetOr finds the dataset that an argument means, unless it names a file or is -.
func datasetOr(arg string) (string, error) {
	info, err := os.Stat(arg)
	if arg == "-" || err == nil && !info.IsDir() || err != nil && !strings.Contains(arg, "@") {
		return arg, nil
	}
	return bench.Locate(arg)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/internal/analysis"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
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
		return usageError{errors.New("--json and --csv exclude each other")}
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
		return rep.WriteCSV(w)
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

func (s *statsFlags) binaryFlags(f *pflag.FlagSet) {
	f.StringVar(&s.score, "score", "", "column of numbers (required)")
	f.StringVar(&s.label, "label", "passed", "column of the two classes")
	f.StringVar(&s.positive, "positive", "", "value of --label that is the positive class, all others being negative")
}

func (s *statsFlags) levelFlag(f *pflag.FlagSet) {
	f.Float64Var(&s.level, "level", 0.95, "coverage of intervals")
}

func (s *statsFlags) resamplingFlags(f *pflag.FlagSet, resamples int, what string) {
	f.IntVar(&s.resamples, "resamples", resamples, what)
	f.Uint64Var(&s.seed, "seed", 1, "seed of the resampling; the same seed gives the same figures")
}

func (s *statsFlags) binary() (analysis.Binary, error) {
	if s.score == "" {
		return analysis.Binary{}, usageError{errors.New("name the column of numbers with --score")}
	}
	return analysis.Binary{Score: s.score, Label: s.label, Positive: s.positive}, nil
}

func (s *statsFlags) resampling() stats.Resampling {
	return stats.Resampling{Resamples: s.resamples, Seed: s.seed, Level: s.level}
}

// statsCommand fills in the parts every statistic has.
func statsCommand(c *cobra.Command) *cobra.Command {
	c.Use += " INPUT"
	c.Long += "\n\n" + statsInputs
	c.Args = cobra.ExactArgs(1)
	return c
}

// run loads columns, nil for all, and prints what an analysis makes of them.
func (s *statsFlags) run(cmd *cobra.Command, input string, columns []string, analyse func(*tabular.Frame) (analysis.Result, error)) error {
	if s.format.json && s.format.csv {
		return usageError{errors.New("--json and --csv exclude each other")}
	}
	in := s.in
	in.Path, in.Stdin = input, cmd.InOrStdin()
	if s.by != "" && columns != nil {
		columns = append(slices.Clone(columns), s.by)
	}
	rep := analysis.Report{Analysis: cmd.Name(), Input: input, By: s.by, Parameters: parameters(cmd)}
	err := interruptible(cmd.Context(), func() error {
		f, err := tabular.Load(cmd.Context(), in, columns)
		if err != nil {
			return err
		}
		rep.Results, rep.Without, err = analysis.Split(f, s.by, analyse)
		return err
	})
	if err != nil {
		return statsError(err)
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

// statsError marks errors of the command line.
func statsError(err error) error {
	for _, usage := range []error{tabular.ErrNoColumn, tabular.ErrUsage, stats.ErrInput} {
		if errors.Is(err, usage) {
			return usageError{err}
		}
	}
	return err
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
	return none, usageError{fmt.Errorf("--%s %q: want %s", flag, value, strings.Join(names, ", "))}
}

func alternativeFlag(f *pflag.FlagSet, p *string, greater string) {
	f.StringVar(p, "alternative", "two-sided", "two-sided, less, or greater ("+greater+")")
}

func alternativeOf(name string) (stats.Alternative, error) {
	return choice("alternative", name, []string{"two-sided", "less", "greater"}, []stats.Alternative{stats.TwoSided, stats.Less, stats.Greater})
}

func newAUROC() *cobra.Command {
	var s statsFlags
	var groups []string
	cmd := statsCommand(&cobra.Command{
		Use:   "auroc",
		Short: "How well a score tells two classes apart: the area under the ROC curve",
		Long: `Auroc computes the share of (positive, negative) pairs in which the positive row has the
higher score, ties counting one half, with DeLong's interval. With --group it adds what is
left inside groups: pairs of one task, of one model, of one task and model, the mean over
tasks, and intervals from drawing tasks with replacement.`,
		Example: `  agentlens stats auroc bench --score score_without_outcome
  agentlens stats auroc bench --score paper_score --profile paper --group task_id,model
  agentlens stats auroc runs.csv --score f --label resolved --by model --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := s.binary()
			if err != nil {
				return err
			}
			if len(groups) > 2 {
				return usageError{fmt.Errorf("--group takes one or two columns, not %d", len(groups))}
			}
			return s.run(cmd, args[0], append(b.Columns(), groups...), func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.AUROC(f, b, groups, s.resampling())
			})
		},
	})
	f := cmd.Flags()
	s.binaryFlags(f)
	f.StringSliceVar(&groups, "group", nil, "one or two columns whose groups are alike, such as task_id,model; the first one's groups are drawn for intervals")
	s.levelFlag(f)
	s.resamplingFlags(f, 10_000, "with --group: draws of groups, 0 for no intervals")
	s.inputFlags(f)
	return cmd
}

func newROC() *cobra.Command {
	var s statsFlags
	var pr bool
	cmd := statsCommand(&cobra.Command{
		Use:   "roc",
		Short: "Points of the ROC curve or of the precision-recall curve",
		Long: `Roc prints a point for every distinct score by descending threshold; a row is predicted
positive when its score is at least the threshold. The first point of a ROC curve has an
infinite threshold. No point is dropped.`,
		Example: `  agentlens stats roc bench --score quality_score --csv
  agentlens stats roc runs.parquet --score f --pr`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := s.binary()
			if err != nil {
				return err
			}
			return s.run(cmd, args[0], b.Columns(), func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.ROC(f, b, pr)
			})
		},
	})
	f := cmd.Flags()
	s.binaryFlags(f)
	f.BoolVar(&pr, "pr", false, "precision and recall instead")
	s.inputFlags(f)
	return cmd
}

func newYouden() *cobra.Command {
	var s statsFlags
	var rule string
	cmd := statsCommand(&cobra.Command{
		Use:   "youden",
		Short: "The threshold with the largest TPR - FPR, and what it does",
		Long: `Youden finds the score at which cutting gains most: J = TPR - FPR. Any number up to the
next smaller score cuts alike. When several scores reach the same J, --rule decides.`,
		Example: `  agentlens stats youden bench --score quality_score
  agentlens stats youden bench --score quality_score --rule lowest --by model`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := s.binary()
			if err != nil {
				return err
			}
			r, err := choice("rule", rule, []string{"highest", "lowest"}, []stats.YoudenRule{stats.HighestThreshold, stats.LowestThreshold})
			if err != nil {
				return err
			}
			return s.run(cmd, args[0], b.Columns(), func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.Youden(f, b, r, s.level)
			})
		},
	})
	f := cmd.Flags()
	s.binaryFlags(f)
	f.StringVar(&rule, "rule", "highest", "threshold to print when several tie: highest or lowest")
	s.levelFlag(f)
	s.inputFlags(f)
	return cmd
}

func newConfusion() *cobra.Command {
	var s statsFlags
	var threshold float64
	cmd := statsCommand(&cobra.Command{
		Use:   "confusion",
		Short: "Accuracy, precision, recall and F1 at a threshold",
		Long: `Confusion predicts a row positive when its score is at least --threshold and compares with
the label: counts, accuracy, precision, recall and F1 of both classes, macro and weighted.`,
		Example: `  agentlens stats confusion bench --score quality_score --threshold 47`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := s.binary()
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("threshold") || threshold != threshold {
				return usageError{errors.New("give the number to cut at with --threshold; `agentlens stats youden` finds one")}
			}
			return s.run(cmd, args[0], b.Columns(), func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.Confusion(f, b, threshold, s.level)
			})
		},
	})
	f := cmd.Flags()
	s.binaryFlags(f)
	f.Float64Var(&threshold, "threshold", 0, "least score that predicts the positive class (required)")
	s.levelFlag(f)
	s.inputFlags(f)
	return cmd
}

func newKS() *cobra.Command {
	var s statsFlags
	var alternative, method string
	cmd := statsCommand(&cobra.Command{
		Use:   "ks",
		Short: "Kolmogorov-Smirnov test: do two classes have the same distribution of scores",
		Long: `Ks compares the scores of positive rows (the first sample) and negative rows by the largest
distance of their distribution functions. The p-value is exact up to 10,000 rows a class,
beyond asymptotic; the method is printed.`,
		Example: `  agentlens stats ks bench --score quality_score
  agentlens stats ks runs.csv --score f --method asymptotic`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := s.binary()
			if err != nil {
				return err
			}
			alt, err := alternativeOf(alternative)
			if err != nil {
				return err
			}
			m, err := choice("method", method, []string{"auto", "exact", "asymptotic", "limit"},
				[]stats.KSMethod{stats.KSAuto, stats.KSExact, stats.KSAsymptotic, stats.KSLimit})
			if err != nil {
				return err
			}
			return s.run(cmd, args[0], b.Columns(), func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.KS(f, b, alt, m)
			})
		},
	})
	f := cmd.Flags()
	s.binaryFlags(f)
	alternativeFlag(f, &alternative, "the positive rows' distribution function lies above, so their scores are smaller")
	f.StringVar(&method, "method", "auto", "p-value: exact, asymptotic, limit (the limiting distribution), or auto")
	s.inputFlags(f)
	return cmd
}

func newMannWhitney() *cobra.Command {
	var s statsFlags
	var alternative, method string
	var continuity bool
	cmd := statsCommand(&cobra.Command{
		Use:   "mannwhitney",
		Short: "Mann-Whitney U test: do positive rows tend to have larger scores",
		Long: `Mannwhitney compares the scores of positive rows (the first sample) and negative rows by
the pairs in which the positive row's score is larger.`,
		Example: `  agentlens stats mannwhitney bench --score wasted_share --profile paper
  agentlens stats mannwhitney runs.csv --score steps --label resolved --method exact`,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := s.binary()
			if err != nil {
				return err
			}
			alt, err := alternativeOf(alternative)
			if err != nil {
				return err
			}
			m, err := choice("method", method, []string{"auto", "exact", "asymptotic"},
				[]stats.RankMethod{stats.RankAuto, stats.RankExact, stats.RankAsymptotic})
			if err != nil {
				return err
			}
			return s.run(cmd, args[0], b.Columns(), func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.MannWhitney(f, b, alt, m, continuity)
			})
		},
	})
	f := cmd.Flags()
	s.binaryFlags(f)
	alternativeFlag(f, &alternative, "positive rows have larger scores")
	f.StringVar(&method, "method", "auto", "p-value: exact, asymptotic, or auto (exact up to 8 rows of a class without ties)")
	f.BoolVar(&continuity, "continuity", true, "continuity correction of the asymptotic p-value")
	s.inputFlags(f)
	return cmd
}

func newChi2() *cobra.Command {
	var s statsFlags
	var x, y string
	var yates bool
	cmd := statsCommand(&cobra.Command{
		Use:   "chi2",
		Short: "Chi-square test: are two columns of categories related",
		Long: `Chi2 counts the values of two columns against each other: chi-square and its p-value,
the likelihood ratio G, Cramer's V and its bias-corrected form, observed and expected counts.
When expected counts are low, --resamples gives a p-value over random pairings.`,
		Example: `  agentlens stats chi2 bench --x category --y model
  agentlens stats chi2 bench --x category --y task_id --resamples 10000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if x == "" || y == "" {
				return usageError{errors.New("name the two columns with --x and --y")}
			}
			return s.run(cmd, args[0], []string{x, y}, func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.ChiSquare(f, x, y, yates, s.resampling())
			})
		},
	})
	s.level = 0.95 // no interval is printed
	f := cmd.Flags()
	f.StringVar(&x, "x", "", "column of the rows (required)")
	f.StringVar(&y, "y", "", "column of the columns (required)")
	f.BoolVar(&yates, "yates", true, "continuity correction of tables with one degree of freedom")
	s.resamplingFlags(f, 0, "random pairings for a permutation p-value")
	s.inputFlags(f)
	return cmd
}

func newKappa() *cobra.Command {
	var s statsFlags
	var raters analysis.Raters
	var weights string
	cmd := statsCommand(&cobra.Command{
		Use:   "kappa",
		Short: "Agreement of raters: Fleiss' kappa, Krippendorff's alpha, Cohen's kappa",
		Long: `Kappa measures how far raters agree beyond chance. Ratings are a column per rater
(--columns), or a row per rating (--subject, --rater, --rating). Fleiss' and Cohen's kappa
use the subjects that every rater rated, Krippendorff's alpha all.`,
		Example: `  agentlens stats kappa ratings.csv --columns ann,bob,cid
  agentlens stats kappa ratings.csv --subject item --rater rater --rating label`,
		RunE: func(cmd *cobra.Command, args []string) error {
			long := raters.Subject != "" || raters.Rater != "" || raters.Rating != ""
			switch {
			case long && raters.Columns != nil:
				return usageError{errors.New("ratings are either --columns, or --subject, --rater and --rating")}
			case long && (raters.Subject == "" || raters.Rater == "" || raters.Rating == ""):
				return usageError{errors.New("a row per rating needs all of --subject, --rater and --rating")}
			case !long && len(raters.Columns) < 2:
				return usageError{errors.New("name the raters' columns with --columns, at least two; or --subject, --rater and --rating")}
			}
			w, err := choice("weights", weights, []string{"none", "linear", "quadratic"}, []stats.Weights{stats.Unweighted, stats.Linear, stats.Quadratic})
			if err != nil {
				return err
			}
			return s.run(cmd, args[0], raters.Names(), func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.Kappa(f, raters, w, s.level)
			})
		},
	})
	f := cmd.Flags()
	f.StringSliceVar(&raters.Columns, "columns", nil, "columns of the raters, a row per subject")
	f.StringVar(&raters.Subject, "subject", "", "column of the subject, a row per rating")
	f.StringVar(&raters.Rater, "rater", "", "column of the rater")
	f.StringVar(&raters.Rating, "rating", "", "column of the category")
	f.StringVar(&weights, "weights", "none", "disagreements of two raters count none (all alike), linear or quadratic by the distance of the categories in order")
	s.levelFlag(f)
	s.inputFlags(f)
	return cmd
}

func newCorrelate() *cobra.Command {
	var s statsFlags
	var columns, kinds []string
	var x, y string
	cmd := statsCommand(&cobra.Command{
		Use:   "correlate",
		Short: "Pearson, Spearman and Kendall correlation of columns",
		Long: `Correlate computes coefficients of two columns, or of all pairs of several, each over the
rows that have both values. Of several pairs p_holm is the p-value adjusted for their number.`,
		Example: `  agentlens stats correlate bench --x n_states --y quality_score
  agentlens stats correlate bench --columns f1_score,coherence_score,temporal_profile_score --kind spearman`,
		RunE: func(cmd *cobra.Command, args []string) error {
			names := columns
			if x != "" || y != "" {
				if x == "" || y == "" || columns != nil {
					return usageError{errors.New("columns are either --x and --y, or --columns")}
				}
				names = []string{x, y}
			}
			if len(names) < 2 {
				return usageError{errors.New("name two columns with --x and --y, or more with --columns")}
			}
			for i, n := range names {
				if slices.Contains(names[:i], n) {
					return usageError{fmt.Errorf("column %s is named twice", n)}
				}
			}
			for _, k := range kinds {
				if _, err := choice("kind", k, analysis.CorrelationKinds(), analysis.CorrelationKinds()); err != nil {
					return err
				}
			}
			return s.run(cmd, args[0], names, func(f *tabular.Frame) (analysis.Result, error) {
				return analysis.Correlate(f, names, kinds)
			})
		},
	})
	f := cmd.Flags()
	f.StringVar(&x, "x", "", "first column")
	f.StringVar(&y, "y", "", "second column")
	f.StringSliceVar(&columns, "columns", nil, "columns, all pairs of them")
	f.StringSliceVar(&kinds, "kind", analysis.CorrelationKinds(), "coefficients")
	s.inputFlags(f)
	return cmd
}

func newDescribe() *cobra.Command {
	var s statsFlags
	var columns []string
	cmd := statsCommand(&cobra.Command{
		Use:   "describe",
		Short: "Counts, moments and quantiles of columns",
		Long: `Describe counts the values of columns, those missing and distinct, and the most frequent
one; of numbers it prints mean, standard deviation (n-1), quantiles (linear, as numpy), skew
and excess kurtosis (not bias-corrected). Without --columns it takes all columns of numbers.`,
		Example: `  agentlens stats describe bench --columns quality_score,n_states --by model
  agentlens stats describe runs.csv --csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd, args[0], columns, func(f *tabular.Frame) (analysis.Result, error) {
				names := columns
				if names == nil {
					for _, c := range f.Columns {
						if c.Numeric() && !strings.Contains(c.Name, ".") {
							names = append(names, c.Name)
						}
					}
				}
				return analysis.Describe(f, names)
			})
		},
	})
	f := cmd.Flags()
	f.StringSliceVar(&columns, "columns", nil, "columns (default: all columns of numbers)")
	s.inputFlags(f)
	return cmd
}

func newCheck() *cobra.Command {
	var rep analysis.Reported
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Can reported figures come from the same rows",
		Long: `Check compares figures as a report prints them, without data: an AUROC bounds the
Kolmogorov-Smirnov distance, the distance and the number of rows give its p-value, chi-square
gives its p-value and Cramer's V. The last digit given counts as rounded. Exit code 1 when
figures contradict each other.`,
		Example: `  agentlens stats check --auroc 0.766 --ks-p 0.0017 --positive 1136 --negative 679
  agentlens stats check --chi2 102.47 --dof 28 --cramer-v 0.458 --rows 122 --min-dim 5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := analysis.Check(rep)
			if err != nil {
				return usageError{err}
			}
			out := analysis.Report{Analysis: "check", Parameters: parameters(cmd), Results: []analysis.Result{r}}
			if err := format.write(cmd, out); err != nil {
				return err
			}
			if len(r.Warnings) > 0 {
				return errors.New("the figures contradict each other")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&rep.AUROC, "auroc", "", "area under the ROC curve")
	f.StringVar(&rep.KSD, "ks-d", "", "Kolmogorov-Smirnov distance of the two classes")
	f.StringVar(&rep.KSP, "ks-p", "", "its p-value, two-sided")
	f.IntVar(&rep.Positive, "positive", 0, "rows of the positive class")
	f.IntVar(&rep.Negative, "negative", 0, "rows of the negative class")
	f.StringVar(&rep.Chi2, "chi2", "", "chi-square of a contingency table")
	f.IntVar(&rep.DoF, "dof", 0, "its degrees of freedom")
	f.StringVar(&rep.Chi2P, "chi2-p", "", "its p-value")
	f.StringVar(&rep.CramerV, "cramer-v", "", "Cramer's V")
	f.IntVar(&rep.Rows, "rows", 0, "rows counted in the table")
	f.IntVar(&rep.MinDim, "min-dim", 0, "the smaller number of categories")
	format.flags(f)
	return cmd
}

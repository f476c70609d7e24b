package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/analysis"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newChi2() *cobra.Command {
	var s statsFlags
	var x, y string
	var yates bool
	cmd := s.command(&cobra.Command{
		Use:   "chi2",
		Short: "Chi-square test: are two columns of categories related",
		Long: `Chi2 counts the values of two columns against each other: chi-square and its p-value,
the likelihood ratio G, Cramer's V and its bias-corrected form, observed and expected counts.
When expected counts are low, --resamples gives a p-value over random pairings.`,
		Example: `  agentlens stats chi2 bench --x category --y model
  agentlens stats chi2 bench --x category --y task_id --resamples 10000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if x == "" || y == "" {
				return usage.Errorf("", "name the two columns with --x and --y")
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
	return cmd
}

func newKappa() *cobra.Command {
	var s statsFlags
	var raters analysis.Raters
	var weights string
	cmd := s.command(&cobra.Command{
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
				return usage.Errorf("", "ratings are either --columns, or --subject, --rater and --rating")
			case long && (raters.Subject == "" || raters.Rater == "" || raters.Rating == ""):
				return usage.Errorf("", "a row per rating needs all of --subject, --rater and --rating")
			case !long && len(raters.Columns) < 2:
				return usage.Errorf("", "name the raters' columns with --columns, at least two; or --subject, --rater and --rating")
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
	return cmd
}

func newCorrelate() *cobra.Command {
	var s statsFlags
	var columns, kinds []string
	var x, y string
	cmd := s.command(&cobra.Command{
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
					return usage.Errorf("", "columns are either --x and --y, or --columns")
				}
				names = []string{x, y}
			}
			if len(names) < 2 {
				return usage.Errorf("", "name two columns with --x and --y, or more with --columns")
			}
			for i, n := range names {
				if slices.Contains(names[:i], n) {
					return usage.Errorf("", "column %s is named twice", n)
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
	return cmd
}

func newDescribe() *cobra.Command {
	var s statsFlags
	var columns []string
	cmd := s.command(&cobra.Command{
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
	cmd.Flags().StringSliceVar(&columns, "columns", nil, "columns (default: all columns of numbers)")
	return cmd
}

package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/internal/analysis"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// binaryCommand adds to a statistic of a score and two classes what all have.
func (s *statsFlags) binaryCommand(c *cobra.Command) *cobra.Command {
	f := c.Flags()
	f.StringVar(&s.score, "score", "", "column of numbers (default, of a dataset folder: the score of the profile)")
	f.StringVar(&s.label, "label", "passed", "column of the two classes")
	f.StringVar(&s.positive, "positive", "", "value of --label that is the positive class, all others being negative")
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if s.score == "" {
			var err error
			if s.score, err = s.scoreOf(args[0]); err != nil {
				return err
			}
		}
		return run(cmd, args)
	}
	return s.command(c)
}

// scoreOf is the score of the profile in a dataset folder.
func (s *statsFlags) scoreOf(input string) (string, error) {
	dir, err := datasetOr(input)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || s.in.Query != "" {
		return "", usage.Errorf("", "name the column of numbers with --score")
	}
	m, err := bench.ReadManifest(dir)
	if err != nil {
		return "", err
	}
	name := s.in.Profile
	if name == "" && len(m.Parameters.Profiles) > 0 { // as the columns' tables
		name = m.Parameters.Profiles[0]
	}
	of, err := m.Parameters.Profile(name)
	if err != nil {
		return "", err
	}
	return of.Score().Name(), nil
}

// runBinary is run with the columns of the score and the classes, and others.
func (s *statsFlags) runBinary(cmd *cobra.Command, input string, others []string, analyse func(*tabular.Frame, analysis.Binary) (analysis.Result, error)) error {
	b := analysis.Binary{Score: s.score, Label: s.label, Positive: s.positive}
	return s.run(cmd, input, append(b.Columns(), others...), func(f *tabular.Frame) (analysis.Result, error) {
		return analyse(f, b)
	})
}

func newAUROC() *cobra.Command {
	var s statsFlags
	var groups []string
	cmd := s.binaryCommand(&cobra.Command{
		Use:   "auroc",
		Short: "How well a score tells two classes apart: the area under the ROC curve",
		Long: `Auroc computes the share of (positive, negative) pairs in which the positive row has the
higher score, ties counting one half, with DeLong's interval. With --group it adds what is
left inside groups: pairs of one task, of one model, of one task and model, the mean over
tasks, and intervals from drawing tasks with replacement.`,
		Example: `  agentlens stats auroc bench --score score_without_outcome
  agentlens stats auroc bench --profile paper --group task_id,model
  agentlens stats auroc runs.csv --score f --label resolved --by model --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(groups) > 2 {
				return usage.Errorf("", "--group takes one or two columns, not %d", len(groups))
			}
			return s.runBinary(cmd, args[0], groups, func(f *tabular.Frame, b analysis.Binary) (analysis.Result, error) {
				return analysis.AUROC(f, b, groups, s.resampling())
			})
		},
	})
	f := cmd.Flags()
	f.StringSliceVar(&groups, "group", nil, "one or two columns whose groups are alike, such as task_id,model; the first one's groups are drawn for intervals")
	s.levelFlag(f)
	s.resamplingFlags(f, 10_000, "with --group: draws of groups, 0 for no intervals")
	return cmd
}

func newROC() *cobra.Command {
	var s statsFlags
	var pr bool
	cmd := s.binaryCommand(&cobra.Command{
		Use:   "roc",
		Short: "Points of the ROC curve or of the precision-recall curve",
		Long: `Roc prints a point for every distinct score by descending threshold; a row is predicted
positive when its score is at least the threshold. The first point of a ROC curve has an
infinite threshold. No point is dropped.`,
		Example: `  agentlens stats roc bench --score quality_score --csv
  agentlens stats roc runs.parquet --score f --pr`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.runBinary(cmd, args[0], nil, func(f *tabular.Frame, b analysis.Binary) (analysis.Result, error) {
				return analysis.ROC(f, b, pr)
			})
		},
	})
	cmd.Flags().BoolVar(&pr, "pr", false, "precision and recall instead")
	return cmd
}

func newYouden() *cobra.Command {
	var s statsFlags
	var rule string
	cmd := s.binaryCommand(&cobra.Command{
		Use:   "youden",
		Short: "The threshold with the largest TPR - FPR, and what it does",
		Long: `Youden finds the score at which cutting gains most: J = TPR - FPR. Any number up to the
next smaller score cuts alike. When several scores reach the same J, --rule decides.`,
		Example: `  agentlens stats youden bench --score quality_score
  agentlens stats youden bench --score quality_score --rule lowest --by model`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := choice("rule", rule, []string{"highest", "lowest"}, []stats.YoudenRule{stats.HighestThreshold, stats.LowestThreshold})
			if err != nil {
				return err
			}
			return s.runBinary(cmd, args[0], nil, func(f *tabular.Frame, b analysis.Binary) (analysis.Result, error) {
				return analysis.Youden(f, b, r, s.level)
			})
		},
	})
	f := cmd.Flags()
	f.StringVar(&rule, "rule", "highest", "threshold to print when several tie: highest or lowest")
	s.levelFlag(f)
	return cmd
}

func newConfusion() *cobra.Command {
	var s statsFlags
	var threshold float64
	cmd := s.binaryCommand(&cobra.Command{
		Use:   "confusion",
		Short: "Accuracy, precision, recall and F1 at a threshold",
		Long: `Confusion predicts a row positive when its score is at least --threshold and compares with
the label: counts, accuracy, precision, recall and F1 of both classes, macro and weighted.`,
		Example: `  agentlens stats confusion bench --score quality_score --threshold 47`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("threshold") || threshold != threshold {
				return usage.Errorf("", "give the number to cut at with --threshold; `agentlens stats youden` finds one")
			}
			return s.runBinary(cmd, args[0], nil, func(f *tabular.Frame, b analysis.Binary) (analysis.Result, error) {
				return analysis.Confusion(f, b, threshold, s.level)
			})
		},
	})
	f := cmd.Flags()
	f.Float64Var(&threshold, "threshold", 0, "least score that predicts the positive class (required)")
	s.levelFlag(f)
	return cmd
}

func alternativeFlag(f *pflag.FlagSet, p *string, greater string) {
	f.StringVar(p, "alternative", "two-sided", "two-sided, less, or greater ("+greater+")")
}

func alternativeOf(name string) (stats.Alternative, error) {
	return choice("alternative", name, []string{"two-sided", "less", "greater"}, []stats.Alternative{stats.TwoSided, stats.Less, stats.Greater})
}

func newKS() *cobra.Command {
	var s statsFlags
	var alternative, method string
	cmd := s.binaryCommand(&cobra.Command{
		Use:   "ks",
		Short: "Kolmogorov-Smirnov test: do two classes have the same distribution of scores",
		Long: `Ks compares the scores of positive rows (the first sample) and negative rows by the largest
distance of their distribution functions. The p-value is exact up to 10,000 rows a class,
beyond asymptotic; the method is printed.`,
		Example: `  agentlens stats ks bench --score quality_score
  agentlens stats ks runs.csv --score f --method asymptotic`,
		RunE: func(cmd *cobra.Command, args []string) error {
			alt, err := alternativeOf(alternative)
			if err != nil {
				return err
			}
			m, err := choice("method", method, []string{"auto", "exact", "asymptotic", "limit"},
				[]stats.KSMethod{stats.KSAuto, stats.KSExact, stats.KSAsymptotic, stats.KSLimit})
			if err != nil {
				return err
			}
			return s.runBinary(cmd, args[0], nil, func(f *tabular.Frame, b analysis.Binary) (analysis.Result, error) {
				return analysis.KS(f, b, alt, m)
			})
		},
	})
	f := cmd.Flags()
	alternativeFlag(f, &alternative, "the positive rows' distribution function lies above, so their scores are smaller")
	f.StringVar(&method, "method", "auto", "p-value: exact, asymptotic, limit (the limiting distribution), or auto")
	return cmd
}

func newMannWhitney() *cobra.Command {
	var s statsFlags
	var alternative, method string
	var continuity bool
	cmd := s.binaryCommand(&cobra.Command{
		Use:   "mannwhitney",
		Short: "Mann-Whitney U test: do positive rows tend to have larger scores",
		Long: `Mannwhitney compares the scores of positive rows (the first sample) and negative rows by
the pairs in which the positive row's score is larger.`,
		Example: `  agentlens stats mannwhitney bench --score wasted_share --profile paper
  agentlens stats mannwhitney runs.csv --score steps --label resolved --method exact`,
		RunE: func(cmd *cobra.Command, args []string) error {
			alt, err := alternativeOf(alternative)
			if err != nil {
				return err
			}
			m, err := choice("method", method, []string{"auto", "exact", "asymptotic"},
				[]stats.RankMethod{stats.RankAuto, stats.RankExact, stats.RankAsymptotic})
			if err != nil {
				return err
			}
			return s.runBinary(cmd, args[0], nil, func(f *tabular.Frame, b analysis.Binary) (analysis.Result, error) {
				return analysis.MannWhitney(f, b, alt, m, continuity)
			})
		},
	})
	f := cmd.Flags()
	alternativeFlag(f, &alternative, "positive rows have larger scores")
	f.StringVar(&method, "method", "auto", "p-value: exact, asymptotic, or auto (exact up to 8 rows of a class without ties)")
	f.BoolVar(&continuity, "continuity", true, "continuity correction of the asymptotic p-value")
	return cmd
}

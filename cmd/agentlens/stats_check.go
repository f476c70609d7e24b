package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/analysis"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

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
				return usage.Wrap(err)
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

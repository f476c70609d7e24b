package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/experiment"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/profile/params"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
)

// madeByCalibrate begins every file that calibrate writes.
const madeByCalibrate = "# Made by agentlens calibrate:"

func newCalibrate() *cobra.Command {
	opt := experiment.CalibrateOptions{Method: experiment.Grid, Step: 0.05, Folds: 50}
	var profile, out string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "calibrate DIR",
		Short: "Fit the weights and cuts of a profile to the outcomes",
		Long: `Calibrate finds weights for the signals of a profile that make its score separate passing
from failing runs, by a grid search for the largest AUROC or by logistic regression, and
measures them on tasks and on models that were held out.

Tasks are held out one by one, or in --folds folds when there are more; models one by one.
What is held out is the choice of weights: the signals of a held-out task still come from
its own passing runs. Intervals take the weights as given.

The cuts are the percentiles 10.74 and 79.84 of passing runs, which split them into Lucky,
Solid and Ideal as the paper's were. With --out the weights and cuts are written as a file
for agentlens build --profile-file. A regression can be written when none of its weights is
negative: the weighted mean then orders runs exactly as the regression does.`,
		Example: `  agentlens calibrate bench --out mine.toml
  agentlens calibrate bench --method logistic --signals A,F
  agentlens calibrate bench --profile paper --step 0.1`,
		Args: cobra.ExactArgs(1),
	}
	sampling := samplingFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&profile, "profile", process.Name, "profile to calibrate: "+strings.Join(registry.Weighted(), " or "))
	f.StringSliceVar(&opt.Signals, "signals", nil, "signals to weigh: A,F,V (and S, which no profile may weigh) or struct,cov,coh,temp (default all that enter the score)")
	f.StringVar(&opt.Method, "method", opt.Method, "grid or logistic")
	f.Float64Var(&opt.Step, "step", opt.Step, "step of the grid; 1 divided by it is a whole number")
	f.IntVar(&opt.Folds, "folds", opt.Folds, "most folds that tasks are held out in, at least 2")
	f.StringVar(&out, "out", "", "profile file to write")
	f.BoolVar(&force, "force", false, "replace the file in --out")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkSampling(sampling); err != nil {
			return err
		}
		opt.Sampling = *sampling
		var mark []byte // of a file that is replaced
		if force {
			mark = []byte(madeByCalibrate)
		}
		if out != "" {
			err := output.CheckFile(out, mark)
			if errors.Is(err, output.ErrExists) {
				err = fmt.Errorf("%w; choose another name, or replace it with --force", err)
			}
			if err != nil {
				return err
			}
		}
		d, err := openProfile(cmd, args[0], profile)
		if err != nil {
			return err
		}
		c, err := experiment.Calibrate(cmd.Context(), d, opt)
		if err != nil {
			return err
		}
		if err := show(cmd, asJSON, c, writeCalibration); err != nil || out == "" {
			return err
		}
		fitted, err := c.Fitted(d)
		if err != nil {
			return fmt.Errorf("%s is not written: %w", out, err)
		}
		var text bytes.Buffer
		fmt.Fprintf(&text, madeByCalibrate+" method %s, signals %s.\n", c.Method, strings.Join(c.Signals, ", "))
		if err := params.Write(&text, fitted); err != nil {
			return err
		}
		if err := output.WriteFile(out, text.Bytes(), mark); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s; use it with: agentlens build SOURCE --out NEW --profile-file %s\n", out, out)
		return nil
	}
	return cmd
}

// openProfile reads one profile of the dataset that the argument means.
func openProfile(cmd *cobra.Command, arg, profile string) (experiment.Dataset, error) {
	dir, err := bench.Locate(arg)
	if err != nil {
		return experiment.Dataset{}, err
	}
	return experiment.ReadDataset(cmd.Context(), dir, profile)
}

func writeCalibration(p printer, c experiment.Calibration) {
	p("profile %s, method %s, signals %s", c.Profile, c.Method, strings.Join(c.Signals, ", "))
	if c.Method == experiment.Grid {
		p("  %d points in steps of %v, of which %d reach the best AUROC", c.Points, c.Step, c.Ties)
	}
	if r := c.Regression; r != nil {
		p("  coefficients per standard deviation: %s; intercept %.3f; log loss %.4f", weights(c.Signals, r.Coef), r.Intercept, r.LogLoss)
	}
	p("weights: %s", weights(c.Signals, c.Weights))
	writeFold(p, "tasks", c.Signals, c.Tasks)
	writeFold(p, "models", c.Signals, c.Models)
	if c.LowCut != nil {
		p("cuts: lucky below %.2f, ideal from %.2f (percentiles %.2f and %.2f of passing runs)",
			*c.LowCut, *c.IdealCut, 100*experiment.LowPercentile, 100*experiment.IdealPercentile)
	} else {
		p("cuts: none, as a weight is negative: no profile can hold these weights")
	}
	writeSeparation(p, c.Separation)
}

func writeFold(p printer, what string, signals []string, f experiment.Fold) {
	if f.Undefined != "" {
		p("  no held-out %s: %s", what, f.Undefined)
		return
	}
	parts := make([]string, len(signals))
	for i, s := range signals {
		parts[i] = fmt.Sprintf("%s %.3f to %.3f", s, f.Low[i], f.High[i])
	}
	p("  held-out %s, %d folds: %s", what, f.Folds, strings.Join(parts, ", "))
}

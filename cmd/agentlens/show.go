package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/terminal"
)

func newShow() *cobra.Command {
	var profile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show DIR TRAJECTORY_ID",
		Short: "Print the quality report of one run",
		Long: `Show prints the score and its parts, the tier and why, coverage of each stage, the point of
divergence with what was expected, the wasted spans, and the strip of stages.`,
		Example: `  agentlens show bench psf__requests-1724-logs-gemini-2.5-pro-fail-24944252850_pta
  agentlens show bench RUN --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			r, err := bench.Show(cmd.Context(), dir, args[1], profile)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), r)
			}
			return writeReport(cmd.OutOrStdout(), r)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "profile to report (default "+registry.Default(registry.Names())+", where the dataset has it): "+strings.Join(registry.Names(), ", "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func writeReport(w io.Writer, r bench.Report) error {
	var b strings.Builder
	p := func(format string, args ...any) { b.WriteString(terminal.Escape(fmt.Sprintf(format, args...)) + "\n") }

	p("%s", r.TrajectoryID)
	p("  task %s, model %s, outcome %s%s", r.TaskID, r.Model, r.Outcome, in(" (from %s)", r.OutcomeFrom))
	p("  %d steps, %d input and %d output tokens", r.States, r.InputTokens, r.OutputTokens)
	for i, line := range wrap(r.Stages, 80) {
		p("  %-6s %s", []string{"stages", ""}[min(i, 1)], line)
	}
	switch {
	case r.Tier != nil:
		p("tier %s (profile %s)%s", *r.Tier, r.Profile, in(", category %s", r.Category))
		if r.TierRule != nil {
			p("  because %s", *r.TierRule)
		}
	case r.Unjudged != nil:
		p("no tier (profile %s): %s", r.Profile, *r.Unjudged)
	}
	if s := r.Score; s != nil {
		bare := ""
		if s.WithoutOutcome != nil {
			bare = fmt.Sprintf(", without the outcome %.2f", *s.WithoutOutcome)
		}
		p("score %.4g (%s)%s%s", s.Score, s.Column, bare, in(", verdict %s", r.Verdict))
		for _, part := range s.Parts {
			p("  %-20s %6.2f x %.2f = %5.2f", part.Name, part.Value, part.Weight, part.Points)
		}
	}
	if f := r.Reference; f != nil {
		few := ""
		if f.Few {
			few = ", fewer than asked for"
		}
		if f.Path == nil {
			p("pool %s: %s by %s%s", f.PTAID, plural(int64(len(f.Members)), "passing run"), "other models where there are any", few)
		} else {
			p("reference %s: %s%s, %s, path %d of %d with %d states, %d matched", f.PTAID, plural(int64(len(f.Members)), "run"), few,
				plural(f.Nodes, "node"), f.Path.Index, f.Paths, f.Path.Length, f.Path.Matched)
		}
	}
	if len(r.StageCoverage) > 0 {
		p("  %-15s %8s %8s %8s %8s %8s %8s", "stage", "covered", "expected", "matched", "missing", "extra", "effort")
		for _, s := range r.StageCoverage {
			p("  %-15s %7.1f%% %8d %8d %8d %8d %7.2fx", s.Stage, s.Percent, s.Expected, s.Matched, s.Missing, s.Extra, s.Effort)
		}
	}
	if d := r.Divergence; d != nil {
		p("diverges at %s step %d (%.0f%% of the run)%s%s", d.Of, d.Step, 100*d.Fraction, in(": did %s", d.Did), in(", expected %s", d.Expected))
		for _, s := range d.Segments {
			p("  missed reference steps %d-%d%s; %d own steps there", s.First, s.Last, in(" (%s)", s.Stage), s.Activity)
		}
	}
	if r.WastedSteps != nil {
		p("waste %s, severity %.4f", plural(*r.WastedSteps, "step"), *r.WasteSeverity)
		for _, s := range r.Waste {
			p("  %-24s steps %d-%d, %d wasted, %d tokens%s%s", s.Category, s.First, s.Last, s.Wasted, s.InputTokens+s.OutputTokens, in(", %s", s.Tool), in(" on %s", s.File))
		}
	}
	for _, s := range r.Signals {
		p("signal %s", s)
	}
	for _, s := range r.Reasons {
		p("problem %s (%s): %s", s.Reason, s.Severity, s.Detail)
	}
	for _, s := range r.Strengths {
		p("strength %s", s)
	}
	if len(r.LeftOut) > 0 {
		p("not here, as the dataset was published without it: %s", strings.Join(r.LeftOut, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// in formats an optional text, "" when it is missing.
func in(format string, s *string) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(format, *s)
}

// wrap breaks a strip into lines of width characters, at least one.
func wrap(s string, width int) []string {
	var lines []string
	for len(s) > width {
		lines = append(lines, s[:width])
		s = s[width:]
	}
	return append(lines, s)
}

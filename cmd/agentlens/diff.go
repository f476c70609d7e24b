package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/terminal"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// errDiffers ends diff when the two sides are not equal.
var errDiffers = errors.New("the two differ")

func newDiff() *cobra.Command {
	var profiles []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff A B | diff DIR --profiles P,Q",
		Short: "Say what changed between two versions or two profiles",
		Long: `Diff compares two versions, or two profiles of one version: which tables and rows changed,
how scores moved, from which tier and category to which, and the rank of each model by
its mean score over passing runs. Exit code 0 means equal, 1 different.`,
		Example: `  agentlens diff my-bench@1.0.0 my-bench@2.0.0
  agentlens diff bench --profiles release,process`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, b, err := sides(args, profiles)
			if err != nil {
				return err
			}
			d, err := bench.Compare(cmd.Context(), a, b)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), d)
			} else {
				err = writeDifference(cmd.OutOrStdout(), d)
			}
			if err == nil && !d.Equal {
				err = errDiffers
			}
			return err
		},
	}
	cmd.Flags().StringSliceVar(&profiles, "profiles", nil, "two profiles to compare, in one version or of A and B")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the difference as JSON")
	return cmd
}

func sides(args, profiles []string) (a, b bench.Side, err error) {
	switch {
	case len(profiles) != 0 && len(profiles) != 2:
		return a, b, usage.Errorf("", "--profiles takes two profiles, such as release,process")
	case len(args) == 1 && len(profiles) == 0:
		return a, b, usage.Errorf("", "name a second version, or two profiles with --profiles")
	}
	if a.Dir, err = bench.Locate(args[0]); err != nil {
		return a, b, err
	}
	if b.Dir, err = bench.Locate(args[len(args)-1]); err != nil {
		return a, b, err
	}
	if len(profiles) == 2 {
		a.Profile, b.Profile = profiles[0], profiles[1]
	}
	return a, b, nil
}

func writeDifference(w io.Writer, d bench.Difference) error {
	var s strings.Builder
	p := func(format string, args ...any) { s.WriteString(terminal.Escape(fmt.Sprintf(format, args...)) + "\n") }
	if d.Equal {
		p("equal: %s and %s", d.A, d.B)
		_, err := io.WriteString(w, s.String())
		return err
	}
	p("from %s to %s: %s changed", d.A, d.B, d.Class)
	for _, t := range d.Tables {
		p("table %s: %d rows changed, %d gone, %d new", t.Table, t.Changed, t.OnlyA, t.OnlyB)
		for _, c := range t.Columns {
			p("  %-32s %d rows", c.Column, c.Rows)
		}
		if len(t.AddedColumns) > 0 {
			p("  columns added: %s", strings.Join(t.AddedColumns, ", "))
		}
		if len(t.RemovedColumns) > 0 {
			p("  columns removed: %s", strings.Join(t.RemovedColumns, ", "))
		}
	}
	for _, c := range d.Scores {
		p("score %s: %d of %d runs changed; mean difference %.3f, mean absolute %.3f, largest %.3f",
			c.Score, c.Changed, c.Runs, c.MeanDiff, c.MeanAbs, c.MaxAbs)
	}
	writeMatrix(p, "tiers", d.Tiers)
	writeMatrix(p, "categories", d.Categories)
	for _, m := range d.Models {
		p("model %-24s %s: rank %d (%.2f) to %d (%.2f)", m.Model, m.Profile, m.RankA, m.MeanA, m.RankB, m.MeanB)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// writeMatrix prints transitions as a matrix for each profile, from left to top.
func writeMatrix(p func(string, ...any), what string, ts []bench.Transition) {
	for len(ts) > 0 {
		profile := ts[0].Profile
		n := 0
		var from, to []string
		counts := map[[2]string]int64{}
		for n < len(ts) && ts[n].Profile == profile {
			t := ts[n]
			if len(from) == 0 || from[len(from)-1] != t.From {
				from = append(from, t.From)
			}
			counts[[2]string{t.From, t.To}] = t.Runs
			n++
		}
		for _, name := range []string{"ideal", "solid", "lucky", "partial_fail", "off_track", "C1", "C2", "C3", "C4", "C5", "none"} {
			for _, t := range ts[:n] {
				if t.To == name {
					to = append(to, name)
					break
				}
			}
		}
		header := fmt.Sprintf("%-14s", "from \\ to")
		for _, c := range to {
			header += fmt.Sprintf("%14s", c)
		}
		p("%s, profile %s", what, profile)
		p("  %s", header)
		for _, r := range from {
			line := fmt.Sprintf("%-14s", r)
			for _, c := range to {
				line += fmt.Sprintf("%14d", counts[[2]string{r, c}])
			}
			p("  %s", line)
		}
		ts = ts[n:]
	}
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/paper"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newReproduce() *cobra.Command {
	var full, asJSON, asMarkdown, explain bool
	var only string
	cmd := &cobra.Command{
		Use:   "reproduce DIR",
		Short: "Recompute every figure the AgentLens paper prints",
		Long: `Reproduce goes through the ledger of the paper's figures. Each is recomputed from the
columns the authors published, and beside that from the rebuild in the same dataset. A
figure matches, lies within the variation that redrawn references give, differs for a
reason that is named, or cannot be recomputed for want of data that is named.

DIR is a dataset built from the release (agentlens build agentlens-bench-1.0.tar.zst --out
DIR): the embedded sample and other logs have nothing the paper published.

The exit code is 1 when a figure differs without a known reason, so that a continuous
integration run fails on it; known differences leave it at 0. --only does not change it.`,
		Example: `  agentlens reproduce bench
  agentlens reproduce bench --only differs
  agentlens reproduce bench --json | jq '.figures[] | select(.place == "Table 14")'
  agentlens reproduce --explain
  agentlens reproduce --explain score_outcome_term`,
		Args: func(_ *cobra.Command, args []string) error {
			if !explain && len(args) != 1 {
				return fmt.Errorf("want one DIR, got %d: a dataset built from the release, such as by `agentlens build agentlens-bench-1.0.tar.zst --out DIR`", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && asMarkdown {
				return usage.Errorf("", "--json and --markdown exclude each other")
			}
			out := cmd.OutOrStdout()
			if explain {
				if err := paper.WriteReasons(out, args...); err != nil {
					return usage.Wrap(err)
				}
				return nil
			}
			var status paper.Status
			if only != "" {
				var err error
				if status, err = paper.ParseStatus(only); err != nil {
					return usage.Wrap(err)
				}
			}
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			db, err := store.Open(cmd.Context(), dir)
			if err != nil {
				return err
			}
			defer db.Close()
			src, err := paper.Read(cmd.Context(), db)
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			ledger, err := paper.Reproduce(cmd.Context(), src)
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			unexpected := ledger.Unexpected()
			if only != "" {
				ledger = ledger.Only(status)
			}
			switch {
			case asJSON:
				err = paper.WriteJSON(out, ledger)
			case asMarkdown:
				err = paper.WriteMarkdown(out, ledger)
			default:
				err = paper.WriteText(out, ledger, full || status == paper.Match)
			}
			if err == nil && len(unexpected) > 0 {
				err = unexpectedFigures(unexpected)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&full, "full", false, "list the figures that match too")
	f.StringVar(&only, "only", "", "only figures with this status: "+statuses())
	f.BoolVar(&asJSON, "json", false, "print the ledger as JSON")
	f.BoolVar(&asMarkdown, "markdown", false, "print the ledger as Markdown tables")
	f.BoolVar(&explain, "explain", false, "explain reason codes, those given as arguments or all, instead")
	return cmd
}

func statuses() string {
	var names []string
	for _, s := range paper.Statuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func unexpectedFigures(figures []paper.Figure) error {
	ids := make([]string, len(figures))
	for i, f := range figures {
		ids[i] = f.ID
	}
	verb := " differ"
	if len(ids) == 1 {
		verb = " differs"
	}
	return errors.New(plural(int64(len(ids)), "figure") + verb + " without a known reason: " + list(ids, 5))
}

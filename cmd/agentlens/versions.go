package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
)

func newVersions() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "versions ROOT",
		Short: "List the dataset versions in a root",
		Long: `Versions lists the versions that build --root made, with their parents, profiles, counts and
digests. Every command takes a root for its newest version, or ROOT@VERSION.`,
		Example: `  agentlens build runs/ --root my-bench
  agentlens versions my-bench
  agentlens verify my-bench@1.0.0`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := bench.Versions(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), list)
			}
			for _, v := range list {
				parent := "-"
				if v.Parent != nil {
					parent = v.Parent.Version + " " + v.Parent.SHA256[:12]
				}
				sources := make([]string, len(v.Sources))
				for i, s := range v.Sources {
					sources[i] = s[:12]
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s  parent %s  profiles %s  sources %s  %s of %s by %s\n",
					v.Version, v.SHA256[:12], parent, strings.Join(v.Profiles, ","), strings.Join(sources, ","),
					plural(v.Counts.Trajectories, "run"), plural(v.Counts.Tasks, "task"), plural(v.Counts.Models, "model"))
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

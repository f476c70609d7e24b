package main

import (
	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/usage"
	"github.com/agentlens-bench/agentlens/schema"
)

func newSchema() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the column reference of a dataset",
		Example: `  agentlens schema
  agentlens schema --format sql
  agentlens schema --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch w := cmd.OutOrStdout(); format {
			case "text":
				return schema.Reference(w)
			case "json":
				return schema.JSONSchema(w)
			case "sql":
				return schema.DDL(w)
			}
			return usage.Errorf("", "--format %q: want text, json or sql", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text (Markdown), json (JSON Schema) or sql (DDL of the database)")
	return cmd
}

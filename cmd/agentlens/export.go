package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/export"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newExport() *cobra.Command {
	opt := export.Options{Format: "parquet"}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "export DIR --out FOLDER",
		Short: "Write a dataset's tables as Parquet, CSV, JSON Lines, Arrow or SQLite",
		Long: `Export writes tables of a dataset, one file per table and profile, or one per task or model
in folders as Hive names them (states/task_id=a/part-0.parquet). Rows are sorted by primary
key. The same dataset and options give the same bytes. Beside the tables are manifest.json,
with the columns and row counts, and SHA256SUMS.

--where is a condition on runs, with the columns of trajectories, features, tiers, signals
and published of the first --profile; rows of other runs, tasks and models are left out.

Integers that may be missing stay integers. CSV: header, LF, true and false; NULL is an empty
field (or --null TEXT), an empty text is "". For pandas: read_csv(f, keep_default_na=False,
na_values=[""], dtype_backend="numpy_nullable"). Arrow files have dictionaries for columns
of few different texts. SQLite is one file, agentlens.db, with keys, indexes and views.`,
		Example: `  agentlens export bench --out parquet
  agentlens export bench --tables features,tiers --profile release --format csv --out csv
  agentlens export bench --tables states --partition-by task --out lake
  agentlens export datasets/agentlens-bench --format sqlite --out db
  agentlens export bench --where "passed AND quality_tier = 'ideal'" --format arrow --out ideal`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.Out == "" {
				return usage.Errorf("", "--out is needed: the folder to make")
			}
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			m, err := export.Run(cmd.Context(), dir, opt)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), m)
			}
			var rows int64
			files := map[string]bool{}
			for _, t := range m.Tables {
				for _, f := range t.Files {
					files[f.Path] = true
				}
				rows += t.Rows
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "exported %s to %s: %s of %s, %s\n", args[0], opt.Out,
				plural(rows, "row"), plural(int64(len(m.Tables)), "table"), plural(int64(len(files)), "file"))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.Out, "out", "", "folder to make, which must not exist or be empty (required)")
	f.StringVar(&opt.Format, "format", opt.Format, "format of the files: "+strings.Join(export.Formats(), ", "))
	f.StringSliceVar(&opt.Tables, "tables", nil, "tables to write (default all)")
	f.StringSliceVar(&opt.Profiles, "profile", nil, "profiles of the per-profile tables (default all of the dataset)")
	f.StringVar(&opt.Where, "where", "", "SQL condition on runs")
	f.StringVar(&opt.PartitionBy, "partition-by", "", "one file per task or model")
	f.StringVar(&opt.Null, "null", "", "text for NULL in CSV")
	f.BoolVar(&asJSON, "json", false, "print the manifest as JSON")
	return cmd
}

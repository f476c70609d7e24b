package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/publish"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newPublish() *cobra.Command {
	var opt publish.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "publish DIR --out FOLDER",
		Short: "Make the folder that one uploads: Parquet, dataset card, Croissant, data package",
		Long: `Publish writes a dataset as a folder to upload: its tables as Parquet files, a dataset card
for Hugging Face (README.md), croissant.json (Croissant 1.1), datapackage.json (Frictionless),
DATASHEET.md, LICENSE, ATTRIBUTION.md, CITATION.cff, CHANGELOG.md, manifest.json and
SHA256SUMS. Text and numbers of the documents come from the data. The folder is a dataset:
query, stats, figures, curate --dry-run, export and verify work on it.

What derives from the AgentLens release is published under CC-BY-4.0 with its attribution.
Of other logs, --license says under which licence their owner lets you publish them.

--previous names the published folder of the version before. Values that changed or went make
a major version, added columns, tables or profiles a minor one, other bytes or documents a
patch; CHANGELOG.md says what changed. A published folder as DIR is its own --previous. When nothing changed there is nothing to publish, which is an error.

--no-text leaves out columns that hold text of the logs (task descriptions, commands,
observations) and digests of it.`,
		Example: `  agentlens publish bench --out upload
  agentlens publish bench --no-text --without published,published_tasks,published_references --out upload
  agentlens publish bench-new --previous upload --date 2027-01-31 --out upload-new
  agentlens publish mine --license Apache-2.0 --name my-runs --title "My agent's runs" --creator "My lab" --url https://example.org --out upload`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.Out == "" {
				return usage.Errorf("", "--out is needed: the folder to make")
			}
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			res, err := publish.Run(cmd.Context(), dir, opt)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), res)
			}
			change := ""
			if res.Change != "" {
				change = ", as " + res.Change + " changed"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "published %s to %s: version %s%s, %s, %s of %s, %s\n", args[0], opt.Out, res.Version, change,
				res.License, plural(res.Rows, "row"), plural(int64(res.Tables), "table"), humanize.Bytes(uint64(res.Bytes)))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.Out, "out", "", "folder to make, which must not exist or be empty (required)")
	f.StringVar(&opt.Previous, "previous", "", "published folder of the version before, or a root of such")
	f.StringVar(&opt.Version, "version", "", "version to publish, not below the one that follows from what changed")
	f.StringSliceVar(&opt.Without, "without", nil, "tables to leave out, and columns as table.column")
	f.BoolVar(&opt.NoText, "no-text", false, "leave out columns of log text")
	f.StringVar(&opt.License, "license", "", "SPDX id of the licence; needed unless all runs come from the AgentLens release")
	f.StringVar(&opt.Name, "name", "", "short name, as in an address (default agentlens-bench for the release, else agentlens-dataset)")
	f.StringVar(&opt.Title, "title", "", "title of the dataset")
	f.StringArrayVar(&opt.Creators, "creator", nil, "who made the dataset; may be repeated")
	f.StringVar(&opt.URL, "url", "", "page of the dataset")
	f.StringVar(&opt.Date, "date", "", "day of publication (default "+bench.ToolDate+", the day of this version of the program: the clock enters no file)")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/query"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newQuery() *cobra.Command {
	var opt query.Options
	var format, null string
	cmd := &cobra.Command{
		Use:   `query DIR ["SQL" | -]`,
		Short: "Read a dataset with SQL",
		Long: `Query runs one SELECT on the dataset's SQLite file and prints its rows; - reads it from
standard input. Without a query it lists the tables and views with their columns.

The file is only read: statements that write, attach files or change settings are refused.
Per-profile tables have the profile in their first column; views such as features_release
have the rows of one profile. Truth values are 0 and 1. Order is only sure with ORDER BY.

CSV: NULL is an empty field (or --null TEXT), empty text is "", lines end with LF, and a real
always has a point or an exponent. JSON: one array of objects; jsonl: one object a line.
A query that is stopped by --timeout has printed whole rows only, and exits with 1.`,
		Example: `  agentlens query bench
  agentlens query bench "SELECT tier, count(*) AS runs FROM tiers WHERE profile = 'release' GROUP BY tier"
  agentlens query bench "SELECT * FROM features_release ORDER BY trajectory_id" --format csv > features.csv
  agentlens query bench - --format jsonl < report.sql`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(query.Formats(), format) {
				return usage.Errorf("", "unknown format %q: want one of %s", format, strings.Join(query.Formats(), ", "))
			}
			if opt.Timeout < 0 || opt.MaxRows < 0 {
				return usage.Errorf("", "--timeout and --max-rows: want 0 for no limit, or more")
			}
			if strings.ContainsAny(null, ",\"\r\n") {
				return usage.Errorf("", "--null %q: a comma, a quote or a line end cannot stand for NULL", null)
			}
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			text := ""
			if len(args) == 2 {
				text = args[1]
			}
			if text == "-" {
				read, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<20))
				if err != nil {
					return fmt.Errorf("standard input: %w", err)
				}
				text = string(read)
			}
			db, err := query.Open(cmd.Context(), dir)
			if err != nil {
				return err
			}
			defer db.Close()
			if len(args) == 1 {
				return listTables(cmd, db, format)
			}
			w := query.NewWriter(resultTo(cmd, format), format, null)
			more, err := db.Run(cmd.Context(), text, opt, w)
			if err = errors.Join(err, w.Close()); err != nil {
				return err
			}
			absent, err := store.Absent(dir)
			if err != nil {
				return err
			}
			if names := store.Named(absent, text); len(names) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "agentlens: %s was published without %s, of which the query sees no rows or nulls\n", args[0], strings.Join(names, ", "))
			}
			if more {
				fmt.Fprintf(cmd.ErrOrStderr(), "agentlens: there are more rows than --max-rows %d\n", opt.MaxRows)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "table", "format of the result: "+strings.Join(query.Formats(), ", "))
	f.DurationVar(&opt.Timeout, "timeout", time.Minute, "longest time for the query; 0 for no limit")
	f.IntVar(&opt.MaxRows, "max-rows", 0, "most rows to print; 0 for all")
	f.StringVar(&null, "null", "", "text for NULL in CSV")
	return cmd
}

// resultTo is where a result of a format goes. JSON stays the same data when it is escaped.
func resultTo(cmd *cobra.Command, format string) io.Writer {
	if format == "csv" {
		return data(cmd)
	}
	return cmd.OutOrStdout()
}

// listTables prints the tables of a dataset; in JSON, with their columns as an array.
func listTables(cmd *cobra.Command, db *query.DB, format string) error {
	tables, err := db.Tables(cmd.Context())
	if err != nil {
		return err
	}
	if format == "json" {
		return writeJSON(cmd.OutOrStdout(), tables)
	}
	if format == "table" {
		var b strings.Builder
		for _, t := range tables {
			kind := ""
			if t.View {
				kind = ", a view"
			}
			fmt.Fprintf(&b, "%s (%s%s)\n", t.Name, plural(t.Rows, "row"), kind)
			if !t.View {
				fmt.Fprintf(&b, "  %s\n", t.Doc)
			}
			fmt.Fprintf(&b, "  %s\n", wrapWords(t.Columns, 90, "  "))
		}
		_, err := io.WriteString(cmd.OutOrStdout(), b.String())
		return err
	}
	w := query.NewWriter(resultTo(cmd, format), format, "")
	err = w.Columns([]string{"name", "type", "rows", "columns"})
	for _, t := range tables {
		kind := "table"
		if t.View {
			kind = "view"
		}
		err = errors.Join(err, w.Row([]any{t.Name, kind, t.Rows, strings.Join(t.Columns, " ")}))
	}
	return errors.Join(err, w.Close())
}

// wrapWords joins words with spaces, with a new line and the indent before one that does not
// fit.
func wrapWords(words []string, width int, indent string) string {
	var b strings.Builder
	at := 0
	for i, w := range words {
		switch {
		case i == 0:
		case at+1+len(w) > width:
			b.WriteString("\n" + indent)
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(w)
		at += len(w)
	}
	return b.String()
}

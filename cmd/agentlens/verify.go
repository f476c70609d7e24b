package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/publish"
)

func newVerify() *cobra.Command {
	var opt bench.VerifyOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check a dataset version",
		Long: `Verify checks that every file is as SHA256SUMS says, that SQLite and Parquet hold the
same rows and as many as the manifest counts, that keys hold, and that derived columns
follow from what they derive from. With --rebuild it builds the dataset again from the
source and compares bytes. Of a published folder it checks the tables and columns that are
there, and the documents; --rebuild publishes the build again.`,
		Example: `  agentlens verify bench
  agentlens verify bench --rebuild agentlens-bench-1.0.tar.zst`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			v, err := verify(cmd.Context(), dir, opt)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), v)
			} else {
				err = writeVerification(cmd.OutOrStdout(), v)
			}
			if err == nil && !v.OK {
				err = fmt.Errorf("%s in %s; build it again, or copy it again from where it came", plural(int64(len(v.Problems)), "problem"), v.Dir)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&opt.Rebuild, "rebuild", nil, "sources the dataset was built from: build again and compare bytes")
	inputFile(f, &opt.Labels, "labels", "with --rebuild: the labels file of the first build")
	inputFile(f, &opt.Donors, "donors", "with --rebuild: the donors file of the first build")
	inputFile(f, &opt.Tools, "tools", "with --rebuild: the tools file of the first build")
	jobsFlag(f, &opt.Jobs, "with --rebuild: parallel workers")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// verify checks a dataset, and the documents of a published one.
func verify(ctx context.Context, dir string, opt bench.VerifyOptions) (bench.Verification, error) {
	m, err := bench.ReadManifest(dir)
	if err != nil {
		return bench.Verification{}, err
	}
	if m.Publication != nil {
		opt.Publish = func(ctx context.Context, built, out string) error { return publish.Again(ctx, built, out, m) }
	}
	v, err := bench.Verify(ctx, dir, opt)
	if err != nil || m.Publication == nil {
		return v, err
	}
	problems, err := publish.Check(dir)
	if err != nil {
		return v, err
	}
	v.Add("documents: croissant.json and datapackage.json describe the files that are there", problems)
	return v, nil
}

func writeVerification(w io.Writer, v bench.Verification) error {
	for _, c := range v.Checks {
		verdict := "checked"
		if !c.OK {
			verdict = "FAILED "
		}
		if _, err := fmt.Fprintf(w, "%s %s\n", verdict, c.Name); err != nil {
			return err
		}
		for _, rule := range c.LeftOut {
			if _, err := fmt.Fprintf(w, "  left out, as the dataset was published without what it needs: %s\n", rule); err != nil {
				return err
			}
		}
	}
	for _, p := range v.Problems {
		if _, err := fmt.Fprintf(w, "problem %s\n", p); err != nil {
			return err
		}
	}
	if v.OK {
		_, err := fmt.Fprintf(w, "ok %s\n", v.Dir)
		return err
	}
	return nil
}

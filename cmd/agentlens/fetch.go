package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/fetch"
	"github.com/agentlens-bench/agentlens/internal/output/cachedir"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newFetch() *cobra.Command {
	opt := fetch.Options{UserAgent: "agentlens/" + bench.ToolVersion}
	var asJSON, asList bool
	cmd := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Get a published dataset, every file verified",
		Long: `Fetch downloads a published dataset, checks the SHA-256 of every file and prints the folder.
Files are kept in a cache; a run that was stopped is continued by the next one, and files that
are there and right are not asked for again.

--from takes the files from a folder or archive (.tar, .tar.gz, .tar.zst, .zip) instead, and
says what is missing or different. It asks no network. The copy may be of the dataset alone or
of the repository around it.

--out makes a folder with all files and their SHA256SUMS, whole or not at all. Its files are
links into the cache where the file system has them: copy them before you change them.`,
		Example: `  agentlens fetch --list
  agentlens build "$(agentlens fetch agentlens-bench)" --out bench
  agentlens fetch agentlens-bench --out agentlens-bench-1.0
  agentlens fetch agentlens-bench --from agentlens-app-main.zip --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asList {
				return listRecipes(cmd.OutOrStdout(), asJSON)
			}
			if len(args) == 0 {
				return usage.Errorf("", "which dataset? see agentlens fetch --list")
			}
			r, err := fetch.Load(datasets.Recipes(), args[0])
			if err != nil {
				return err
			}
			opt := opt
			if opt.Cache == "" {
				if opt.Cache, err = cachedir.Path("fetch"); err != nil {
					return err
				}
			}
			notes := cmd.ErrOrStderr()
			fmt.Fprintf(notes, "%s. Licence %s: %s\n", r.Title, r.Licence, r.Attribution)
			progress := newProgress(notes)
			opt.Progress = progress.report
			res, err := fetch.Run(cmd.Context(), r, opt)
			progress.close()
			switch {
			case errors.Is(err, context.Canceled):
				return errors.New("interrupted; run it again, it goes on where it stopped")
			case err != nil:
				return err
			}
			noteFetch(notes, res, opt.From)
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), res)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), res.Dir)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.Out, "out", "", "folder to make, which must not exist or be empty (default: the result stays in the cache)")
	f.StringVar(&opt.From, "from", "", "folder or archive to take the files from")
	f.StringVar(&opt.Mirror, "mirror", "", "http or https address of a folder with the files, instead of the known mirrors")
	f.StringVar(&opt.Cache, "cache", "", "folder to keep datasets in (default fetch in $"+cachedir.Variable+" or in agentlens in your cache folder)")
	f.IntVar(&opt.Jobs, "jobs", 8, "files at a time")
	f.DurationVar(&opt.Idle, "idle", 30*time.Second, "give a request up after this time without a byte, and try again")
	f.BoolVar(&asList, "list", false, "list the datasets that can be fetched")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func noteFetch(w io.Writer, r fetch.Result, from string) {
	got := fmt.Sprintf("%d fetched", r.DownloadedFiles)
	if from != "" {
		got = fmt.Sprintf("%s from %s", plural(r.TakenFiles, "file"), from)
	}
	fmt.Fprintf(w, "%s, %d bytes, all verified: %s, %d in the cache before\n", plural(r.Files, "file"), r.Bytes, got, r.FromCache)
	if n := len(r.Skipped); n > 0 {
		fmt.Fprintf(w, "%s of --from not in the dataset, skipped: %s\n", plural(int64(n), "file"), list(r.Skipped, 3))
	}
}

// listRecipes prints the datasets that can be fetched.
func listRecipes(w io.Writer, asJSON bool) error {
	names, err := fetch.Names(datasets.Recipes())
	if err != nil {
		return err
	}
	var known []fetch.Recipe
	for _, name := range names {
		r, err := fetch.Load(datasets.Recipes(), name)
		if err != nil {
			return err
		}
		known = append(known, r)
	}
	if asJSON {
		return writeJSON(w, known)
	}
	for _, r := range known {
		if _, err := fmt.Fprintf(w, "%s: %s; %d files, %d bytes, %s, %s\n", r.Name, r.Title, r.Files, r.Bytes, r.Licence, r.Citation); err != nil {
			return err
		}
	}
	return nil
}

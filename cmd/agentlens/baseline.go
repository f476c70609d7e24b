package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/embedding"
	"github.com/agentlens-bench/agentlens/internal/experiment"
	"github.com/agentlens-bench/agentlens/internal/profile/baseline"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Where the embeddings endpoint and its key come from.
const (
	endpointVariable = "AGENTLENS_EMBEDDINGS_URL"
	keyVariable      = "AGENTLENS_EMBEDDINGS_KEY"
)

func newBaseline() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Separate passing from failing runs the simple ways",
		Long: `Baseline scores runs by their similarity to single passing runs of the task (the paper's
Table 12): step by step, by TF-IDF of the steps' words, or by dense vectors. A run is
compared with the first k other passing runs in hash order; its score is the best of them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newIndividual(), newTFIDF(), newDense())
	return cmd
}

// baselineCommand adds the flags that all methods share. check is called before the sources
// are read, run with them.
func baselineCommand(name, short, long string, check func() error, run func(ctx context.Context, src *sources, k int, s stats.Resampling) (experiment.Baseline, error)) *cobra.Command {
	var k int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     name + " [SOURCE...]",
		Short:   short,
		Long:    long + "\n\nWithout a SOURCE the embedded sample is used.",
		Example: fmt.Sprintf("  agentlens baseline %s agentlens-bench-1.0.tar.zst\n  agentlens baseline %s runs/ --k 3 --json", name, name),
		Args:    cobra.ArbitraryArgs,
	}
	src, sampling := addSourceFlags(cmd), samplingFlags(cmd)
	cmd.Flags().IntVar(&k, "k", 5, "passing runs that a run is compared with, at least 2")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := errors.Join(checkSampling(sampling), experiment.CheckReferences(k)); err != nil {
			return err
		}
		if err := check(); err != nil {
			return err
		}
		return withSources(cmd, src, args, asJSON, func(ctx context.Context, src *sources) (experiment.Baseline, error) {
			return run(ctx, src, k, *sampling)
		}, writeBaseline)
	}
	return cmd
}

func writeBaseline(p printer, b experiment.Baseline) {
	p("baseline %s, best of %d references", b.Method, b.K)
	s := b.Separation.Scores[0]
	p("accuracy %.3f and F1 %.3f at the best threshold, %.4f; KS distance %.3f", s.Accuracy, s.F1, s.Threshold, s.KS)
	writeSeparation(p, b.Separation)
}

func labelSet(name string) steps.LabelSet { return steps.LabelSet(name) }

func newIndividual() *cobra.Command {
	labels := "release"
	cmd := baselineCommand("individual", "Match runs with single passing runs, step by step",
		"Individual takes the harmonic mean of the ordered recall of the reference and the precision\nof the run.",
		func() error { return oneOf("labels", labels, "release", "clean") },
		func(ctx context.Context, src *sources, k int, s stats.Resampling) (experiment.Baseline, error) {
			return experiment.RunBaseline(ctx, src.Corpus, "individual", k, experiment.Individual(labelSet(labels), k), s)
		})
	cmd.Flags().StringVar(&labels, "labels", labels, "stage labels to use, release or clean")
	return cmd
}

func newTFIDF() *cobra.Command {
	return baselineCommand("tfidf", "Compare runs by the words of their steps",
		"Tfidf compares the steps' tool names, paths, commands and edits by TF-IDF cosine.",
		func() error { return nil },
		func(ctx context.Context, src *sources, k int, s stats.Resampling) (experiment.Baseline, error) {
			return experiment.RunBaseline(ctx, src.Corpus, "tfidf", k, experiment.TFIDF(k), s)
		})
}

func newDense() *cobra.Command {
	var opt embedding.Options
	var client *embedding.Client // nil offline
	dims := 128
	check := func() error {
		if dims < 1 {
			return usage.Errorf("", "--dims %d: want at least 1", dims)
		}
		if opt.Endpoint == "" {
			opt.Endpoint = os.Getenv(endpointVariable)
		}
		if opt.Endpoint == "" {
			return nil
		}
		opt.Key = os.Getenv(keyVariable)
		if opt.Cache == "" {
			dir, err := os.UserCacheDir()
			if err != nil {
				return fmt.Errorf("no cache folder: %w; name a file with --cache", err)
			}
			opt.Cache = filepath.Join(dir, "agentlens", "embeddings.db")
		}
		var err error
		if client, err = embedding.New(opt); err != nil {
			return usage.Wrap(err)
		}
		return nil
	}
	cmd := baselineCommand("dense", "Compare runs by vectors of their steps",
		`Dense compares the steps by the cosine of dense vectors. By default they are made offline:
TF-IDF reduced by a truncated singular value decomposition. With an endpoint they come from
any server that speaks the OpenAI embeddings protocol; its base URL is --endpoint or the
variable `+endpointVariable+`, its key the variable `+keyVariable+`. Vectors are
kept in a file by model and text, so that a second run calls nothing.`,
		check,
		func(ctx context.Context, src *sources, k int, s stats.Resampling) (experiment.Baseline, error) {
			if client == nil {
				return experiment.RunBaseline(ctx, src.Corpus, "dense, offline", k, experiment.Dense(k, baseline.LSA(dims)), s)
			}
			out, err := experiment.RunBaseline(ctx, src.Corpus, "dense, "+opt.Model, k, experiment.Dense(k, remote(client)), s)
			src.progress.close()
			u := client.Usage()
			fmt.Fprintf(src.errors, "embeddings: %s from the cache, %d embedded in %s\n", plural(u.Cached, "text"), u.Embedded, plural(u.Requests, "request"))
			return out, err
		})
	f := cmd.Flags()
	f.IntVar(&dims, "dims", dims, "offline: components of a vector")
	f.StringVar(&opt.Endpoint, "endpoint", "", "base URL of an embeddings server, such as https://api.openai.com/v1 (default $"+endpointVariable+")")
	f.StringVar(&opt.Model, "model", "text-embedding-3-large", "model, as the server names it")
	f.IntVar(&opt.Batch, "batch", embedding.DefaultBatch, "texts per request")
	f.DurationVar(&opt.Timeout, "timeout", embedding.DefaultTimeout, "longest time for one attempt of a request")
	f.StringVar(&opt.Cache, "cache", "", "file that keeps the vectors (default: embeddings.db in the user's cache folder)")
	f.IntVar(&opt.Attempts, "attempts", embedding.DefaultAttempts, "how often a request is tried, with growing waits")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if client != nil {
			err = errors.Join(err, client.Close())
		}
		return err
	}
	return cmd
}

// remote embeds the text of steps by an endpoint.
func remote(client *embedding.Client) baseline.Embed {
	return func(ctx context.Context, docs []baseline.Document) ([][]float64, error) {
		texts := make([]string, len(docs))
		for i, d := range docs {
			texts[i] = d.String()
		}
		return client.Vectors(ctx, texts)
	}
}

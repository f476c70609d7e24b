package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/experiment"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/terminal"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// samplingFlags adds the flags behind every interval.
func samplingFlags(cmd *cobra.Command) *stats.Resampling {
	s := stats.DefaultResampling()
	cmd.Flags().Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything random; same seed, same figures")
	cmd.Flags().IntVar(&s.Resamples, "resamples", s.Resamples, "bootstrap resamples behind each 95 % interval, at least 2")
	return &s
}

func checkSampling(s *stats.Resampling) error {
	if s.Resamples < 2 {
		return usage.Errorf("", "--resamples %d: want at least 2", s.Resamples)
	}
	return nil
}

// sourceFlags are the flags of a command that reads logs.
type sourceFlags struct {
	in   ingest.Options
	jobs int
}

func addSourceFlags(cmd *cobra.Command) *sourceFlags {
	s := &sourceFlags{}
	f := cmd.Flags()
	f.StringVar(&s.in.Format, "format", "", "reader for every record, instead of recognising it")
	inputFile(f, &s.in.Labels, "outcomes", "CSV or JSON Lines file of outcomes: trajectory_id or instance_id, and passed")
	jobsFlag(f, &s.jobs, "parallel workers")
	return s
}

// sources are read logs, ready for an experiment.
type sources struct {
	experiment.Corpus
	ids      []string // of the tasks, sorted
	runs     *corpus.Corpus
	temp     *output.Temp // of the embedded sample
	progress *progress
	errors   io.Writer
}

// open reads the logs, without any the embedded sample. Close the result.
func (s *sourceFlags) open(cmd *cobra.Command, args []string) (*sources, error) {
	jobs, err := workers(s.jobs)
	if err != nil {
		return nil, err
	}
	temp, err := output.NewTemp("")
	if err != nil {
		return nil, err
	}
	out := &sources{temp: temp, progress: newProgress(cmd.ErrOrStderr()), errors: cmd.ErrOrStderr()}
	if len(args) == 0 {
		sample := filepath.Join(temp.Path, datasets.SampleName)
		if err := os.WriteFile(sample, []byte(datasets.Sample()), 0o600); err != nil {
			return nil, errors.Join(err, temp.Remove())
		}
		args = []string{sample}
	}
	in := s.in
	in.Jobs = jobs
	in.Report = func(done, total int64) { out.progress.report("read", done, total) }
	out.runs, err = corpus.Open(cmd.Context(), args, in, temp.Path)
	out.progress.close()
	if err != nil {
		return nil, errors.Join(err, temp.Remove())
	}
	out.Jobs = jobs
	out.Progress = func(done, total int) { out.progress.report("score", int64(done), int64(total)) }
	for i := range out.runs.Tasks {
		t := &out.runs.Tasks[i]
		out.ids = append(out.ids, t.ID)
		out.Tasks = append(out.Tasks, func() profile.Task { return out.runs.Loader(t).Task() })
	}
	return out, nil
}

func (s *sources) close() error {
	s.progress.close()
	return errors.Join(s.runs.Close(), s.temp.Remove())
}

// refused ends a command that did its work, saying which records it did without.
func (s *sources) refused() error {
	n := len(s.runs.Refused)
	if n == 0 {
		return nil
	}
	for i := range min(n, 5) {
		fmt.Fprintf(s.errors, "agentlens: refused: %v\n", &s.runs.Refused[i])
	}
	fmt.Fprintf(s.errors, "agentlens: %s refused; agentlens build lists them all in errors.jsonl\n", plural(s.runs.CountRefused(), "record"))
	return errRefused
}

// withSources runs an experiment on logs and prints its result.
func withSources[T any](cmd *cobra.Command, s *sourceFlags, args []string, asJSON bool,
	run func(ctx context.Context, src *sources) (T, error), write func(p printer, result T)) (err error) {
	src, err := s.open(cmd, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.close()) }()
	result, err := run(cmd.Context(), src)
	src.progress.close()
	if err != nil {
		return err
	}
	if err := show(cmd, asJSON, result, write); err != nil {
		return err
	}
	return src.refused()
}

// show prints a result as JSON or as text.
func show[T any](cmd *cobra.Command, asJSON bool, result T, write func(p printer, result T)) error {
	if asJSON {
		return writeJSON(cmd.OutOrStdout(), result)
	}
	var b strings.Builder
	write(func(format string, args ...any) { b.WriteString(terminal.Escape(fmt.Sprintf(format, args...)) + "\n") }, result)
	_, err := io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}

// printer prints one line.
type printer func(format string, args ...any)

// writeSeparation prints the blocks of a comparison, the oracle, and who was left out.
func writeSeparation(p printer, s experiment.Separation) {
	writeBlocks(p, s.Scores, s.Oracle)
	if s.Oracle == nil {
		p("oracle: undefined, as no run has a model that ran other tasks and a task that other runs tried, with both outcomes among such runs")
	} else {
		p("oracle: knows only the pass rates of the run's model on other tasks and of the task's other runs; %s without one of them left out", plural(int64(s.OracleLeft), "run"))
	}
	p("left out: %s with unknown outcome, %d without a score", plural(int64(s.Unknown), "run"), s.Unscored)
	p("AUROC, passing above failing runs, with %.0f %% bootstrap intervals over tasks (%d resamples, seed %d)", 100*s.Level, s.Resamples, s.Seed)
}

func writeBlocks(p printer, blocks []experiment.Block, oracle *experiment.Block) {
	width := len("oracle")
	for _, b := range blocks {
		width = max(width, len(b.Name))
	}
	line := func(name, n, pass, fail string, areas ...string) {
		p("%s", strings.TrimRight(fmt.Sprintf("%-*s  %6s %6s %6s  %-21s %-21s %-21s %-21s %-21s", append([]any{width, name, n, pass, fail}, anys(areas)...)...), " "))
	}
	line("score", "n", "pass", "fail", "micro", "macro by task", "inside task", "inside model", "inside task and model")
	number := func(n int) string { return fmt.Sprint(n) }
	for _, b := range blocks {
		line(b.Name, number(b.N), number(b.Pass), number(b.Fail),
			area(b.Micro), area(b.Macro), area(b.WithinTask), area(b.WithinModel), area(b.WithinTaskModel))
	}
	if o := oracle; o != nil {
		// Leaving the run itself out ties the rates inversely to the outcome inside a task or
		// model, so the other figures mean nothing.
		line(o.Name, number(o.N), number(o.Pass), number(o.Fail), area(o.Micro), "-", "-", "-", "-")
	}
}

func anys(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

func area(a experiment.Area) string {
	switch {
	case a.AUROC == nil:
		return "undefined"
	case a.Low == nil:
		return fmt.Sprintf("%.3f", *a.AUROC)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *a.AUROC, *a.Low, *a.High)
}

// figure formats a number that may not exist.
func figure(format string, v *float64) string {
	if v == nil {
		return "undefined"
	}
	return fmt.Sprintf(format, *v)
}

func percent(share *float64) string {
	if share == nil {
		return "undefined"
	}
	return fmt.Sprintf("%.1f %%", 100**share)
}

// weights lists a weight for each signal.
func weights(signals []string, w []float64) string {
	parts := make([]string, len(signals))
	for i, s := range signals {
		parts[i] = fmt.Sprintf("%s %.3f", s, w[i])
	}
	return strings.Join(parts, ", ")
}

// jobsFlag adds --jobs, whose 0 means what workers says. The default names no number, as help
// reads the same on every machine.
func jobsFlag(f *pflag.FlagSet, jobs *int, use string) {
	f.IntVar(jobs, "jobs", 0, use+" (default: one per processor); does not change the result")
}

// workers returns the parallel workers that --jobs asks for.
func workers(jobs int) (int, error) {
	switch {
	case jobs < 0:
		return 0, usage.Errorf("", "--jobs %d: want 1 or more, or 0 for one per processor", jobs)
	case jobs == 0:
		return runtime.GOMAXPROCS(0), nil
	}
	return jobs, nil
}

func oneOf(flag, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return usage.Errorf("", "--%s %q: want %s", flag, value, strings.Join(allowed, " or "))
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/curate"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newCurate() *cobra.Command {
	opt := curate.Options{Rules: curate.DefaultRules()}
	r := &opt.Rules
	var rulesFile string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "curate DIR [SOURCE...] --out FOLDER",
		Short: "Cut a training set of runs that worked well",
		Long: `Curate takes the runs of a dataset that satisfy all rules, and says of every other run which
rule left it out. The rules are flags or a TOML file (--rules; keys are the flags with _ for -,
flags win). It prints a funnel: raw, selected, deduplicated, labelled, outcome, tier, waste,
verified, size, valid, strategy, caps, balanced, splits, final.

Targets: chat (OpenAI chat with tool calls), sharegpt, messages (plain, calls as text), pairs
(a clean and a lucky run of a task), rewards (one for every step), curriculum (runs in order),
ids. The first four need SOURCE, the logs the dataset was built from, as a dataset has no
whole texts. Tools have their canonical names. Every dialogue is checked: a task first, known
tools, arguments that are JSON objects, an answer to every call, a finish at the end. Texts
are those of the log, without secrets and names of home folders.

The folder has train.jsonl and eval.jsonl, ids.jsonl (the run behind each line), rejected.jsonl
(a reason for every other run), rules.toml, manifest.json and SHA256SUMS. The same dataset,
sources and rules give the same bytes.`,
		Example: `  agentlens curate bench runs.tar.zst --tiers ideal,solid --verified --max-waste 0.2 --per-task 5 --out set
  agentlens curate bench --strategy top --k 50 --score published.quality_score --dry-run
  agentlens curate bench runs/ --rules rules.toml --eval-share 0.1 --out set
  agentlens curate bench --target rewards --outcome pass,fail --out rewards`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.Out == "" && !opt.DryRun {
				return usage.Errorf("", "--out is needed: the folder to make; or --dry-run for the funnel alone")
			}
			if rulesFile != "" {
				if err := rulesUnderFlags(cmd.Context(), cmd.Flags(), r, rulesFile); err != nil {
					return usage.Wrap(err)
				}
			}
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			opt := opt
			opt.Sources = args[1:]
			if opt.Jobs, err = workers(opt.Jobs); err != nil {
				return err
			}
			res, err := curate.Run(cmd.Context(), dir, opt)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), res)
			}
			if err := writeCuration(cmd.OutOrStdout(), res); err != nil {
				return err
			}
			for _, note := range res.Notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "agentlens: %s\n", flagged(cmd, note))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.Out, "out", "", "folder to make, which must not exist or be empty")
	f.BoolVar(&opt.DryRun, "dry-run", false, "print the funnel only; dialogues are not looked at")
	inputFile(f, &rulesFile, "rules", "TOML file of rules")
	f.StringVar(&r.Target, "target", r.Target, "form of the set: "+strings.Join(curate.Targets(), ", "))
	f.StringVar(&r.Profile, "profile", "", "where tiers, coherence and waste come from: a profile of the dataset, or published (default release, or what --score says)")
	f.StringSliceVar(&r.Models, "models", nil, "models to take (default all)")
	f.StringSliceVar(&r.Tasks, "tasks", nil, "tasks to take (default all)")
	f.StringSliceVar(&r.ExcludeTasks, "exclude-tasks", nil, "tasks to leave out")
	inputFile(f, &r.Decontaminate, "decontaminate", "file of tasks and repositories (owner/name) to leave out, one a line")
	f.Float64Var(&r.Dedup, "dedup", 0, "take one of the runs of a task whose actions are this similar; 1 for the same sequence (default off)")
	f.StringSliceVar(&r.Outcome, "outcome", r.Outcome, "outcomes to take: pass, fail, unknown")
	f.StringSliceVar(&r.Tiers, "tiers", nil, "tiers to take: ideal, solid, lucky, partial_fail, off_track (default all)")
	f.StringSliceVar(&r.Categories, "categories", nil, "Lucky categories to take, C1 to C5 (default all)")
	f.StringVar(&r.Score, "score", "", "column that orders runs, such as published.quality_score (default the profile's score)")
	f.Var(optional{&r.MinScore}, "min-score", "least score")
	f.Var(optional{&r.MaxScore}, "max-score", "greatest score")
	f.Var(optional{&r.MaxWaste}, "max-waste", "share of wasted steps that runs stay below, such as 0.2")
	f.BoolVar(&r.Verified, "verified", false, "take runs that test or run something after their last edit (process profile V > 0, else by the clean stages)")
	f.Int64Var(&r.MaxSteps, "max-steps", 0, "most steps (default no limit)")
	f.Int64Var(&r.MaxTokens, "max-tokens", 0, "most input and output tokens (default no limit)")
	f.StringVar(&r.Strategy, "strategy", "", "which of the runs that are left: random, or top by --score (default all)")
	f.IntVar(&r.K, "k", 0, "how many runs --strategy takes")
	f.IntVar(&r.PerTask, "per-task", 0, "most runs of a task, those with the best score (default no limit)")
	f.IntVar(&r.PerModel, "per-model", 0, "most runs of a model (default no limit)")
	f.StringVar(&r.Balance, "balance", "", "take as many runs of every task or model as of the one with the fewest: task or model")
	f.StringVar(&r.Salt, "salt", r.Salt, "salt of splits and random choices")
	f.Float64Var(&r.Eval, "eval-share", 0, "share of tasks in the evaluation split, by sha256(salt + task id)")
	f.StringVar(&r.Finish, "finish", r.Finish, "whether the log has to say that the agent ended the run: required or any")
	f.BoolVar(&r.DropWaste, "drop-waste", false, "leave wasted reads and searches out of dialogues")
	f.StringVar(&r.Order, "order", r.Order, "order of a curriculum: quality (best first) or divergence (late first)")
	f.Float64Var(&r.RewardAligned, "reward-aligned", r.RewardAligned, "reward of a step that is aligned with the reference")
	f.Float64Var(&r.RewardWasted, "reward-wasted", r.RewardWasted, "reward of a wasted step")
	f.Float64Var(&r.RewardOutcome, "reward-outcome", 0, "reward of the last step of a pass, taken off that of a fail")
	inputFile(f, &opt.Tools, "tools", "tools file the dataset was built with, where it had one")
	jobsFlag(f, &opt.Jobs, "parallel readers")
	f.Int64Var(&opt.Limits.MaxRecordBytes, "max-record-bytes", 256<<20, "largest single record; larger ones are refused")
	f.Int64Var(&opt.Limits.MaxTotalBytes, "max-total-bytes", 1<<40, "largest archive, expanded")
	f.Int64Var(&opt.Limits.MaxEntries, "max-entries", 10_000_000, "most entries of an archive")
	f.Float64Var(&opt.Limits.MaxRatio, "max-ratio", 1000, "largest ratio of expanded to compressed bytes of an archive")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// optional is a flag for a number that may be left out.
type optional struct{ to **float64 }

func (o optional) String() string {
	if o.to == nil || *o.to == nil {
		return ""
	}
	return strconv.FormatFloat(**o.to, 'g', -1, 64)
}

func (o optional) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("want a number, not %q", s)
	}
	*o.to = &v
	return nil
}

func (optional) Type() string { return "number" }

// rulesUnderFlags reads a rules file; flags that were given win over it.
func rulesUnderFlags(ctx context.Context, f *pflag.FlagSet, r *curate.Rules, path string) error {
	given := map[string]string{}
	lists := map[string][]string{}
	f.Visit(func(flag *pflag.Flag) {
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			lists[flag.Name] = list.GetSlice()
		} else {
			given[flag.Name] = flag.Value.String()
		}
	})
	read, err := curate.ReadRules(ctx, path)
	if err != nil {
		return err
	}
	*r = read
	f.Visit(func(flag *pflag.Flag) {
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			err = errors.Join(err, list.Replace(lists[flag.Name]))
		} else {
			err = errors.Join(err, flag.Value.Set(given[flag.Name]))
		}
	})
	return err
}

func writeCuration(w io.Writer, res curate.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %8s %8s  %s\n", "stage", "runs", "left out", "reasons")
	for _, s := range res.Funnel {
		var reasons []string
		for _, r := range s.Reasons {
			reasons = append(reasons, fmt.Sprintf("%s %d", r.Code, r.Runs))
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-14s %8d %8d  %s", s.Name, s.Out, s.In-s.Out, strings.Join(reasons, ", ")), " ") + "\n")
	}
	number := func(v *float64, format string) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf(format, *v)
	}
	s := res.Selection
	fmt.Fprintf(&b, "%-10s %6s %7s %7s %7s %10s %10s %9s\n", "strategy", "runs", "ideal%", "solid%", "lucky%", "coherence", "mean score", "min score")
	fmt.Fprintf(&b, "%-10s %6d %7s %7s %7s %10s %10s %9s\n", s.Strategy, s.Runs, number(s.IdealPct, "%.1f"), number(s.SolidPct, "%.1f"), number(s.LuckyPct, "%.1f"),
		number(s.MeanCoherence, "%.3f"), number(s.MeanScore, "%.1f"), number(s.MinScore, "%.4g"))
	for _, split := range res.Splits {
		fmt.Fprintf(&b, "split %s: %s\n", split.Name, plural(int64(split.Rows), "run"))
	}
	if res.Cut > 0 {
		fmt.Fprintf(&b, "%s with texts of which the source has the beginning only\n", plural(int64(res.Cut), "run"))
	}
	if res.Dropped > 0 {
		fmt.Fprintf(&b, "%s left out of dialogues\n", plural(int64(res.Dropped), "wasted step"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

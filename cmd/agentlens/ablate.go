package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/experiment"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newAblate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ablate",
		Short: "Measure what a score depends on: signals, weights, references",
		Long: `Ablate repeats the paper's ablations (its sections 6 and E) on any dataset or logs. Every
separation is printed with its intervals, inside tasks and models too, and beside the
oracle that knows only pass rates.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newAblateDataset("signals", "Leave out one signal at a time, and take each alone", "",
			func(d experiment.Dataset, _ float64, s stats.Resampling) (experiment.Ablation, error) {
				return experiment.AblateSignals(d, s)
			}),
		newAblateDataset("weights", "Move one weight at a time up and down, the weights scaled to their old sum", "how far a weight moves; the weights add up to 1",
			experiment.AblateWeights),
		newMergeCount(), newMergeOrder(), newAblateDonors())
	return cmd
}

// newAblateDataset makes a command over the weights of one profile in a dataset.
func newAblateDataset(name, short, step string, run func(experiment.Dataset, float64, stats.Resampling) (experiment.Ablation, error)) *cobra.Command {
	var profile string
	var by float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:     name + " DIR",
		Short:   short,
		Example: fmt.Sprintf("  agentlens ablate %s bench\n  agentlens ablate %s bench --profile paper --json", name, name),
		Args:    cobra.ExactArgs(1),
	}
	sampling := samplingFlags(cmd)
	cmd.Flags().StringVar(&profile, "profile", process.Name, "profile: "+strings.Join(registry.Weighted(), " or "))
	if step != "" {
		cmd.Flags().Float64Var(&by, "step", 0.05, step)
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkSampling(sampling); err != nil {
			return err
		}
		d, err := openProfile(cmd, args[0], profile)
		if err != nil {
			return err
		}
		a, err := run(d, by, *sampling)
		if err != nil {
			return err
		}
		return show(cmd, asJSON, a, writeAblation)
	}
	return cmd
}

func writeAblation(p printer, a experiment.Ablation) {
	p("profile %s, weights %s", a.Profile, weights(a.Signals, a.Weights))
	p("%-16s %9s %9s %12s %15s   weights", "cost in AUROC", "micro", "macro", "inside task", "task and model")
	for _, v := range a.Variants {
		p("%-16s %9s %9s %12s %15s   %s", v.Name, figure("%+.3f", v.Cost.Micro), figure("%+.3f", v.Cost.Macro),
			figure("%+.3f", v.Cost.WithinTask), figure("%+.3f", v.Cost.WithinTaskModel), weights(a.Signals, v.Weights))
	}
	writeSeparation(p, a.Separation)
}

// paramFlags are the parameters of an experiment over references.
type paramFlags struct{ file, labels string }

func addParamFlags(cmd *cobra.Command) *paramFlags {
	p := &paramFlags{}
	inputFile(cmd.Flags(), &p.file, "profile-file", "TOML file with parameters of the profile")
	cmd.Flags().StringVar(&p.labels, "labels", "release", "paper profile: stage labels to use, release or clean")
	return p
}

// read returns the parameters of the paper and process methods: those of the file, else the
// defaults, with the flags that were given on top.
func (p *paramFlags) read(cmd *cobra.Command) (*paper.Params, *process.Params, error) {
	if err := oneOf("labels", p.labels, "release", "clean"); err != nil {
		return nil, nil, err
	}
	all := registry.All()
	if err := readProfiles(cmd.Context(), p.file, all); err != nil {
		return nil, nil, err
	}
	var paperParams *paper.Params
	var processParams *process.Params
	for _, of := range all {
		switch params := of.Params().(type) {
		case *paper.Params:
			paperParams = params
		case *process.Params:
			processParams = params
		}
	}
	if cmd.Flags().Changed("labels") {
		paperParams.Labels = labelSet(p.labels)
	}
	return paperParams, processParams, nil
}

// readPaper returns those of the paper profile.
func (p *paramFlags) readPaper(cmd *cobra.Command) (paper.Params, error) {
	params, _, err := p.read(cmd)
	if err != nil {
		return paper.Params{}, err
	}
	return *params, nil
}

func newMergeCount() *cobra.Command {
	opt := experiment.MergeCountOptions{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "merge-count [SOURCE...]",
		Short: "Change how many runs are merged into a reference",
		Long: `Merge-count draws references of k passing runs per task, several times, and judges all other
runs of the task by them under the paper profile. A task can be scored when a passing run
is left over and some run fails, so large k are judged on fewer, easier tasks: compare the
column of common tasks. Without a SOURCE the embedded sample is used.`,
		Example: `  agentlens ablate merge-count agentlens-bench-1.0.tar.zst
  agentlens ablate merge-count runs/ --k 2,5,10 --draws 10 --labels clean`,
		Args: cobra.ArbitraryArgs,
	}
	src, sampling, flags := addSourceFlags(cmd), samplingFlags(cmd), addParamFlags(cmd)
	cmd.Flags().IntSliceVar(&opt.Ks, "k", []int{2, 3, 4, 5, 6, 7}, "numbers of runs to merge, ascending")
	cmd.Flags().IntVar(&opt.Draws, "draws", 3, "references drawn per task and k; the seed is the number of the first draw")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkSampling(sampling); err != nil {
			return err
		}
		opt := opt
		opt.Sampling = *sampling
		var err error
		if opt.Params, err = flags.readPaper(cmd); err != nil {
			return err
		}
		if err := opt.Validate(); err != nil {
			return err
		}
		return withSources(cmd, src, args, asJSON, func(ctx context.Context, src *sources) (experiment.MergeCount, error) {
			return experiment.AblateMergeCount(ctx, src.Corpus, opt)
		}, writeMergeCount)
	}
	return cmd
}

func writeMergeCount(p printer, m experiment.MergeCount) {
	p("paper profile, %s labels, %s per task and k; %s, %s with a known outcome", m.Labels,
		plural(int64(m.Draws), "draw"), plural(int64(m.Tasks), "task"), plural(int64(m.Runs), "run"))
	p("%3s %9s %11s  %-17s %-18s %-14s %s", "k", "tasks", "runs", "AUROC in task", fmt.Sprintf("%d common tasks", m.Common), "best accuracy", fmt.Sprintf("accuracy at %v", m.Cut))
	var blocks []experiment.Block
	for _, c := range m.Counts {
		auroc := figure("%.3f", c.Mean)
		if c.SD != nil {
			auroc += fmt.Sprintf(" +- %.3f", *c.SD)
		}
		p("%3d %9s %11s  %-17s %-18s %-14s %s", c.K, fmt.Sprintf("%d/%d", c.Tasks, m.Tasks), fmt.Sprintf("%d/%d", c.Runs, m.Runs),
			auroc, figure("%.3f", c.CommonMean), percent(c.Accuracy), percent(c.AccuracyAtCut))
		if c.Block != nil {
			blocks = append(blocks, *c.Block)
		}
	}
	p("AUROC in task: mean and standard deviation over tasks. Best accuracy: each task has the threshold that suits it best.")
	p("Below, n counts a run once for each draw that judged it; the oracle sees each run once.")
	all := *m.Oracle
	all.Scores = blocks
	writeSeparation(p, all)
}

func newMergeOrder() *cobra.Command {
	opt := experiment.MergeOrderOptions{}
	var task, orders string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "merge-order [SOURCE...] --task TASK",
		Short: "Change the order in which the same runs are merged",
		Long: `Merge-order merges several sets of k passing runs of one task in many orders, and splits the
variation of the AUROC and of the scores into that between sets (selection) and that
between the orders of a set (order). Without a SOURCE the embedded sample is used.`,
		Example: `  agentlens ablate merge-order agentlens-bench-1.0.tar.zst --task psf__requests-1724
  agentlens ablate merge-order runs/ --task TASK --k 6 --orders 100 --combos 20`,
		Args: cobra.ArbitraryArgs,
	}
	src, sampling, flags := addSourceFlags(cmd), samplingFlags(cmd), addParamFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&task, "task", "", "task to look at (required when there are several)")
	f.IntVar(&opt.K, "k", 4, "runs to merge")
	f.StringVar(&orders, "orders", "all", "different orders per set: all, or a number")
	f.IntVar(&opt.Combos, "combos", 10, "different sets of runs; the first is draw number --seed")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkSampling(sampling); err != nil {
			return err
		}
		opt := opt
		opt.Sampling = *sampling
		if orders != "all" {
			n, err := strconv.Atoi(orders)
			if err != nil || n < 1 {
				return usage.Errorf("", "--orders %q: want all, or a number of at least 1", orders)
			}
			opt.Orders = n
		}
		var err error
		if opt.Params, err = flags.readPaper(cmd); err != nil {
			return err
		}
		if err := opt.Validate(); err != nil {
			return err
		}
		return withSources(cmd, src, args, asJSON, func(ctx context.Context, src *sources) (experiment.MergeOrder, error) {
			at, err := experiment.FindTask(src.ids, task)
			if err != nil {
				return experiment.MergeOrder{}, err
			}
			opt.Jobs = src.Jobs
			return experiment.AblateMergeOrder(ctx, src.Tasks[at](), opt)
		}, writeMergeOrder)
	}
	return cmd
}

func writeMergeOrder(p printer, m experiment.MergeOrder) {
	all := ""
	if m.All {
		all = ", all there are"
	}
	p("task %s, paper profile, %s labels: %d sets of %d runs in %d orders%s", m.Task, m.Labels, len(m.Combos), m.K, m.Orders, all)
	p("%4s  %-17s %-15s %-10s %s", "set", "AUROC", "range", "invariant", "score sd")
	for i, c := range m.Combos {
		auroc := fmt.Sprintf("%.3f", c.AUROCMean)
		if c.AUROCSD != nil {
			auroc += fmt.Sprintf(" +- %.3f", *c.AUROCSD)
		}
		invariant := "no"
		if c.Invariant {
			invariant = "yes"
		}
		p("%4d  %-17s %-15s %-10s %.3f", i+1, auroc, fmt.Sprintf("%.3f to %.3f", c.Low, c.High), invariant, c.ScoreSD)
	}
	p("AUROC over sets and orders: %.3f +- %s; 1 in every order in %d of %d sets; the same in every order in %d", m.AUROCMean, figure("%.3f", m.AUROCSD), m.Perfect, len(m.Combos), m.Invariant)
	p("variation of the AUROC: %s selection, %s order", percent(m.AUROCSelection), percent(m.AUROCOrder))
	p("variation of the scores: %s selection, %s order", percent(m.ScoreSelection), percent(m.ScoreOrder))
	p("Below, n counts a run once for each set that judged it, in the first order.")
	writeBlocks(p, []experiment.Block{m.Separation}, nil)
	p("left out: %s with unknown outcome", plural(int64(m.Unknown), "run"))
	p("One task: no interval over tasks, and no oracle, which needs the models' runs on other tasks.")
}

func newAblateDonors() *cobra.Command {
	var name string
	var k, draws, halvings int
	var otherModels, asJSON bool
	cmd := &cobra.Command{
		Use:   "donors [SOURCE...]",
		Short: "Change which passing runs a run is compared with",
		Long: `Donors says how much the tiers of passing runs hang on which passing runs they are compared
with. For the paper profile every run is scored against --draws draws of references, and
tiers are compared between single draws and between means of 4, 8 and 12 draws. The process
profile draws nothing; its pool of references is halved instead, --halvings times, in tasks
with at least 11 passing runs. Without a SOURCE the embedded sample is used.`,
		Example: `  agentlens ablate donors agentlens-bench-1.0.tar.zst --labels clean
  agentlens ablate donors agentlens-bench-1.0.tar.zst --profile process`,
		Args: cobra.ArbitraryArgs,
	}
	src, sampling, flags := addSourceFlags(cmd), samplingFlags(cmd), addParamFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&name, "profile", paper.Name, "profile: "+paper.Name+" or "+process.Name)
	f.IntVar(&k, "k", 5, "runs per reference")
	f.IntVar(&draws, "draws", 24, "paper profile: reference draws, at least 2")
	f.IntVar(&halvings, "halvings", 6, "process profile: how often the pool is halved")
	f.BoolVar(&otherModels, "other-models", false, "paper profile: limit references to other models")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := errors.Join(checkSampling(sampling), oneOf("profile", name, paper.Name, process.Name))
		if err != nil {
			return err
		}
		paperParams, processParams, err := flags.read(cmd)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("k") {
			paperParams.K, processParams.K = k, k
		}
		if name == process.Name {
			if err := experiment.CheckHalvings(*processParams, halvings); err != nil {
				return err
			}
			return withSources(cmd, src, args, asJSON, func(ctx context.Context, src *sources) (experiment.ProcessDonors, error) {
				return experiment.AblateProcessDonors(ctx, src.Corpus, *processParams, halvings, *sampling)
			}, writeProcessDonors)
		}
		paperParams.Draws = draws
		if cmd.Flags().Changed("other-models") {
			paperParams.OtherModels = otherModels
		}
		if err := experiment.CheckDraws(*paperParams); err != nil {
			return err
		}
		return withSources(cmd, src, args, asJSON, func(ctx context.Context, src *sources) (experiment.PaperDonors, error) {
			return experiment.AblatePaperDonors(ctx, src.Corpus, *paperParams, *sampling)
		}, writePaperDonors)
	}
	return cmd
}

func writeAgreement(p printer, name string, a experiment.Agreement) {
	p("  %-28s kappa %s, flips %s %%, lucky Jaccard %s, mean difference %s (%s)", name, figure("%.3f", a.Kappa), figure("%.1f", a.Flips),
		figure("%.3f", a.Lucky), figure("%.2f", a.Difference), plural(int64(a.Pairs), "pair"))
}

func writePaperDonors(p printer, d experiment.PaperDonors) {
	limit := ""
	if d.OtherModels {
		limit = " by other models"
	}
	p("paper profile, %s labels: %s of %d references%s", d.Labels, plural(int64(d.Draws), "draw"), d.K, limit)
	p("single draws: micro AUROC %s +- %s; score sd of a passing run %s; %s %% of passing runs change tier at least once",
		figure("%.3f", d.MicroMean), figure("%.3f", d.MicroSD), figure("%.2f", d.ScoreSD), figure("%.1f", d.Flipping))
	p("tiers of %s:", plural(int64(d.Passing), "passing run"))
	writeAgreement(p, "two single draws", d.Single)
	for _, m := range d.Means {
		writeAgreement(p, fmt.Sprintf("two means of %d draws", m.M), m.Agreement)
	}
	for _, t := range d.Tiers {
		p("  %-28s %.1f %% of single draws", t.Tier, t.Percent)
	}
	writeSeparation(p, d.Separation)
}

func writeProcessDonors(p printer, d experiment.ProcessDonors) {
	p("process profile: pools halved %d times; tiers of %s of tasks with at least 11 (%d others)", d.Halvings, plural(int64(d.Passing), "passing run"), d.Left)
	writeAgreement(p, "disjoint halves", d.Disjoint)
	writeAgreement(p, "a half and the full pool", d.Full)
	writeSeparation(p, d.Separation)
}

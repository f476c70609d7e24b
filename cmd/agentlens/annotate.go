package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/annotate"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/terminal"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newAnnotate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "annotate",
		Short: "Measure how reliable stage labels are: draw a sample, collect ratings, score agreement",
		Long: `Annotate runs a reliability study of the stage labels. Sample draws states for raters, who
fill in the column label with exploration, implementation, verification or orchestration (or
E, I, V, O); import collects their files into an annotation set; score measures agreement.`,
		Example: `  agentlens annotate sample bench --n 200 --seed 7 --out sample.csv
  agentlens annotate import bench ann.csv bob.csv gpt.jsonl --sample sample.csv --kind gpt=llm --out ratings
  agentlens annotate score ratings`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAnnotateSample(), newAnnotateImport(), newAnnotateScore())
	return cmd
}

func newAnnotateSample() *cobra.Command {
	var opt annotate.SampleOptions
	var out, format string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sample DIR --out FILE",
		Short: "Draw states for raters, without labels",
		Long: `Sample draws labelled states of a dataset, stratified, in random order, and shows each with
the steps before and after: tool, file, command, beginning of the observation. It shows no
label, no model and no outcome; the column item is an opaque id of the state, which import
knows. The same dataset, seed and options give the same bytes.

Proportional allocation draws from each stratum (combination of --by) as its share of the
states, equal allocation the same number from each. Raters fill in label and comment.`,
		Example: `  agentlens annotate sample bench --n 200 --out sample.csv
  agentlens annotate sample bench --n 100 --by stage --allocation equal --context 5 --out sample.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage.Errorf("", "name the file to write with --out, or - for standard output")
			}
			if format == "" {
				format = strings.TrimPrefix(filepath.Ext(out), ".")
			}
			write, err := choice("format", format, []string{"csv", "jsonl"},
				[]func(io.Writer, []annotate.Item) error{annotate.WriteCSV, annotate.WriteJSONL})
			if err != nil {
				return err
			}
			if out != "-" {
				err := output.CheckFile(out, nil)
				if errors.Is(err, output.ErrExists) {
					err = fmt.Errorf("%w and may hold ratings; choose another --out, or remove it", err)
				}
				if err != nil {
					return err
				}
			}
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			items, strata, err := annotate.Sample(cmd.Context(), dir, opt)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := write(&b, items); err != nil {
				return err
			}
			if out == "-" {
				_, err := data(cmd).Write(b.Bytes())
				return err
			}
			if err := output.WriteFile(out, b.Bytes(), nil); err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), struct {
					Out    string             `json:"out"`
					Items  int                `json:"items"`
					By     []string           `json:"by"`
					Strata []annotate.Stratum `json:"strata"`
				}{out, len(items), opt.By, strata})
			}
			return writeStrata(cmd.OutOrStdout(), out, len(items), opt.By, strata)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "file to write, - for standard output (required)")
	f.StringVar(&format, "format", "", "csv or jsonl (default: by the ending of --out)")
	f.IntVar(&opt.N, "n", 200, "states to draw")
	f.Uint64Var(&opt.Seed, "seed", 1, "seed; the same seed draws the same states")
	f.StringSliceVar(&opt.By, "by", []string{"stage", "tool"}, "strata: combinations of "+strings.Join(annotate.Strata(), ", "))
	f.StringVar(&opt.Allocation, "allocation", annotate.Proportional, "states from each stratum: proportional or equal")
	f.IntVar(&opt.Context, "context", 3, "steps shown before and after")
	f.IntVar(&opt.Preview, "preview", 400, "characters shown of each observation")
	f.BoolVar(&asJSON, "json", false, "print the strata as JSON")
	return cmd
}

func writeStrata(w io.Writer, out string, items int, by []string, strata []annotate.Stratum) error {
	if _, err := fmt.Fprintf(w, "wrote %s: %s\n", out, plural(int64(items), "state")); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s\tstates\tdrawn\n", strings.Join(by, "\t"))
	for _, s := range strata {
		fmt.Fprintf(tw, "%s\t%d\t%d\n", strings.Join(s.Values, "\t"), s.States, s.Drawn)
	}
	return tw.Flush()
}

func newAnnotateImport() *cobra.Command {
	opt := annotate.ImportOptions{}
	var kinds []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import DIR RATER... --out SET",
		Short: "Collect raters' files into an annotation set",
		Long: `Import reads raters' files (CSV or JSON Lines with the columns item, or trajectory_id and
step, and label and comment), checks every row, and writes an annotation set: annotations.db,
items, raters and ratings as Parquet, manifest.json, SHA256SUMS. A rater has the name of the
file without its ending and is a human unless --kind says otherwise. The labels of the
dataset's labelers become ratings of the kind rule.

The dataset itself does not change: a version is immutable. The set names it by the SHA-256
of its SHA256SUMS and joins its tables by trajectory_id and step:

  ATTACH 'ratings/annotations.db' AS a;
  SELECT * FROM states JOIN a.ratings USING (trajectory_id, step);

Unknown labels, unknown rows, duplicates and missing rows are named by file and line, and
nothing is written unless --partial, which leaves out the rows concerned (exit code 3).`,
		Example: `  agentlens annotate import bench ann.csv bob.csv gpt.jsonl --sample sample.csv --kind gpt=llm --out ratings
  agentlens annotate import bench raters/*.csv --out ratings --partial`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt := opt
			dir, err := bench.Locate(args[0])
			if err != nil {
				return err
			}
			opt.Dataset, opt.Files, opt.Kinds = dir, args[1:], map[string]string{}
			for _, k := range kinds {
				rater, kind, ok := strings.Cut(k, "=")
				if !ok {
					return usage.Errorf("", "--kind %q: want RATER=human, RATER=llm or RATER=rule", k)
				}
				opt.Kinds[rater] = kind
			}
			if opt.Out == "" {
				return usage.Errorf("", "name the folder to make with --out")
			}
			done, err := annotate.Import(cmd.Context(), opt)
			if err != nil && !errors.Is(err, annotate.ErrProblems) {
				return err
			}
			if asJSON {
				if jerr := writeJSON(cmd.OutOrStdout(), done); jerr != nil {
					return jerr
				}
			} else if werr := writeImport(cmd.OutOrStdout(), done); werr != nil {
				return werr
			}
			if err != nil {
				return fmt.Errorf("%w; correct them, or import the rest with --partial", err)
			}
			if len(done.Problems) > 0 {
				return errRefused
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.Out, "out", "", "folder to make (required)")
	f.StringVar(&opt.Sample, "sample", "", "the file that sample wrote: every rater should have rated its states, and no others (default: the states any rater rated)")
	f.StringSliceVar(&kinds, "kind", nil, "RATER=KIND: kind of a rater, human, llm or rule (default human)")
	f.BoolVar(&opt.Partial, "partial", false, "leave out rows with problems instead of importing nothing")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func writeImport(w io.Writer, done annotate.Imported) error {
	var b strings.Builder
	for _, p := range done.Problems {
		fmt.Fprintf(&b, "problem %s\n", p)
	}
	if done.Out != "" {
		m := done.Manifest
		fmt.Fprintf(&b, "wrote %s: %s of %s\n", done.Out, plural(int64(m.Ratings), "rating"), plural(int64(m.Items), "state"))
		for _, r := range m.Raters {
			fmt.Fprintf(&b, "  %s (%s): %s\n", r.Rater, r.Kind, plural(r.Labels, "label"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newAnnotateScore() *cobra.Command {
	opt := annotate.ScoreOptions{Resampling: stats.Resampling{Resamples: 2000, Seed: 1, Level: 0.95}}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "score SET",
		Short: "Agreement of raters, and of the labelers with their consensus",
		Long: `Score prints Fleiss' kappa over the states that every rater of the panel rated, overall and
for each stage against the others, the share of agreeing pairs, Krippendorff's alpha over all
states, Cohen's kappa of every pair of raters; then the consensus of the panel and for each
labeler its confusion with it, accuracy, precision, recall and F1 of every stage.

Consensus is the label with most ratings; a state whose labels tie has none, is left out and
counted. Intervals of the stages come from drawing states with replacement.`,
		Example: `  agentlens annotate score ratings
  agentlens annotate score ratings --panel human --consensus unanimous --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := annotate.Measure(cmd.Context(), args[0], opt)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), s)
			} else {
				err = writeScore(cmd.OutOrStdout(), s)
			}
			if err == nil && s.Consensus.Items == 0 && !s.Agreement.Kappa.Defined() {
				err = fmt.Errorf("nothing could be computed: %s", s.Agreement.Undefined)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&opt.Panel, "panel", []string{annotate.Human, annotate.LLM}, "kinds of raters whose ratings count; rules outside it are measured against its consensus")
	f.StringVar(&opt.Consensus, "consensus", annotate.Majority, "majority (most ratings, ties excluded) or unanimous")
	f.Float64Var(&opt.Resampling.Level, "level", opt.Resampling.Level, "coverage of intervals")
	f.IntVar(&opt.Resampling.Resamples, "resamples", opt.Resampling.Resamples, "draws of states for the stages' intervals, 0 for none")
	f.Uint64Var(&opt.Resampling.Seed, "seed", opt.Resampling.Seed, "seed of the draws")
	f.BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return cmd
}

func writeScore(w io.Writer, s annotate.Score) error {
	var b strings.Builder
	p := func(format string, args ...any) { b.WriteString(terminal.Escape(fmt.Sprintf(format, args...)) + "\n") }
	p("%s, panel of %s: %s", plural(int64(s.Items), "state"), plural(int64(len(s.Panel)), "rater"), strings.Join(s.Panel, ", "))
	writePanel(&b, "agreement", s.Agreement)
	writePanel(&b, "agreement on terminal steps, exploration or verification", s.Terminal)
	if len(s.Pairs) > 0 {
		p("pairs of raters")
		for _, pair := range s.Pairs {
			p("  %s, %s: Cohen's kappa %s, equal %s of %d", pair.A, pair.B, three(pair.Kappa), asPercent(pair.Raw), pair.Items)
		}
	}
	c := s.Consensus
	p("consensus (%s): %s; %d without as labels differ, %d rated by fewer than two", c.Rule, plural(int64(c.Items), "state"), c.Ties, c.TooFew)
	for _, l := range s.Labelers {
		p("labeler %s: accuracy %s%s (%d of %d), Cohen's kappa %s, macro F1 %s", l.Rater, asPercent(l.Accuracy),
			bounds(l.Interval, 100, 1), l.Correct, l.Items, three(l.Kappa), three(l.MacroF1))
		if l.Unlabeled > 0 {
			p("  %s without its label left out", plural(int64(l.Unlabeled), "state"))
		}
		tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "  consensus\tprecision\trecall\tF1\tsupport\tas E\tas I\tas V\tas O")
		for i, st := range l.Stages {
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%d", st.Stage, three(st.Precision), three(st.Recall), three(st.F1), st.Support)
			for _, n := range l.Confusion[i] {
				fmt.Fprintf(tw, "\t%d", n)
			}
			fmt.Fprintln(tw)
		}
		tw.Flush() // a strings.Builder takes everything
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writePanel(b *strings.Builder, title string, a annotate.Agreement) {
	fmt.Fprintf(b, "%s: %s, %d rated by all\n", title, plural(int64(a.Items), "state"), a.Complete)
	if a.Undefined != "" {
		fmt.Fprintf(b, "  Fleiss' kappa %s\n", a.Undefined)
	} else {
		fmt.Fprintf(b, "  Fleiss' kappa %s%s, standard error %s\n", three(a.Kappa), bounds(a.Interval, 1, 3), three(a.SE))
	}
	fmt.Fprintf(b, "  agreeing pairs %s, unanimous %s (%d), Krippendorff's alpha %s\n", asPercent(a.Raw), asPercent(a.Unanimous), a.NUnanimous, three(a.Alpha))
	for _, s := range a.Stages {
		if s.Reason != "" {
			fmt.Fprintf(b, "  %-15s %s\n", s.Stage, s.Reason)
			continue
		}
		fmt.Fprintf(b, "  %-15s kappa %s%s, %.1f%% of ratings\n", s.Stage, three(s.Kappa), bounds(s.Interval, 1, 3), 100*s.Share)
	}
}

func three(f stats.Figure) string {
	if !f.Defined() {
		return "undefined"
	}
	return strconv.FormatFloat(f.Value, 'f', 3, 64)
}

func asPercent(f stats.Figure) string {
	if !f.Defined() {
		return "undefined"
	}
	return strconv.FormatFloat(100*f.Value, 'f', 1, 64) + "%"
}

func bounds(iv *stats.Interval, scale float64, decimals int) string {
	if iv == nil {
		return ""
	}
	return fmt.Sprintf(" [%.*f, %.*f]", decimals, scale*iv.Low, decimals, scale*iv.High)
}

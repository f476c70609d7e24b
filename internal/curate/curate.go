package curate

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/dataset"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/tabular"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Options of Run.
type Options struct {
	Rules   Rules
	Sources []string // the logs the dataset was built from, for targets with texts
	Tools   string   // tools file of the build, where it had one
	Out     string
	DryRun  bool // funnel only, no output
	Jobs    int
	Limits  ingest.Limits
}

// Result is what a curation found, and the manifest of its output.
type Result struct {
	Tool        string                `json:"tool"`
	ToolVersion string                `json:"tool_version"`
	Dataset     DatasetDigest         `json:"dataset"`
	Sources     []ingest.SourceDigest `json:"sources,omitzero"`
	Target      string                `json:"target"`
	RulesSHA256 string                `json:"rules_sha256"` // of rules.toml
	ListSHA256  string                `json:"decontamination_sha256,omitzero"`
	Texts       string                `json:"texts,omitzero"` // what the dialogues hold
	Funnel      []Stage               `json:"funnel"`
	Selection   Summary               `json:"selection"`
	Splits      []Split               `json:"splits"`
	Cut         int                   `json:"runs_with_cut_texts"`
	Dropped     int                   `json:"wasted_steps_left_out"`
	Notes       []string              `json:"notes,omitzero"` // of a dry run: what it can't know, why nothing is left
}

// DatasetDigest names the dataset by its content.
type DatasetDigest struct {
	Version         string `json:"version,omitzero"`
	ChecksumsSHA256 string `json:"checksums_sha256"`
}

// Summary describes the runs that were taken, as the paper's curation table does. Shares are
// of the runs; numbers are null without values.
type Summary struct {
	Score         string   `json:"score"` // column table.column
	Strategy      string   `json:"strategy"`
	Runs          int      `json:"runs"`
	IdealPct      *float64 `json:"ideal_pct"`
	SolidPct      *float64 `json:"solid_pct"`
	LuckyPct      *float64 `json:"lucky_pct"`
	MeanCoherence *float64 `json:"mean_coherence"`
	MeanScore     *float64 `json:"mean_score"`
	MinScore      *float64 `json:"min_score"`
}

// Split is one file of the set.
type Split struct {
	Name string `json:"split"`
	File string `json:"file"`
	Rows int    `json:"rows"`
}

// indexRow is a line of ids.jsonl: one run of the set.
type indexRow struct {
	Split        string   `json:"split"`
	Line         int      `json:"line"` // of the split's file, from 1
	TrajectoryID string   `json:"trajectory_id"`
	PairedWith   string   `json:"paired_with,omitzero"` // lucky run of a pair
	TaskID       string   `json:"task_id"`
	Model        string   `json:"model"`
	Outcome      string   `json:"outcome"`
	Tier         *string  `json:"tier"`
	Score        *float64 `json:"score"`
	Divergence   *float64 `json:"divergence_fraction"`
	Waste        *float64 `json:"waste"`
	Steps        int64    `json:"steps"`
	Finished     *bool    `json:"finished,omitzero"` // of a dialogue
	Cut          bool     `json:"cut_texts,omitzero"`
	Dropped      int      `json:"dropped_steps,omitzero"`
}

// rejectedRow is a line of rejected.jsonl.
type rejectedRow struct {
	TrajectoryID string `json:"trajectory_id"`
	TaskID       string `json:"task_id"`
	Model        string `json:"model"`
	Stage        string `json:"stage"`
	Reason       string `json:"reason"`
	Detail       string `json:"detail,omitzero"`
}

// needsTexts reports whether a target holds dialogues.
func needsTexts(target string) bool {
	return slices.Contains([]string{"chat", "sharegpt", "messages", "pairs"}, target)
}

// curation is one call of Run.
type curation struct {
	ctx  context.Context
	dir  string
	opt  Options
	runs []*run
	sel  selection
	res  Result

	partner  map[string]*run      // lucky run of a pair, by the clean one's id
	dialogue map[string]*dialogue // by run, of the task in work
	rows     *rowFile             // of the set; nil in a dry run
	index    map[string]indexRow
}

// Run makes a training set. With DryRun it only counts, and dialogues are not looked at. On
// an error there is no output. An empty set is the error ErrEmpty, beside the funnel, but a
// note in a dry run.
func Run(ctx context.Context, dir string, opt Options) (res Result, err error) {
	held, err := dataset.Hold(dir)
	if err != nil {
		return res, err
	}
	defer func() { err = held.Release(err) }()
	m, err := bench.ReadManifest(dir)
	if err != nil {
		return res, err
	}
	if err := opt.Rules.complete(m.Parameters); err != nil {
		return res, err
	}
	texts := needsTexts(opt.Rules.Target)
	if texts && !opt.DryRun && len(opt.Sources) == 0 {
		return res, usage.Errorf("", "target %s needs the logs, as a dataset holds no whole texts: name the SOURCE it was built from, or choose option target ids", opt.Rules.Target)
	}
	c := &curation{ctx: ctx, dir: dir, opt: opt, index: map[string]indexRow{}}
	var out *output.Folder
	if !opt.DryRun {
		if out, err = output.Begin(opt.Out, nil); err != nil {
			return res, err
		}
		defer func() { err = out.End(err) }()
		if c.rows, err = newRowFile(); err != nil {
			return res, err
		}
		defer func() { err = errors.Join(err, c.rows.close()) }()
	}
	var list map[string]bool
	if file := opt.Rules.Decontaminate; file != "" {
		if list, c.res.ListSHA256, err = readList(ctx, file); err != nil {
			return res, err
		}
		c.opt.Rules.Decontaminate = filepath.Base(file)
	}
	if c.runs, err = load(ctx, dir, &c.opt.Rules); err != nil {
		if errors.Is(err, tabular.ErrNoColumn) {
			err = usage.Errorf("", "score: %w", err)
		}
		return res, err
	}
	var sequences map[string][]uint64
	if opt.Rules.Dedup > 0 {
		if sequences, err = actions(ctx, dir); err != nil {
			return res, err
		}
	}
	c.sel = selection{rules: &c.opt.Rules, left: slices.Clone(c.runs)}
	c.sel.filter(list, sequences)
	if opt.Rules.Target == "pairs" {
		c.pair()
	}
	if err := c.fill(m); err != nil {
		return res, err
	}
	c.sel.cap()
	c.sel.split()
	c.sel.stage("final")
	if err := c.describe(m); err != nil {
		return res, err
	}
	var empty error
	if len(c.sel.left) == 0 {
		empty = c.nothingLeft()
	}
	switch {
	case opt.DryRun:
		if note := c.opt.Rules.unchecked(); note != "" {
			c.res.Notes = append(c.res.Notes, note)
		}
		if empty != nil {
			c.res.Notes = append(c.res.Notes, empty.Error())
		}
		return c.res, nil
	case empty != nil:
		return c.res, empty
	}
	return c.res, c.write(out, held)
}

// pair gives every clean run a lucky one of its task, in the order of the ids.
func (c *curation) pair() {
	lucky := map[string][]*run{}
	for _, x := range c.runs {
		if x.tier == "lucky" && x.outcome == "pass" && strings.HasPrefix(x.reason, "tier_") {
			lucky[x.task] = append(lucky[x.task], x)
		}
	}
	c.partner = map[string]*run{}
	next := map[string]int{}
	c.sel.each("paired", func(x *run) (string, string) {
		of := lucky[x.task]
		if len(of) == 0 {
			return "no_pair", "the task has no lucky pass"
		}
		c.partner[x.id] = of[next[x.task]%len(of)]
		next[x.task]++
		return "", ""
	})
}

// fill writes the rows of the runs that are left, and rejects those that give none. Without
// texts, and in a dry run, it only adds its line to the funnel.
func (c *curation) fill(m bench.Manifest) (err error) {
	r := &c.opt.Rules
	defer func() { c.sel.stage("valid") }()
	if c.opt.DryRun {
		return nil
	}
	var j *judge
	if r.Target == "rewards" || r.DropWaste {
		if j, err = newJudge(c.ctx, c.dir, r.Profile); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, j.close()) }()
	}
	if needsTexts(r.Target) {
		return c.dialogues(m, j)
	}
	for _, x := range c.sel.left {
		c.index[x.id] = indexOf(x)
		if r.Target != "rewards" {
			continue
		}
		steps, err := j.run(c.ctx, x.id)
		if err != nil {
			return err
		}
		if len(steps.aligned) == 0 && x.tier == "" {
			x.reason, x.detail = "no_reference", "the profile did not align the run"
			continue
		}
		row, err := line(r.rewards(x, steps))
		if err != nil {
			return err
		}
		if err := c.rows.put(x.id, row); err != nil {
			return err
		}
	}
	return nil
}

// dialogues reads the logs again and writes the runs that are left as dialogues.
func (c *curation) dialogues(m bench.Manifest, j *judge) (err error) {
	in, err := m.IngestAgain(c.ctx, c.opt.Tools)
	if err != nil {
		return err
	}
	in.Texts, in.Jobs, in.Limits = true, max(1, c.opt.Jobs), c.opt.Limits
	logs, err := corpus.Open(c.ctx, c.opt.Sources, in, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, logs.Close()) }()
	c.res.Sources = logs.Input.Sources
	wanted := map[string]*run{}
	for _, x := range c.sel.left {
		wanted[x.id] = x
		if p := c.partner[x.id]; p != nil {
			wanted[p.id] = p
		}
	}
	previews := false
	for i := range logs.Tasks {
		t := &logs.Tasks[i]
		c.dialogue = map[string]*dialogue{}
		failed := map[string]error{}
		load := logs.Loader(t)
		for n := range t.Runs {
			x := wanted[t.Runs[n].ID]
			if x == nil {
				continue
			}
			if err := c.ctx.Err(); err != nil {
				return err
			}
			l, err := load.Load(n)
			if err != nil {
				return err
			}
			d, err := c.build(l, x, j)
			var no *rejection
			switch {
			case errors.As(err, &no):
				failed[x.id] = no
			case err != nil:
				return err
			default:
				c.dialogue[x.id] = d
				previews = previews || d.cut
			}
		}
		for n := range t.Runs {
			x := wanted[t.Runs[n].ID]
			if x == nil || x.reason != "" { // not wanted, or only the partner of another run
				continue
			}
			if err := c.render(x, failed); err != nil {
				return err
			}
		}
	}
	for _, x := range c.sel.left {
		if _, ok := c.index[x.id]; !ok && x.reason == "" {
			x.reason, x.detail = "not_in_source", "no run of this id is in the sources"
		}
	}
	c.res.Texts = "whole texts of the logs"
	if previews {
		c.res.Texts = "texts of the logs, of which some are beginnings: see cut_texts in ids.jsonl"
	}
	return nil
}

// build makes and checks the dialogue of a run.
func (c *curation) build(l *corpus.Labelled, x *run, j *judge) (*dialogue, error) {
	if l.T.SourceSHA256 != x.sha256 {
		return nil, &rejection{"source_differs", fmt.Sprintf("its record has SHA-256 %s, the dataset was built from %s", l.T.SourceSHA256, x.sha256)}
	}
	var drop map[int]bool
	if c.opt.Rules.DropWaste {
		steps, err := j.run(c.ctx, x.id)
		if err != nil {
			return nil, err
		}
		drop = droppable(l, steps.wasted)
	}
	d, err := newDialogue(l, drop)
	if err == nil {
		err = d.check(c.opt.Rules.Finish)
	}
	return d, err
}

// render writes the row of a run whose dialogue is made, or rejects it.
func (c *curation) render(x *run, failed map[string]error) error {
	reject := func(err error, of string) {
		var no *rejection
		errors.As(err, &no)
		x.reason, x.detail = no.code, strings.TrimSpace(of+no.detail)
	}
	if err := failed[x.id]; err != nil {
		reject(err, "")
		return nil
	}
	d := c.dialogue[x.id]
	row := indexOf(x)
	row.Finished, row.Cut, row.Dropped = &d.finished, d.cut, d.dropped
	var text []byte
	var err error
	if p := c.partner[x.id]; p != nil {
		other := c.dialogue[p.id]
		switch {
		case failed[p.id] != nil:
			reject(failed[p.id], "its partner "+p.id+": ")
			x.reason = "partner_" + x.reason
			return nil
		case other == nil:
			x.reason, x.detail = "partner_not_in_source", p.id
			return nil
		}
		row.PairedWith, row.Cut = p.id, row.Cut || other.cut
		tools := append(slices.Clone(d.tools), other.tools...)
		slices.Sort(tools)
		chosen, rejected := d.chat(), other.chat()
		text, err = line(pairRow{chosen[:1], chosen[1:], rejected[1:], toolList(slices.Compact(tools))})
	} else {
		text, err = d.render(c.opt.Rules.Target)
	}
	if err != nil {
		return err
	}
	c.index[x.id] = row
	return c.rows.put(x.id, text)
}

func indexOf(x *run) indexRow {
	row := indexRow{TrajectoryID: x.id, TaskID: x.task, Model: x.model, Outcome: x.outcome,
		Score: x.score, Divergence: x.divergence, Waste: x.waste, Steps: x.steps}
	if x.tier != "" {
		row.Tier = &x.tier
	}
	return row
}

// describe fills in the result.
func (c *curation) describe(m bench.Manifest) error {
	sum, err := bench.ChecksumsDigest(c.dir)
	if err != nil {
		return err
	}
	r := &c.opt.Rules
	var rules bytes.Buffer
	if err := r.write(&rules); err != nil {
		return err
	}
	digest := sha256.Sum256(rules.Bytes())
	res := &c.res
	res.Tool, res.ToolVersion = "agentlens", bench.ToolVersion
	res.Dataset = DatasetDigest{m.Version, sum}
	res.Target, res.RulesSHA256 = r.Target, hex.EncodeToString(digest[:])
	res.Funnel = c.sel.funnel
	res.Selection = summarise(c.sel.left, r)
	res.Splits = []Split{}
	for _, name := range splitNames(r) {
		n := 0
		for _, x := range c.sel.left {
			if splitOf(r, x) == name {
				n++
				res.Dropped += c.index[x.id].Dropped
				if c.index[x.id].Cut {
					res.Cut++
				}
			}
		}
		res.Splits = append(res.Splits, Split{name, name + ".jsonl", n})
	}
	return nil
}

func splitNames(r *Rules) []string {
	if r.Eval > 0 {
		return []string{"train", "eval"}
	}
	return []string{"train"}
}

func splitOf(r *Rules, x *run) string {
	if r.evaluation(x) {
		return "eval"
	}
	return "train"
}

// summarise describes the runs that were taken.
func summarise(runs []*run, r *Rules) Summary {
	s := Summary{Score: r.Score, Strategy: cmp.Or(r.Strategy, "rules"), Runs: len(runs)}
	mean := func(of func(*run) *float64) (mean, least *float64) {
		var sum float64
		n := 0
		for _, x := range runs {
			if v := of(x); v != nil {
				sum += *v
				n++
				if least == nil || *v < *least {
					least = v
				}
			}
		}
		if n > 0 {
			m := sum / float64(n)
			mean = &m
		}
		return mean, least
	}
	s.MeanScore, s.MinScore = mean(func(x *run) *float64 { return x.score })
	s.MeanCoherence, _ = mean(func(x *run) *float64 { return x.coherence })
	for tier, to := range map[string]**float64{"ideal": &s.IdealPct, "solid": &s.SolidPct, "lucky": &s.LuckyPct} {
		*to, _ = mean(func(x *run) *float64 {
			var v float64
			if x.tier == tier {
				v = 100
			}
			return &v
		})
	}
	return s
}

// ordered is the runs of the set in the order of its rows: by task and id, but for a
// curriculum.
func (c *curation) ordered() []*run {
	out := slices.Clone(c.sel.left)
	if c.opt.Rules.Target != "curriculum" {
		return out
	}
	if c.opt.Rules.Order == "quality" { // the best first
		slices.SortFunc(out, better)
		return out
	}
	late := func(x *run) float64 { // runs that never diverge first, those that were not judged last
		switch {
		case x.divergence != nil:
			return *x.divergence
		case x.tier != "":
			return 2
		}
		return -1
	}
	slices.SortFunc(out, func(a, b *run) int {
		return cmp.Or(cmp.Compare(late(b), late(a)), strings.Compare(a.id, b.id))
	})
	return out
}

// write fills the output folder and puts it in its place.
func (c *curation) write(out *output.Folder, held *dataset.Held) error {
	r := &c.opt.Rules
	var ids, rejected, rules bytes.Buffer
	order := c.ordered()
	index := make([][]byte, len(order)) // lines of ids.jsonl
	rows := map[string]int{}
	for i, x := range order {
		row := c.index[x.id]
		row.Split = splitOf(r, x)
		rows[row.Split]++
		row.Line = rows[row.Split]
		text, err := line(row)
		if err != nil {
			return err
		}
		index[i] = append(text, '\n')
		ids.Write(index[i])
	}
	for _, s := range c.res.Splits {
		if err := c.writeSplit(out, s, order, index); err != nil {
			return err
		}
	}
	stageOf := map[string]string{}
	for _, s := range c.res.Funnel {
		for _, reason := range s.Reasons {
			stageOf[reason.Code] = s.Name
		}
	}
	for _, x := range c.runs {
		if x.reason == "" {
			continue
		}
		text, err := line(rejectedRow{x.id, x.task, x.model, stageOf[x.reason], x.reason, x.detail})
		if err != nil {
			return err
		}
		rejected.Write(append(text, '\n'))
	}
	if err := r.write(&rules); err != nil {
		return err
	}
	manifest, err := json.Marshal(c.res, json.Deterministic(true), jsontext.WithIndent("  "), json.FormatNilSliceAsNull(false))
	if err != nil {
		return err
	}
	if err := errors.Join(
		out.Write("ids.jsonl", ids.Bytes()),
		out.Write("rejected.jsonl", rejected.Bytes()),
		out.Write("rules.toml", rules.Bytes()),
		out.Write("manifest.json", append(manifest, '\n')),
		c.ctx.Err(),
		held.Whole(nil),
	); err != nil {
		return err
	}
	return out.Commit()
}

// writeSplit writes the rows of the runs of one split, or their lines of the index where the
// target has no other rows.
func (c *curation) writeSplit(out *output.Folder, s Split, order []*run, index [][]byte) (err error) {
	path, err := out.Path(s.File)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	defer func() { err = errors.Join(err, w.Flush(), f.Close()) }()
	for i, x := range order {
		if splitOf(&c.opt.Rules, x) != s.Name {
			continue
		}
		row, err := c.rows.get(x.id)
		if err != nil {
			return err
		}
		if row == nil {
			row = index[i]
		} else {
			row = append(row, '\n')
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return c.ctx.Err()
}

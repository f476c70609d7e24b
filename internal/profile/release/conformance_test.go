package release

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/pta"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
)

// differences reports the first of many differences only.
type differences struct {
	t *testing.T
	n int
}

func (d *differences) add(format string, args ...any) {
	if d.n++; d.n <= 20 {
		d.t.Errorf(format, args...)
	}
}

func (d *differences) done(compared int, what string) {
	d.t.Logf("%d of %d %s differ", d.n, compared, what)
	if d.n > 20 {
		d.t.Errorf("%d more differences", d.n-20)
	}
}

func number(t testing.TB, s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLabelsAndCoherence(t *testing.T) { conformance.Each(t, checkLabelsAndCoherence) }

func checkLabelsAndCoherence(t *testing.T, set *conformance.Set) {
	a := loadArchive(t, set)
	d := &differences{t: t}
	states := 0
	rows := set.Table(t, "oracle", "labels.tsv")
	for _, row := range rows {
		run := a.runs[row["trajectory_id"]]
		labels, rules := stage.NewRelease().Label(run)
		letters := ""
		for i, l := range labels {
			states++
			letters += string(l.Letter())
			if (l == trajectory.NoStage) != (rules[i] == stage.RuleInitial) {
				d.add("%s step %d: label %q by rule %s", run.ID, i, l, rules[i])
			}
		}
		if letters != row["stages"] || letters != run.StageString() {
			d.add("%s:\n got %s\nwant %s", run.ID, letters, row["stages"])
		}
		var all, labelled []waste.Step
		var in, out int64
		for _, s := range run.Ordered() {
			step := waste.NewStep(s, s.Stage)
			all = append(all, step)
			if s.Stage != trajectory.NoStage {
				labelled = append(labelled, step)
				in, out = in+step.InputTokens, out+step.OutputTokens
			}
		}
		m := countMoves(labelled, all)
		if got, want := m.coherence(), number(t, row["coherence_score"]); got != want {
			d.add("%s: coherence %v, want %v", run.ID, got, want)
		}
		got := fmt.Sprint(len(labelled), len(all), m.deepen, m.pivot, m.back, m.confirm, m.retries, in, out)
		want := strings.Join([]string{
			row["n_states"], row["candidate_states"], row["deepen"], row["pivot"], row["backtrack"], row["confirm"],
			row["blind_retries"], row["total_input_tokens"], row["total_output_tokens"],
		}, " ")
		if got != want {
			d.add("%s: counts %s, want %s", run.ID, got, want)
		}
	}
	if len(rows) != set.Count(149, 1815) || states != set.Count(3709, 53203) {
		t.Errorf("%d runs with %d states", len(rows), states)
	}
	d.done(states, "labels")
}

func TestReleasedPairs(t *testing.T) { conformance.Each(t, checkReleasedPairs) }

func checkReleasedPairs(t *testing.T, set *conformance.Set) {
	a := loadArchive(t, set)
	d := &differences{t: t}
	rows := set.Table(t, "oracle", "equivalence.tsv")
	at := func(id, step string) *equiv.ReleaseStep {
		n, err := strconv.Atoi(step)
		if err != nil {
			t.Fatal(err)
		}
		s := equiv.NewReleaseStep(a.runs[id].Ordered()[n])
		return &s
	}
	for _, row := range rows {
		got := at(row["traj_a"], row["step_a"]).Compare(at(row["traj_b"], row["step_b"]), 1)
		want := equiv.Verdict{
			Equivalent: row["equivalent"] == "1", Confidence: number(t, row["confidence"]), Method: equiv.Method(row["method"]),
		}
		if got != want {
			d.add("%v: got %v, want %v", row, got, want)
		}
	}
	if len(rows) != set.Count(177, 3000) {
		t.Errorf("%d pairs", len(rows))
	}
	d.done(len(rows), "pairs")
}

type oracleGraph struct {
	Draw       string         `json:"draw"`
	Task       string         `json:"task"`
	Initial    int            `json:"initial"`
	NTerminals int            `json:"n_terminals"`
	Stats      map[string]int `json:"merge_stats"`
	Branches   [][2]any       `json:"branches"`
	Nodes      [][]any        `json:"nodes"`
	Edges      [][]any        `json:"edges"`
	EdgeFields []string       `json:"edge_fields"`
}

type oraclePaths struct {
	Draw      string  `json:"draw"`
	Task      string  `json:"task"`
	Canonical int     `json:"canonical_index"`
	Paths     [][]int `json:"paths"`
}

// plain turns a value into what its JSON decodes to.
func plain(t testing.TB, v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGraphs(t *testing.T) { conformance.Each(t, checkGraphs) }

func checkGraphs(t *testing.T, set *conformance.Set) {
	a := loadArchive(t, set)
	d := &differences{t: t}
	graphs := conformance.Lines[oracleGraph](t, set, "oracle", "pta.jsonl")
	paths := conformance.Lines[oraclePaths](t, set, "oracle", "paths.jsonl")
	draws := plans(t, set)
	for i, want := range graphs {
		name := want.Draw + " " + want.Task
		var traces []*pta.Trace
		for _, id := range draws[want.Draw].Donors[want.Task] {
			traces = append(traces, pta.NewTrace(a.runs[id]))
		}
		r := newReference(want.Task, draws[want.Draw], "", traces)
		g := r.graph
		if g.Initial != want.Initial || len(g.Terminals) != want.NTerminals {
			d.add("%s: initial %d, %d terminals", name, g.Initial, len(g.Terminals))
		}
		stats := map[string]int{
			"traces_merged": g.Stats.TracesMerged, "states_added": g.Stats.StatesAdded,
			"states_merged": g.Stats.StatesMerged, "transitions_added": g.Stats.TransitionsAdded,
			"branches_created": g.Stats.BranchesCreated, "equivalence_checks": g.Stats.EquivalenceChecks,
		}
		if !reflect.DeepEqual(stats, want.Stats) {
			d.add("%s: stats %v, want %v", name, stats, want.Stats)
		}
		var nodes [][]any
		for j, n := range g.Nodes {
			var tool any = n.State.Tool
			if tool == "" {
				tool = nil
			}
			terminal := 0
			if n.Terminal {
				terminal = 1
			}
			nodes = append(nodes, []any{
				j, n.MergedID, n.State.Step, n.State.ResultingState, string(n.Stage.Letter()), tool, n.State.FilePath,
				n.TraceCount, terminal, n.OriginalIDs,
			})
		}
		if got, want := plain(t, nodes), plain(t, want.Nodes); !reflect.DeepEqual(got, want) {
			d.add("%s: nodes\n got %v\nwant %v", name, got, want)
		}
		var edges [][]any
		for _, e := range g.Edges {
			fields := map[string]any{
				"from": e.From, "to": e.To, "action_type": e.ActionType, "step": e.Step, "transition_id": e.ID,
			}
			var row []any
			for _, f := range want.EdgeFields {
				row = append(row, fields[f])
			}
			edges = append(edges, row)
		}
		if got, want := plain(t, edges), plain(t, want.Edges); !reflect.DeepEqual(got, want) {
			d.add("%s: edges\n got %v\nwant %v", name, got, want)
		}
		compareBranches(t, d, name, g, want.Branches)
		var enumerated [][]int
		for _, p := range r.paths {
			enumerated = append(enumerated, p.nodes)
		}
		if p := paths[i]; p.Draw != want.Draw || p.Task != want.Task || r.canonical != p.Canonical || !reflect.DeepEqual(enumerated, p.Paths) {
			d.add("%s: paths\n got %v\nwant %v", name, enumerated, p.Paths)
		}
	}
	if len(graphs) != set.Count(3, 90) {
		t.Errorf("%d graphs", len(graphs))
	}
	d.done(len(graphs), "graphs")
}

// compareBranches leaves out branches and targets that the oracle calls by an id of a node
// that is gone.
func compareBranches(t testing.TB, d *differences, name string, g *pta.Graph, want [][2]any) {
	got := make(map[int][]int)
	for _, b := range g.Branches {
		got[b.Node] = b.Targets
	}
	for _, b := range want {
		node, ok := b[0].(float64)
		if !ok {
			continue
		}
		var targets []int
		for _, v := range b[1].([]any) {
			if f, ok := v.(float64); ok {
				targets = append(targets, int(f))
			}
		}
		if !reflect.DeepEqual(got[int(node)], targets) {
			d.add("%s: branch %v: got %v, want %v", name, node, got[int(node)], targets)
		}
	}
}

// columns flattens a row struct by its column names.
func columns(row any, into map[string]any) {
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ",")
		f := v.Field(i)
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				into[name] = nil
				continue
			}
			f = f.Elem()
		}
		into[name] = f.Interface()
	}
}

var (
	digits  = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)
	subject = regexp.MustCompile(`exploration|implementation|verification|orchestration|coherence|terminal|ending`)
)

// reasonsOf reduces failure reasons to names, severities and numbers.
func reasonsOf(t testing.TB, cell string) (out []string) {
	var reasons []Reason
	if cell != "" {
		if err := json.Unmarshal([]byte(cell), &reasons); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range reasons {
		if r.Detail == "" {
			t.Errorf("reason %s without detail", r.Name)
		}
		out = append(out, r.Name+r.Severity+fmt.Sprint(digits.FindAllString(r.Detail, -1)))
	}
	return out
}

// strengthsOf reduces strengths to kinds and numbers.
func strengthsOf(t testing.TB, cell string) (out []string) {
	var all []string
	if cell != "" {
		if err := json.Unmarshal([]byte(cell), &all); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range all {
		kind := strings.Replace(subject.FindString(s), "ending", "terminal", 1)
		out = append(out, kind+fmt.Sprint(digits.FindAllString(s, -1)))
	}
	return out
}

func TestMetrics(t *testing.T) { conformance.Each(t, checkMetrics) }

func checkMetrics(t *testing.T, set *conformance.Set) {
	a := loadArchive(t, set)
	d := &differences{t: t}
	want := make(map[string]map[string]string)
	for _, row := range set.Table(t, "oracle", "metrics.tsv") {
		want[row["draw"]+row["trajectory_id"]] = row
	}
	rows, cells := 0, 0
	for draw, plan := range plans(t, set) {
		for _, task := range a.tasks() {
			var c collector
			if err := Assess(context.Background(), task, plan, &c); err != nil {
				t.Fatal(err)
			}
			for _, run := range c.runs {
				row, ok := want[draw+run.Tier.TrajectoryID]
				if ok != (run.Features != nil) {
					d.add("%s: in the oracle %v, but reason %v", run.Tier.TrajectoryID, ok, run.Tier.Reason)
				}
				if ok && run.Features != nil {
					rows++
					cells += compareMetrics(t, d, run, row)
				}
			}
		}
	}
	if rows != set.Count(99, 3026) || len(want) != rows {
		t.Errorf("%d rows of %d", rows, len(want))
	}
	d.done(cells, "cells")
}

func compareMetrics(t testing.TB, d *differences, run profile.RunRows, want map[string]string) int {
	got := make(map[string]any)
	columns(run.Features, got)
	columns(run.Signals, got)
	var pairs [][2]int64
	for _, al := range run.Alignments {
		if al.Aligned {
			pairs = append(pairs, [2]int64{al.CandidateStep, *al.NodeIndex})
		}
	}
	got["alignment"] = list(pairs)
	n := 0
	for name, w := range want {
		if name == "draw" || name == "stable" {
			continue
		}
		n++
		g, ok := got[name]
		same := ok
		switch v := g.(type) {
		case nil:
			same = same && (w == "" || w == "null")
		case bool:
			same = w == map[bool]string{false: "0", true: "1"}[v]
		case int64:
			same = w == strconv.FormatInt(v, 10)
		case float64:
			f, err := strconv.ParseFloat(w, 64)
			same = err == nil && (f == v || name == "temporal_profile_score" && math.Abs(f-v) <= 1e-12)
		case string:
			switch name {
			case "failure_reasons":
				same = reflect.DeepEqual(reasonsOf(t, v), reasonsOf(t, w))
			case "strengths":
				same = reflect.DeepEqual(strengthsOf(t, v), strengthsOf(t, w))
			default:
				same = v == w
			}
		}
		if !same {
			d.add("%s %s: got %v, want %q", run.Tier.TrajectoryID, name, g, w)
		}
	}
	return n
}

type oracleDetails struct {
	Draw        string           `json:"draw"`
	ID          string           `json:"trajectory_id"`
	Retries     [][]any          `json:"retry_loops"`
	Backtracks  [][]any          `json:"backtracks"`
	Redundant   []int64          `json:"sdk_redundant_steps"`
	Unnecessary []int64          `json:"sdk_unnecessary_explorations"`
	Cycles      [][]int64        `json:"cyclic_patterns"`
	PerTool     [][]any          `json:"per_tool"`
	Point       []any            `json:"divergence_point"`
	Segments    [][]any          `json:"divergence_segments"`
	Stages      map[string][]int `json:"stage_comparison"`
}

func TestDetails(t *testing.T) { conformance.Each(t, checkDetails) }

func checkDetails(t *testing.T, set *conformance.Set) {
	a := loadArchive(t, set)
	d := &differences{t: t}
	draws := plans(t, set)
	references := make(map[string]*reference)
	details := conformance.Lines[oracleDetails](t, set, "oracle", "details.jsonl")
	for _, want := range details {
		run := a.runs[want.ID]
		key := want.Draw + run.TaskID
		if references[key] == nil {
			var traces []*pta.Trace
			for _, id := range draws[want.Draw].Donors[run.TaskID] {
				traces = append(traces, pta.NewTrace(a.runs[id]))
			}
			references[key] = newReference(run.TaskID, draws[want.Draw], "", traces)
		}
		s := references[key].assess(pta.NewTrace(run), run.Outcome)
		got := detailsOf(s)
		for _, field := range []struct {
			name      string
			got, want any
		}{
			{"retries", got.Retries, want.Retries}, {"backtracks", got.Backtracks, want.Backtracks},
			{"redundant", got.Redundant, want.Redundant}, {"unnecessary", got.Unnecessary, want.Unnecessary},
			{"cycles", got.Cycles, want.Cycles}, {"per tool", sorted(got.PerTool), sorted(want.PerTool)},
			{"point", got.Point, want.Point}, {"segments", got.Segments, want.Segments}, {"stages", got.Stages, want.Stages},
		} {
			if g, w := fmt.Sprint(field.got), fmt.Sprint(field.want); g != w {
				d.add("%s %s %s:\n got %s\nwant %s", want.Draw, want.ID, field.name, g, w)
			}
		}
	}
	if len(details) != set.Count(99, 3026) {
		t.Errorf("%d rows", len(details))
	}
	d.done(9*len(details), "details")
}

func sorted(rows [][]any) []string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint(r))
	}
	sort.Strings(out)
	return out
}

func detailsOf(a *assessment) (out oracleDetails) {
	for _, s := range a.report.Spans {
		first := a.labelled[s.First]
		switch s.Kind {
		case waste.BlindRetry:
			out.Retries = append(out.Retries, []any{s.First + 1, s.Last + 1, s.Repetitions, first.Tool, first.File})
		case waste.Backtrack:
			out.Backtracks = append(out.Backtracks, []any{s.Last + 1, s.Detail})
		case waste.RedundantStep:
			out.Redundant = append(out.Redundant, int64(s.First+1))
		case waste.UnnecessaryExploration:
			out.Unnecessary = append(out.Unnecessary, int64(s.First+1))
		case waste.CyclicPattern:
			out.Cycles = append(out.Cycles, []int64{int64(s.First + 1), int64(s.Last + 1), int64(s.PatternLen), int64(s.Repetitions)})
		}
	}
	for _, w := range a.report.PerTool {
		out.PerTool = append(out.PerTool, []any{w.Tool, w.Retries, w.Backtracks, w.Cycles, w.Redundant, w.Unnecessary, w.Wasted})
	}
	row := a.signalRow("")
	if row.DivergenceIndex != nil {
		description := "(no matching candidate step)"
		if row.DivergenceDescription != nil {
			description = *row.DivergenceDescription
		}
		out.Point = []any{*row.DivergenceIndex + 1, description, *row.DivergenceExpected}
	}
	for _, s := range a.missing {
		out.Segments = append(out.Segments, []any{s.first + 1, s.last + 1, string(s.stage.Letter()), s.activity})
	}
	out.Stages = make(map[string][]int)
	for _, s := range trajectory.Stages() {
		total, hit := a.path().totals[s], a.hits[s]
		out.Stages[string(s.Letter())] = []int{total, hit, total - hit, a.stages[s].extra, 1}
	}
	return out
}

func TestPublishedColumns(t *testing.T) { conformance.Each(t, checkPublishedColumns) }

func checkPublishedColumns(t *testing.T, set *conformance.Set) {
	a := loadArchive(t, set)
	d := &differences{t: t}
	for _, row := range a.published {
		n := func(name string) float64 { return number(t, row[name]) }
		id := row["trajectory_id"]
		outcome := trajectory.Fail
		if row["passed"] == "True" {
			outcome = trajectory.Pass
		}
		score := Round(AddOutcome(Parts{
			Coverage: n("coverage_percent"), F1: n("f1_score"), Coherence: n("coherence_score"),
			Completeness: n("stage_completeness"), Workflow: n("workflow_similarity"),
		}.WithoutOutcome(), outcome))
		if float64(score) != n("quality_score") {
			d.add("%s: score %d, want %s", id, score, row["quality_score"])
		}
		if tier, _ := taxonomy.ByScore(score, outcome); string(tier) != row["quality_tier"] {
			d.add("%s: tier %s, want %s", id, tier, row["quality_tier"])
		}
		verdict := taxonomy.ByMatch(n("weighted_score"), n("bottleneck_coverage"), n("stage_completeness"),
			strings.Contains(row["strengths"], "terminal state"))
		if string(verdict) != row["verdict"] {
			d.add("%s: verdict %s, want %s", id, verdict, row["verdict"])
		}
		total := n("regression_loop_waste") + n("blind_retry_waste") + n("redundant_step_waste") +
			n("unnecessary_exploration_waste") + n("cyclic_pattern_waste")
		if total != n("total_wasted_steps") || profile.Round4(total/max(n("n_states"), 1)) != n("waste_severity") {
			d.add("%s: waste %v, severity %v", id, total, profile.Round4(total/n("n_states")))
		}
		if got := f1(n("precision_percent"), n("coverage_percent")); got != n("f1_score") {
			d.add("%s: f1 %v, want %v", id, got, n("f1_score"))
		}
	}
	if len(a.published) != set.Count(149, 1815) {
		t.Errorf("%d published rows", len(a.published))
	}
	d.done(len(a.published), "published rows")
}

// paperTable14 has the counts C1 to C5 by model.
var paperTable14 = map[string][5]int{
	"opus-4.6": {17, 5, 8, 0, 5}, "gpt-5.2-codex": {0, 12, 14, 0, 4}, "gpt-4.1": {0, 18, 1, 5, 2},
	"gpt-5.3-codex": {2, 1, 12, 0, 2}, "gemini-2.5-pro": {0, 2, 5, 0, 1}, "gpt-4o": {0, 2, 1, 0, 0},
	"sonnet-4.5": {0, 2, 0, 0, 0}, "opus-4.5": {0, 0, 0, 0, 1},
}

func TestLuckyCategories(t *testing.T) { conformance.Each(t, checkLuckyCategories) }

func checkLuckyCategories(t *testing.T, set *conformance.Set) {
	a := loadArchive(t, set)
	d := &differences{t: t}
	want := make(map[string]string)
	for _, row := range csvTable(t, set, "lucky_categories.csv") {
		want[row["trajectory_id"]] = row["category"]
	}
	byModel := make(map[string][5]int)
	lucky := 0
	for _, row := range a.published {
		if row["quality_tier"] != "lucky" {
			continue
		}
		lucky++
		id := row["trajectory_id"]
		n := func(name string) int64 { return int64(number(t, row[name])) }
		category, why := taxonomy.Categorise(taxonomy.Columns{
			NStates: n("n_states"), StageCoverageV: number(t, row["stage_coverage_V"]),
			TotalWastedSteps: n("total_wasted_steps"), BlindRetryCount: n("blind_retry_count"),
			CyclicPatternCount:   n("cyclic_pattern_count"),
			ExcessiveExploration: strings.Contains(strings.Join(a.signals[id], "\n"), "signal_type='"+signalExcessive+"'"),
			Incomplete:           strings.Contains(row["failure_reasons"], reasonIncomplete),
		})
		if category.Code != want[id] || why == "" {
			d.add("%s: category %s (%s), want %s", id, category.Code, why, want[id])
		}
		counts := byModel[row["model"]]
		counts[category.Code[1]-'1']++
		byModel[row["model"]] = counts
	}
	if lucky != set.Count(17, 122) || len(want) != lucky {
		t.Errorf("%d lucky runs of %d", lucky, len(want))
	}
	if set.Name == "whole" && !reflect.DeepEqual(byModel, paperTable14) {
		t.Errorf("by model %v, want %v", byModel, paperTable14)
	}
	d.done(lucky, "categories")
}

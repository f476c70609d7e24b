package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/pta"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// text returns nil for "".
func text[S ~string](s S) *string {
	if s == "" {
		return nil
	}
	return new(string(s))
}

// index returns nil for a negative index, else index+base.
func index(i, base int) *int64 {
	if i < 0 {
		return nil
	}
	return new(int64(i + base))
}

func unscored(id, reason string) profile.RunRows {
	return profile.RunRows{Tier: schema.Tier{TrajectoryID: id, Reason: &reason}}
}

func (c *candidate) rows(ref *reference, s score, d detail, draws *Draws) profile.RunRows {
	run := &c.donors.task.Runs[c.run]
	rows := profile.RunRows{
		Reference:   ref.id,
		Features:    c.features(run, s, d),
		Signals:     c.signals(run, ref, s, d, draws),
		Alignments:  alignments(run, ref, s, d),
		Divergences: divergences(run.ID, ref.walks[s.best], d),
		Waste:       wasteRows(c.donors.task, run, d.events),
	}
	rows.Tier = c.tier(run, s, d, draws)
	if draws != nil {
		rows.Features.QualityScore = new(int64(math.RoundToEven(draws.Mean)))
	}
	rows.Features.QualityTier = rows.Tier.Tier
	return rows
}

func (c *candidate) features(run *steps.Run, s score, d detail) *schema.Features {
	w := d.waste
	f := &schema.Features{
		TaskID:               c.donors.task.ID,
		Model:                run.Model,
		TrajectoryID:         run.ID,
		Passed:               run.Outcome.Passed(),
		NStates:              new(int64(c.m)),
		QualityScore:         new(int64(math.RoundToEven(s.f))),
		CoveragePercent:      new(s.coverage),
		PrecisionPercent:     new(100 * s.precision),
		F1Score:              new(s.structural),
		CoherenceScore:       new(s.coherence),
		TemporalProfileScore: new(s.temporal),

		RegressionLoopCount:         new(w.events[regress]),
		RegressionLoopWaste:         new(w.steps[regress]),
		BlindRetryCount:             new(w.events[blind]),
		BlindRetryWaste:             new(w.steps[blind]),
		RedundantStepCount:          new(w.events[redundant]),
		RedundantStepWaste:          new(w.steps[redundant]),
		UnnecessaryExplorationCount: new(w.events[unnecessary]),
		UnnecessaryExplorationWaste: new(w.steps[unnecessary]),
		CyclicPatternCount:          new(w.events[cyclic]),
		CyclicPatternWaste:          new(w.steps[cyclic]),
		TotalWastedSteps:            new(w.total),
		WasteSeverity:               new(profile.Round4(float64(w.total) / float64(c.m))),
		WastedInputTokens:           new(d.win),
		WastedOutputTokens:          new(d.wou),
		DivergenceStep:              index(d.firstStep, 1),
	}
	if d.firstStep >= 0 {
		f.DivergenceFraction = new(profile.Round4(float64(d.firstStep+1) / float64(c.m)))
	}
	columns := [...]**float64{&f.StageCoverageE, &f.StageCoverageI, &f.StageCoverageV, &f.StageCoverageO}
	present, touched, lowest := 0, 0, 100.0
	for k, label := range trajectory.Stages() {
		share := 0.0
		if n := d.path[label]; n > 0 {
			share = float64(d.covered[label]) / float64(n) * 100
			present++
			lowest = min(lowest, share)
			if d.covered[label] > 0 {
				touched++
			}
		}
		*columns[k] = new(share)
	}
	if present > 0 {
		f.StageCompleteness = new(float64(touched) / float64(present))
		f.BottleneckCoverage = new(lowest)
	}
	return f
}

func (c *candidate) signals(run *steps.Run, ref *reference, s score, d detail, draws *Draws) *schema.SignalsPaper {
	p := c.donors.params
	w := d.waste
	ids := make([]string, len(ref.runs))
	for i, r := range ref.runs {
		ids[i] = c.donors.task.Runs[r].ID
	}
	out := &schema.SignalsPaper{
		TrajectoryID: run.ID,
		Labels:       string(p.Labels),
		Passed:       run.Outcome.Passed(),
		PTAID:        ref.id,
		NRefs:        int64(len(ids)),
		Refs:         strings.Join(ids, ","),
		NNodes:       int64(len(ref.Nodes)),
		NSteps:       int64(c.m),

		Struct: s.structural, Cov: s.coverage, Coh: s.coherence, Temp: s.temporal, PaperScore: s.f,
		Tier:          text(taxonomy.Cuts(p.Cuts).Tier(s.f, run.Outcome)),
		OrderedRecall: s.recall, Precision: s.precision,
		BestPath: int64(s.best), BestPathLen: int64(len(ref.Paths[s.best])),

		FirstUnmatchedStep:     index(d.firstStep, 0),
		FirstUnmatchedFraction: 1,
		FirstUnmatchedPathPos:  index(d.firstPos, 0),
		MatchedSteps:           d.matchable,

		RegressEvents: w.events[regress], RegressSteps: w.steps[regress], RegressAttributed: w.attributed[regress],
		BlindEvents: w.events[blind], BlindSteps: w.steps[blind], BlindAttributed: w.attributed[blind],
		RedundEvents: w.events[redundant], RedundSteps: w.steps[redundant], RedundAttributed: w.attributed[redundant],
		UnnecEvents: w.events[unnecessary], UnnecSteps: w.steps[unnecessary], UnnecAttributed: w.attributed[unnecessary],
		CyclicEvents: w.events[cyclic], CyclicSteps: w.steps[cyclic], CyclicAttributed: w.attributed[cyclic],
		WastedSteps:       w.total,
		WastedShare:       float64(w.total) / float64(c.m),
		WastedInputTokens: d.win, WastedOutputTokens: d.wou,
		InputTokens: d.in, OutputTokens: d.out,

		ImplCoverage: d.impl,
		ExploreRatio: d.explore,
	}
	if d.firstStep >= 0 {
		out.FirstUnmatchedFraction = float64(d.firstStep) / float64(c.m)
	}
	if taxonomy.Cuts(p.Cuts).Tier(s.f, run.Outcome) == taxonomy.Lucky {
		out.Category = new(d.lucky.Code)
	}
	if draws != nil {
		out.Draws = int64(draws.N)
		out.ScoreMean = new(draws.Mean)
		if draws.N > 1 {
			out.ScoreSD = new(draws.SD)
		}
		out.TierMean = text(draws.Tier)
		if draws.Tier != "" {
			out.TierShare = new(draws.Share)
		}
	}
	var flags []string
	if len(ids) < p.K {
		flags = append(flags, fmt.Sprintf("refs<%d", p.K))
	}
	if p.OtherModels {
		flags = append(flags, "other_models")
	}
	out.Flags = text(strings.Join(flags, ","))
	return out
}

// tier is that of the mean over the draws, of f without draws.
func (c *candidate) tier(run *steps.Run, s score, d detail, draws *Draws) schema.Tier {
	row := schema.Tier{TrajectoryID: run.ID}
	cuts := c.donors.params.Cuts
	name, f := "f", s.f
	if draws != nil {
		name, f = "score_mean", draws.Mean
	}
	tier := taxonomy.Cuts(cuts).Tier(f, run.Outcome)
	switch tier {
	case "":
		row.Reason = new("outcome_unknown")
		return row
	case taxonomy.Ideal:
		row.Rule = new(fmt.Sprintf("passed, %s %.2f >= %g", name, f, cuts.Ideal))
	case taxonomy.Solid:
		row.Rule = new(fmt.Sprintf("passed, %s %.2f >= %g and < %g", name, f, cuts.Solid, cuts.Ideal))
	case taxonomy.Lucky:
		row.Category, row.CategoryName = new(d.lucky.Code), new(d.lucky.Name)
		row.Rule = new(fmt.Sprintf("passed, %s %.2f < %g; %s", name, f, cuts.Solid, d.lucky.Code+": "+d.why))
	case taxonomy.PartialFail:
		row.Rule = new(fmt.Sprintf("failed, %s %.2f >= %g", name, f, cuts.PartialFail))
	case taxonomy.OffTrack:
		row.Rule = new(fmt.Sprintf("failed, %s %.2f < %g", name, f, cuts.PartialFail))
	}
	row.Tier = text(tier)
	return row
}

// alignments are those of the forward scan over the best path, which ordered recall counts.
func alignments(run *steps.Run, ref *reference, s score, d detail) []schema.Alignment {
	out := make([]schema.Alignment, len(run.Steps))
	for j := range run.Steps {
		out[j] = schema.Alignment{TrajectoryID: run.ID, CandidateStep: int64(run.Steps[j].State)}
	}
	for pos, j := range d.scanned {
		if j >= 0 {
			out[j].Aligned = true
			out[j].NodeIndex = new(int64(ref.Paths[s.best][pos]))
			out[j].PathPosition = new(int64(pos))
		}
	}
	return out
}

// divergences are the maximal runs of positions of the best path that are not matched.
func divergences(id string, path walk, d detail) (out []schema.Divergence) {
	n, m := path.len(), len(d.hit)
	for a := 0; a < n; a++ {
		if d.matched[a] {
			continue
		}
		b := a
		for b+1 < n && !d.matched[b+1] {
			b++
		}
		row := schema.Divergence{
			TrajectoryID: id,
			Segment:      int64(len(out)),
			StartStep:    int64(a + 1),
			EndStep:      int64(b + 1),
			Stage:        text(mostFrequent(path.label[a : b+1]).String()),
		}
		for j := a * m / n; j < min((b+1)*m/n+1, m); j++ {
			if !d.hit[j] {
				row.Activity++
			}
		}
		out = append(out, row)
		a = b
	}
	return out
}

// mostFrequent returns the first seen of the most frequent labels.
func mostFrequent(labels []trajectory.Stage) trajectory.Stage {
	n := countLabels(labels)
	best := labels[0]
	for _, l := range labels {
		if n[l] > n[best] {
			best = l
		}
	}
	return best
}

func wasteRows(task *steps.Task, run *steps.Run, events []event) []schema.Waste {
	out := make([]schema.Waste, len(events))
	for i, e := range events {
		first := &run.Steps[e.first]
		out[i] = schema.Waste{
			TrajectoryID: run.ID,
			Span:         int64(i),
			Report:       "detectors",
			Category:     string(e.by.kind()),
			FirstStep:    int64(e.first + 1),
			LastStep:     int64(e.to),
			WastedSteps:  int64(e.to - e.from),
			Tool:         text(task.Name(first.Tool)),
			FilePath:     text(task.Name(first.File)),
		}
		for j := e.from; j < e.to; j++ {
			out[i].InputTokens += run.Steps[j].InputTokens
			out[i].OutputTokens += run.Steps[j].OutputTokens
		}
		if e.repetitions > 0 {
			out[i].Repetitions = new(int64(e.repetitions))
		}
		if e.pattern > 0 {
			out[i].PatternLen = new(int64(e.pattern))
		}
	}
	return out
}

// rows describes a reference. Nodes need no consolidation, so their creation number is
// their index; edges join consecutive nodes of the paths, each pair once, in path order.
func (d *donors) rows(ref *reference) profile.ReferenceRows {
	out := profile.ReferenceRows{PTA: schema.PTA{
		PTAID:        ref.id,
		TaskID:       d.task.ID,
		Mode:         string(profile.LeaveOneOut),
		KRequested:   int64(d.params.K),
		NMembers:     int64(len(ref.runs)),
		NNodes:       int64(len(ref.Nodes)),
		NPaths:       int64(len(ref.Paths)),
		TracesMerged: int64(len(ref.runs)),

		BranchesCreated:   int64(ref.Checks - ref.Equal),
		EquivalenceChecks: int64(ref.Checks),
	}}
	row := &out.PTA
	for i, r := range ref.runs {
		out.Members = append(out.Members, schema.PTAMember{PTAID: ref.id, Position: int64(i), TrajectoryID: d.task.Runs[r].ID})
	}
	initial, terminal := make([]bool, len(ref.Nodes)), make([]bool, len(ref.Nodes))
	type pair struct{ from, to int }
	edges := map[pair]bool{}
	canonical, stages := 0, -1
	for p, path := range ref.Paths {
		if n := len(path); n > 0 {
			initial[path[0]] = true
			terminal[path[n-1]] = true
		}
		for i := 1; i < len(path); i++ {
			e := pair{path[i-1], path[i]}
			if edges[e] {
				continue
			}
			edges[e] = true
			to, _ := d.step(ref, e.to)
			out.Edges = append(out.Edges, schema.PTAEdge{
				PTAID:        ref.id,
				TransitionID: int64(len(out.Edges)),
				FromNode:     int64(e.from),
				ToNode:       int64(e.to),
				ActionType:   d.task.Name(to.Tool),
				Step:         to.Number,
			})
			if p > 0 {
				row.TransitionsAdded++
			}
		}
		distinct := 0
		for _, n := range ref.labels[p] {
			if n > 0 {
				distinct++
			}
		}
		if distinct > stages || distinct == stages && len(path) > len(ref.Paths[canonical]) {
			canonical, stages = p, distinct
		}
		out.Paths = append(out.Paths, schema.PTAPath{
			PTAID: ref.id, PathIndex: int64(p), Length: int64(len(path)), Nodes: jsonInts(path),
		})
	}
	row.CanonicalPath = int64(canonical)
	row.NEdges = int64(len(out.Edges))
	merged := ref.Merged()
	for x, n := range ref.Nodes {
		s, label := d.step(ref, x)
		out.Nodes = append(out.Nodes, schema.PTANode{
			PTAID:          ref.id,
			NodeIndex:      int64(x),
			MergedID:       int64(x),
			Step:           s.Number,
			ResultingState: d.task.Name(s.Resulting),
			Stage:          text(label.String()),
			Tool:           text(d.task.Name(s.Tool)),
			FilePath:       text(d.task.Name(s.File)),
			TraceCount:     int64(len(merged[x])),
			IsInitial:      initial[x],
			IsTerminal:     terminal[x],
			OriginalIDs:    d.originals(ref, merged[x]),
		})
		if n.Ref > 0 {
			row.StatesAdded++
		}
		row.StatesMerged += int64(len(merged[x]) - 1)
		if terminal[x] {
			row.NTerminals++
		}
	}
	return out
}

// originals lists the merged states as a JSON array of "<position of the member>:<state id>".
func (d *donors) originals(ref *reference, merged []pta.Origin) string {
	ids := make([]string, len(merged))
	for i, o := range merged {
		s := &d.task.Runs[ref.runs[o.Ref]].Steps[o.Step]
		ids[i] = fmt.Sprintf("%d:%s", o.Ref, d.task.Name(s.StateID))
	}
	return jsonStrings(ids)
}

func jsonInts(v []int) string {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(x), 10)
	}
	return string(append(b, ']'))
}

func jsonStrings(v []string) string {
	b := []byte{'['}
	for i, s := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, s) // ill-formed UTF-8 becomes the replacement character
	}
	return string(append(b, ']'))
}

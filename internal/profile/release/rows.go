package release

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/agentlens-bench/agentlens/internal/equiv"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
	"github.com/agentlens-bench/agentlens/schema"
)

// text is nil for an absent text.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// list is the JSON array of a list, "[]" for an empty one.
func list[T any](values []T) string {
	raw, err := json.Marshal(values)
	if err != nil {
		panic(err) // the element types have no values without JSON
	}
	return string(raw)
}

func listOrNil[T any](values []T) *string {
	if len(values) == 0 {
		return nil
	}
	return new(list(values))
}

func (r *reference) rows() profile.ReferenceRows {
	g := r.graph
	out := profile.ReferenceRows{PTA: schema.PTA{
		PTAID: r.id, TaskID: r.task, Mode: string(r.mode), KRequested: int64(r.requested),
		NMembers: int64(len(r.members)), NNodes: int64(len(g.Nodes)), NEdges: int64(len(g.Edges)),
		NTerminals: int64(len(g.Terminals)), NPaths: int64(len(r.paths)), CanonicalPath: int64(r.canonical),
		TracesMerged: int64(g.Stats.TracesMerged), StatesAdded: int64(g.Stats.StatesAdded),
		StatesMerged: int64(g.Stats.StatesMerged), TransitionsAdded: int64(g.Stats.TransitionsAdded),
		BranchesCreated: int64(g.Stats.BranchesCreated), EquivalenceChecks: int64(g.Stats.EquivalenceChecks),
	}}
	for i, id := range r.members {
		out.Members = append(out.Members, schema.PTAMember{PTAID: r.id, Position: int64(i), TrajectoryID: id})
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		out.Nodes = append(out.Nodes, schema.PTANode{
			PTAID: r.id, NodeIndex: int64(i), MergedID: int64(n.MergedID), Step: n.State.Step,
			ResultingState: n.State.ResultingState, Stage: text(n.Stage.String()), Tool: text(n.State.Tool),
			FilePath: text(n.State.FilePath), TraceCount: int64(n.TraceCount), IsInitial: i == g.Initial,
			IsTerminal: n.Terminal, OriginalIDs: list(n.OriginalIDs),
		})
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, schema.PTAEdge{
			PTAID: r.id, TransitionID: int64(e.ID), FromNode: int64(e.From), ToNode: int64(e.To),
			ActionType: e.ActionType, Step: e.Step,
		})
	}
	for i, p := range r.paths {
		out.Paths = append(out.Paths, schema.PTAPath{
			PTAID: r.id, PathIndex: int64(i), Length: int64(len(p.nodes)), Nodes: list(p.nodes),
		})
	}
	return out
}

func (a *assessment) rows(task string, run profile.Run) profile.RunRows {
	out := profile.RunRows{
		Reference: a.ref.id,
		Features:  a.features(task, run),
		Signals:   a.signalRow(run.ID),
		Tier:      a.tierRow(run.ID),
	}
	for j, position := range a.aligned {
		row := schema.Alignment{TrajectoryID: run.ID, CandidateStep: int64(j), Aligned: position >= 0}
		if position >= 0 {
			row.NodeIndex = new(int64(a.path().nodes[position]))
			row.PathPosition = new(int64(position))
		}
		out.Alignments = append(out.Alignments, row)
	}
	for i, s := range a.missing {
		out.Divergences = append(out.Divergences, schema.Divergence{
			TrajectoryID: run.ID, Segment: int64(i), StartStep: int64(s.first + 1), EndStep: int64(s.last + 1),
			Stage: text(s.stage.String()), Activity: int64(s.activity),
		})
	}
	out.Waste = a.wasteRows(run.ID)
	for _, t := range a.report.PerTool {
		out.ToolWaste = append(out.ToolWaste, schema.ToolWaste{
			TrajectoryID: run.ID, Tool: cmp.Or(t.Tool, "unknown"), Retries: int64(t.Retries),
			Backtracks: int64(t.Backtracks), Cycles: int64(t.Cycles), Redundant: int64(t.Redundant),
			Unnecessary: int64(t.Unnecessary), TotalWasted: int64(t.Wasted),
		})
	}
	slices.SortFunc(out.ToolWaste, func(x, y schema.ToolWaste) int { return cmp.Compare(x.Tool, y.Tool) })
	return out
}

func (a *assessment) features(task string, run profile.Run) *schema.Features {
	f := &schema.Features{
		TaskID: task, Model: run.Model, TrajectoryID: run.ID, Passed: a.outcome.Passed(),
		NStates:              new(int64(len(a.labelled))),
		QualityScore:         &a.score,
		Verdict:              new(string(a.verdict)),
		CoveragePercent:      &a.parts.Coverage,
		PrecisionPercent:     &a.precision,
		F1Score:              &a.parts.F1,
		CoherenceScore:       &a.parts.Coherence,
		TemporalProfileScore: &a.timing,
		WorkflowSimilarity:   &a.parts.Workflow,
		StageCompleteness:    &a.parts.Completeness,
		BottleneckCoverage:   &a.bottleneck,
		WeightedScore:        &a.weighted,
		StageCoverageE:       new(a.coverage(trajectory.Exploration)),
		StageCoverageI:       new(a.coverage(trajectory.Implementation)),
		StageCoverageV:       new(a.coverage(trajectory.Verification)),
		StageCoverageO:       new(a.coverage(trajectory.Orchestration)),
		WastedInputTokens:    &a.report.InputTokens,
		WastedOutputTokens:   &a.report.OutputTokens,
		StageOrderMatch:      new(a.stageOrderMatch()),
		FailureReasons:       listOrNil(a.reasons),
		Strengths:            listOrNil(a.strength),
	}
	if tier, _ := taxonomy.ByScore(a.score, a.outcome); tier != "" {
		f.QualityTier = new(string(tier))
	}
	total := int64(0)
	for _, k := range []struct {
		kind         waste.Kind
		count, waste **int64
	}{
		{waste.RegressionLoop, &f.RegressionLoopCount, &f.RegressionLoopWaste},
		{waste.BlindRetry, &f.BlindRetryCount, &f.BlindRetryWaste},
		{waste.RedundantStep, &f.RedundantStepCount, &f.RedundantStepWaste},
		{waste.UnnecessaryExploration, &f.UnnecessaryExplorationCount, &f.UnnecessaryExplorationWaste},
		{waste.CyclicPattern, &f.CyclicPatternCount, &f.CyclicPatternWaste},
	} {
		count, steps := waste.Total(a.spans, k.kind)
		*k.count, *k.waste = &count, &steps
		total += steps
	}
	f.TotalWastedSteps = &total
	f.WasteSeverity = new(profile.Round4(float64(total) / float64(len(a.labelled))))
	if d := a.divergence(); d >= 0 {
		f.DivergenceStep = new(int64(d + 1))
		f.DivergenceFraction = new(profile.Round4(float64(d+1) / float64(len(a.labelled))))
	}
	return f
}

func (a *assessment) signalRow(id string) *schema.SignalsRelease {
	p := a.path()
	e, i, v, o := trajectory.Exploration, trajectory.Implementation, trajectory.Verification, trajectory.Orchestration
	count := func(kind waste.Kind) int64 { n, _ := waste.Total(a.report.Spans, kind); return n }
	s := &schema.SignalsRelease{
		TrajectoryID: id, PTAID: a.ref.id, NReferences: int64(len(a.ref.members)), FewReferences: a.ref.few(),
		ScoreWithoutOutcome: a.withoutOutcome, ScoreWithOutcomeUnrounded: a.withOutcome, SDKTier: string(a.sdkTier()),
		MatchedCount: int64(len(a.matched)), GTPathLen: int64(len(p.nodes)), CandidateStates: int64(len(a.candidate)),
		BestPathIndex: int64(a.best), TotalPaths: int64(len(a.ref.paths)),
		TerminalStateMatch: a.terminal, PerfectMatch: len(a.matched) == len(p.nodes),
		StageMatchedE: int64(a.hits[e]), StageTotalE: int64(p.totals[e]), StageExtraE: int64(a.stages[e].extra),
		StageMatchedI: int64(a.hits[i]), StageTotalI: int64(p.totals[i]), StageExtraI: int64(a.stages[i].extra),
		StageMatchedV: int64(a.hits[v]), StageTotalV: int64(p.totals[v]), StageExtraV: int64(a.stages[v].extra),
		StageMatchedO: int64(a.hits[o]), StageTotalO: int64(p.totals[o]), StageExtraO: int64(a.stages[o].extra),
		EffortRatioE: a.stages[e].effort, EffortRatioI: a.stages[i].effort,
		EffortRatioV: a.stages[v].effort, EffortRatioO: a.stages[o].effort,
		NDivergenceSegments: int64(len(a.missing)),
		Deepen:              int64(a.moves.deepen), Pivot: int64(a.moves.pivot), Backtrack: int64(a.moves.back),
		Confirm: int64(a.moves.confirm), BlindRetries: int64(a.moves.retries),
		SDKTotalWastedSteps:       int64(a.report.WastedSteps),
		SDKSeverityScore:          float64(a.report.WastedSteps) / float64(len(a.labelled)),
		SDKBacktrackCount:         count(waste.Backtrack),
		SDKRedundantStepCount:     count(waste.RedundantStep),
		SDKUnnecessaryExploration: count(waste.UnnecessaryExploration),
		MatchedGTIndices:          list(a.matched),
		CanonicalPathIndex:        int64(a.ref.canonical),
		CanonicalCoveragePercent:  a.canonical.coverage,
		CanonicalF1Score:          a.canonical.f1,
		CanonicalWeightedScore:    a.canonical.weighted,
	}
	for _, step := range a.labelled {
		s.TotalInputTokens += step.InputTokens
		s.TotalOutputTokens += step.OutputTokens
	}
	if d := a.divergence(); d >= 0 {
		s.DivergenceIndex = new(int64(d))
		s.DivergenceExpected = new(describe(a.ref.step(p, d)))
		if j := slices.Index(a.aligned, -1); j >= 0 {
			s.DivergenceDescription = new(describe(a.candidate[j]))
		}
	}
	var names []string
	for _, r := range a.reasons {
		names = append(names, r.Name+":"+r.Severity)
	}
	s.FailureReasonNames = text(strings.Join(names, ","))
	names = nil
	for _, sig := range a.signals {
		names = append(names, sig.name+":"+sig.severity)
	}
	s.Signals = text(strings.Join(names, ","))
	return s
}

// describe names a step by its tool and file.
func describe(s *equiv.ReleaseStep) string {
	tool := cmp.Or(s.State.Tool, "unknown")
	if s.State.FilePath == "" {
		return tool
	}
	return tool + " on " + s.State.FilePath
}

func (a *assessment) tierRow(id string) schema.Tier {
	row := schema.Tier{TrajectoryID: id}
	tier, rule := taxonomy.ByScore(a.score, a.outcome)
	if tier == "" {
		row.Reason = new(ReasonOutcomeUnknown)
		return row
	}
	row.Tier = new(string(tier))
	if tier == taxonomy.Lucky {
		category, why := taxonomy.Categorise(a.luckyColumns())
		row.Category, row.CategoryName = &category.Code, &category.Name
		rule += "; " + category.Code + ": " + why
	}
	row.Rule = &rule
	return row
}

func (a *assessment) luckyColumns() taxonomy.Columns {
	retries, _ := waste.Total(a.spans, waste.BlindRetry)
	cycles, _ := waste.Total(a.spans, waste.CyclicPattern)
	total := 0
	for _, s := range a.spans {
		total += s.Steps()
	}
	return taxonomy.Columns{
		NStates: int64(len(a.labelled)), StageCoverageV: a.coverage(trajectory.Verification),
		TotalWastedSteps: int64(total), BlindRetryCount: retries, CyclicPatternCount: cycles,
		ExcessiveExploration: a.hasSignal(signalExcessive), Incomplete: a.hasReason(reasonIncomplete),
	}
}

// wasteRows lists the spans by report, category and first step.
func (a *assessment) wasteRows(id string) []schema.Waste {
	var out []schema.Waste
	add := func(report string, spans []waste.Span) {
		for _, s := range spans {
			row := schema.Waste{
				TrajectoryID: id, Report: report, Category: string(s.Kind),
				FirstStep: int64(s.First + 1), LastStep: int64(s.Last + 1), WastedSteps: int64(s.Steps()),
				Tool: text(a.labelled[s.First].Tool), FilePath: text(a.labelled[s.First].File), Detail: text(s.Detail),
			}
			for _, step := range a.labelled[s.Wasted : s.Last+1] {
				row.InputTokens += step.InputTokens
				row.OutputTokens += step.OutputTokens
			}
			if s.Repetitions > 0 {
				row.Repetitions = new(int64(s.Repetitions))
			}
			if s.PatternLen > 0 {
				row.PatternLen = new(int64(s.PatternLen))
			}
			out = append(out, row)
		}
	}
	add("detectors", a.spans)
	add("inefficiency", a.report.Spans)
	slices.SortStableFunc(out, func(x, y schema.Waste) int {
		return cmp.Or(strings.Compare(x.Report, y.Report), strings.Compare(x.Category, y.Category),
			cmp.Compare(x.FirstStep, y.FirstStep), cmp.Compare(x.LastStep, y.LastStep))
	})
	for i := range out {
		out[i].Span = int64(i)
	}
	return out
}

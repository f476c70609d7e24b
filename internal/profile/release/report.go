package release

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Reason is why a run was not judged to pass, as in the column failure_reasons.
type Reason struct {
	Name     string `json:"reason"`
	Detail   string `json:"detail"`
	Severity string `json:"severity"` // critical, high or medium
}

// reasonIncomplete also decides the Lucky category C3.
const reasonIncomplete = "incomplete_implementation"

// failureReasons lists what is wrong with a run whose verdict is no pass, most severe first.
func failureReasons(a *assessment) []Reason {
	if a.verdict.Passes() {
		return nil
	}
	var out []Reason
	add := func(name, severity, format string, args ...any) {
		out = append(out, Reason{name, fmt.Sprintf(format, args...), severity})
	}
	p := a.path()
	if d := a.divergence(); d >= 0 && float64(d)/float64(len(p.nodes)) < 0.4 {
		add("early_divergence", "critical", "the reference's step %d of %d was the first without a match, %s%% into its path",
			d+1, len(p.nodes), whole(percent(d, len(p.nodes))))
	}
	share := func(s trajectory.Stage) string {
		return fmt.Sprintf("%s%% of the reference's %s steps matched, %d of %d", whole(a.coverage(s)), s, a.hits[s], p.totals[s])
	}
	if s := trajectory.Verification; p.totals[s] > 0 && a.coverage(s) < 25 {
		add("missing_verification", "high", "%s", share(s))
	}
	if s := trajectory.Implementation; p.totals[s] > 0 && a.coverage(s) < 50 {
		severity := "medium"
		if a.coverage(s) < 25 {
			severity = "high"
		}
		add(reasonIncomplete, severity, "%s", share(s))
	}
	if a.parts.Coherence < 0.35 {
		add("trajectory_thrashing", "medium", "coherence is %.2f: steps back and repetitions prevail", a.parts.Coherence)
	}
	if a.parts.Coverage < 30 && len(out) == 0 {
		add("low_coverage", "high", "%s%% of the reference path matched", whole(a.parts.Coverage))
	}
	order := []string{"critical", "high", "medium"}
	slices.SortStableFunc(out, func(x, y Reason) int {
		return slices.Index(order, x.Severity) - slices.Index(order, y.Severity)
	})
	return out
}

// whole formats without decimals, ties to even.
func whole(x float64) string { return strconv.FormatFloat(x, 'f', 0, 64) }

// strengths lists what is good about a run: well covered stages, coherence, its end.
func strengths(a *assessment) []string {
	var out []string
	for _, s := range trajectory.Stages() {
		if a.path().totals[s] > 0 && a.coverage(s) >= 80 {
			out = append(out, fmt.Sprintf("%s: %s%% of the reference's steps matched", s, whole(a.coverage(s))))
		}
	}
	if a.parts.Coherence >= 0.7 {
		out = append(out, "coherence: the work moves forward")
	}
	if a.terminal {
		out = append(out, "ending: the last step matches the reference's")
	}
	return out
}

// signal is one remark on the quality of a run.
type signal struct{ name, severity string }

const signalExcessive = "excessive_exploration"

// qualitySignals lists the remarks in the release's order. Without an outcome the verdict
// stands for it.
func qualitySignals(a *assessment) []signal {
	var out []signal
	add := func(name, severity string) { out = append(out, signal{name, severity}) }
	p := a.path()
	passed, failed := a.outcome == trajectory.Pass, a.outcome == trajectory.Fail
	if a.outcome == trajectory.Unknown {
		passed, failed = a.verdict.Passes(), a.verdict.Fails()
	}
	wasted := a.report.WastedSteps
	if passed && wasted > 0 && (float64(wasted)/float64(len(a.candidate)) > 0.2 || a.parts.Coherence < 0.5) {
		add("inefficient_path_despite_success", "warning")
	}
	if s := trajectory.Verification; p.totals[s] > 0 && a.coverage(s) < 25 {
		if passed {
			add("low_verification", "warning")
		} else {
			add("missing_verification", "critical")
		}
	}
	if !a.stageOrderMatch() {
		if passed {
			add("stage_order_differs", "info")
		} else {
			add("stage_order_differs", "critical")
		}
	}
	if a.stages[trajectory.Exploration].effort > 2 {
		add(signalExcessive, "warning")
	}
	if s := trajectory.Orchestration; p.totals[s] > 0 && a.hits[s] == 0 {
		add("missing_planning", "info")
	}
	if passed && a.parts.Coherence >= 0.7 && a.parts.Coverage >= 70 && a.parts.Completeness >= 0.75 && wasted == 0 {
		add("clean_ideal_pass", "info")
	}
	if failed && a.parts.Coverage >= 40 && a.parts.Completeness >= 0.5 {
		add("incomplete_coverage", "warning")
	} else if passed && a.parts.Coverage < 70 {
		add("low_gt_coverage", "info")
	}
	return out
}

// stageOrderMatch is what is left of the release's order test: whether the path has every
// stage, orchestration apart, that the run has.
func (a *assessment) stageOrderMatch() bool {
	for _, s := range []trajectory.Stage{trajectory.Exploration, trajectory.Implementation, trajectory.Verification} {
		if a.stages[s].candidate > 0 && a.path().totals[s] == 0 {
			return false
		}
	}
	return true
}

func (a *assessment) hasReason(name string) bool {
	return slices.ContainsFunc(a.reasons, func(r Reason) bool { return r.Name == name })
}

func (a *assessment) hasSignal(name string) bool {
	return slices.ContainsFunc(a.signals, func(s signal) bool { return s.name == name })
}

// sdkTier is the tier of the release's analysis reports.
func (a *assessment) sdkTier() taxonomy.Tier {
	return taxonomy.SDK(a.verdict, a.parts.Coverage, a.parts.Coherence, a.parts.Completeness)
}

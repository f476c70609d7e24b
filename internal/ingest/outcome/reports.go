package outcome

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Details of an outcome.
const (
	EmptyPatch     = "empty_patch"
	PatchFailed    = "patch_failed" // the patch did not apply
	Infrastructure = "infrastructure"
	HarnessError   = "harness_error"
	Timeout        = "timeout"
	Incomplete     = "incomplete" // submitted or due, not judged
)

// EvalID is the format of the companions whose lines repeat the runs of another file.
const EvalID = "swebench-eval"

// Formats lists the records that state outcomes and hold no run, in the order they are
// tried in.
func Formats() []format.Format {
	return []format.Format{
		{
			ID:          EvalID,
			Description: "OpenHands output.swebench_eval.jsonl: outcomes of the runs in output.jsonl",
			Companion:   true,
			Detect: func(p *format.Probe) (string, bool) {
				return "name *.swebench_eval.jsonl + instance_id", strings.HasSuffix(p.File, ".swebench_eval.jsonl") && p.Has("instance_id")
			},
			Read: readEvalLine,
		},
		{
			ID:          "swebench-report",
			Description: "SWE-bench report.json of one instance, nested or flat",
			Companion:   true,
			Detect: func(p *format.Probe) (string, bool) {
				if isReport(p.Root) {
					return "resolved + patch_exists", true
				}
				keys := p.Keys()
				return "<instance>.resolved", len(keys) > 0 && isReport(p.Get(keys[0]))
			},
			Read: readReport,
		},
		{
			ID:          "swebench-summary",
			Description: "SWE-bench or sb-cli summary of an evaluation: lists of instance ids",
			Companion:   true,
			Detect: func(p *format.Probe) (string, bool) {
				return "resolved_ids", p.Get("resolved_ids").Kind() == '['
			},
			Read: readSummary,
		},
		{
			ID:          "swebench-results",
			Description: "results.json of SWE-bench experiments: lists of instance ids",
			Companion:   true,
			Detect: func(p *format.Probe) (string, bool) {
				if p.Get("resolved").Kind() != '[' {
					return "", false
				}
				for _, key := range []string{"generated", "no_generation", "applied", "with_logs", "no_logs"} {
					if p.Get(key).Kind() == '[' {
						return "resolved + " + key, true
					}
				}
				return "", false
			},
			Read: readResults,
		},
		{
			ID:          "predictions",
			Description: "SWE-bench predictions: patches without outcomes",
			Companion:   true,
			Skip:        "predictions (patches without outcomes)",
			Detect: func(p *format.Probe) (string, bool) {
				const key = "model_patch"
				if p.Has("instance_id", key) && !p.Has("history") && !p.Has("trajectory") && !p.Has("messages") {
					return key, true
				}
				keys := p.Keys()
				return "<instance>." + key, len(keys) > 0 && p.Get(keys[0]).Has(key, "instance_id")
			},
		},
		{
			ID:          "openhands-metadata",
			Description: "OpenHands metadata.json of an evaluation",
			Companion:   true,
			Skip:        "metadata of an evaluation",
			Detect: func(p *format.Probe) (string, bool) {
				return "agent_class + llm_config", p.Has("agent_class", "llm_config") && !p.Has("history")
			},
		},
	}
}

// Report is the verdict OpenHands writes into test_result.report and report. The zero
// value says nothing.
type Report struct {
	Resolved         *bool `json:"resolved"`
	EmptyGeneration  bool  `json:"empty_generation"`
	FailedApplyPatch bool  `json:"failed_apply_patch"`
	ErrorEval        bool  `json:"error_eval"`
	TestTimeout      bool  `json:"test_timeout"`
}

// Verdict returns what the report says; ok is false when it says nothing.
func (r Report) Verdict() (o trajectory.Outcome, detail string, ok bool) {
	switch {
	case r.Resolved != nil && *r.Resolved:
		return trajectory.Pass, "", true
	case r.EmptyGeneration:
		return trajectory.Fail, EmptyPatch, true
	case r.ErrorEval:
		return trajectory.Unknown, HarnessError, true
	case r.TestTimeout:
		return trajectory.Unknown, Timeout, true
	case r.FailedApplyPatch:
		return trajectory.Fail, PatchFailed, true
	case r.Resolved != nil:
		return trajectory.Fail, "", true
	}
	return trajectory.Unknown, "", false
}

func readEvalLine(rec format.Record) ([]format.Item, error) {
	var line struct {
		InstanceID string  `json:"instance_id"`
		Report     *Report `json:"report"`
		TestResult struct {
			Report   *Report `json:"report"`
			GitPatch *string `json:"git_patch"`
		} `json:"test_result"`
	}
	if err := format.Decode(rec.Data, &line); err != nil {
		return nil, err
	}
	e := format.Evidence{Key: line.InstanceID, Rank: format.RankReport, Source: "swebench_eval.jsonl"}
	for _, r := range []*Report{line.TestResult.Report, line.Report} {
		if r == nil {
			continue
		}
		var ok bool
		if e.Outcome, e.Detail, ok = r.Verdict(); ok {
			return one(e), nil
		}
	}
	if p := line.TestResult.GitPatch; p != nil && strings.TrimSpace(*p) == "" {
		e.Outcome, e.Detail = trajectory.Fail, EmptyPatch
		return one(e), nil
	}
	e.Detail = Incomplete
	return one(e), nil
}

func one(e format.Evidence) []format.Item { return []format.Item{{Evidence: &e}} }

func isReport(v format.Value) bool {
	return v.Kind() == '{' && v.Has("resolved") && (v.Has("patch_exists") || v.Has("patch_successfully_applied") || v.Has("tests_status"))
}

type instanceReport struct {
	Resolved     *bool `json:"resolved"`
	PatchIsNone  bool  `json:"patch_is_None"`
	PatchExists  *bool `json:"patch_exists"`
	PatchApplied *bool `json:"patch_successfully_applied"`
	InfraFailure bool  `json:"infra_failure"`
}

func (r instanceReport) verdict() (trajectory.Outcome, string) {
	switch {
	case r.InfraFailure:
		return trajectory.Unknown, Infrastructure
	case r.Resolved == nil:
		return trajectory.Unknown, Incomplete
	case *r.Resolved:
		return trajectory.Pass, ""
	case r.PatchIsNone || r.PatchExists != nil && !*r.PatchExists:
		return trajectory.Fail, EmptyPatch
	case r.PatchApplied != nil && !*r.PatchApplied:
		return trajectory.Fail, PatchFailed
	}
	return trajectory.Fail, ""
}

// readReport reads { instance: report } and, with the instance in the folder's name, a bare
// report.
func readReport(rec format.Record) ([]format.Item, error) {
	reports := map[string]instanceReport{}
	if isReport(rec.Probe.Root) {
		var r instanceReport
		if err := format.Decode(rec.Data, &r); err != nil {
			return nil, err
		}
		id := path.Base(path.Dir(rec.File))
		if id == "." {
			return nil, &format.RecordError{
				Code:    "no_instance_id",
				Message: "a report without an instance id: it is expected in a folder named after the instance",
				Hint:    "give the folder above as the source, or use option labels",
			}
		}
		reports[id] = r
	} else if err := format.Decode(rec.Data, &reports); err != nil {
		return nil, err
	}
	items := make([]format.Item, 0, len(reports))
	for id, r := range reports {
		e := format.Evidence{Key: id, Rank: format.RankReportFile, Source: "report.json"}
		e.Outcome, e.Detail = r.verdict()
		items = append(items, format.Item{Evidence: &e})
	}
	return sorted(items), nil
}

// idList accepts a list of instance ids, or null.
type idList []string

// A claim is what being in a list means. Earlier claims win inside one file.
type claim struct {
	ids     idList
	outcome trajectory.Outcome
	detail  string
}

func claims(source string, list []claim) []format.Item {
	seen := map[string]bool{}
	var items []format.Item
	for _, c := range list {
		for _, id := range c.ids {
			if seen[id] {
				continue
			}
			seen[id] = true
			items = append(items, format.Item{Evidence: &format.Evidence{
				Key: id, Rank: format.RankSummary, Outcome: c.outcome, Source: source, Detail: c.detail,
			}})
		}
	}
	return sorted(items)
}

func readSummary(rec format.Record) ([]format.Item, error) {
	var s struct {
		Resolved   idList `json:"resolved_ids"`
		Infra      idList `json:"infra_failure_ids"`
		Ambiguous  idList `json:"ambiguous_failure_ids"`
		Error      idList `json:"error_ids"`
		Failed     idList `json:"failed_ids"`
		Empty      idList `json:"empty_patch_ids"`
		Unresolved idList `json:"unresolved_ids"`
		Incomplete idList `json:"incomplete_ids"`
		Pending    idList `json:"pending_ids"`
		Unstopped  idList `json:"unstopped_ids"`
	}
	if err := format.Decode(rec.Data, &s); err != nil {
		return nil, err
	}
	return claims("run summary", []claim{
		{s.Resolved, trajectory.Pass, ""},
		{s.Infra, trajectory.Unknown, Infrastructure},
		{s.Ambiguous, trajectory.Unknown, Infrastructure},
		{s.Error, trajectory.Unknown, HarnessError},
		{s.Failed, trajectory.Unknown, HarnessError},
		{s.Empty, trajectory.Fail, EmptyPatch},
		{s.Unresolved, trajectory.Fail, ""},
		{s.Incomplete, trajectory.Unknown, Incomplete},
		{s.Pending, trajectory.Unknown, Incomplete},
		{s.Unstopped, trajectory.Unknown, Incomplete},
	}), nil
}

func readResults(rec format.Record) ([]format.Item, error) {
	var r struct {
		Resolved     idList `json:"resolved"`
		NoGeneration idList `json:"no_generation"`
		InstallFail  idList `json:"install_fail"`
		ResetFailed  idList `json:"reset_failed"`
		TestTimeout  idList `json:"test_timeout"`
		TestErrored  idList `json:"test_errored"`
		NoApply      idList `json:"no_apply"`
		NoLogs       idList `json:"no_logs"`
		Applied      idList `json:"applied"`
		WithLogs     idList `json:"with_logs"`
		Generated    idList `json:"generated"`
	}
	if err := format.Decode(rec.Data, &r); err != nil {
		return nil, err
	}
	return claims("results.json", []claim{
		{r.Resolved, trajectory.Pass, ""},
		{r.InstallFail, trajectory.Unknown, Infrastructure},
		{r.ResetFailed, trajectory.Unknown, Infrastructure},
		{r.TestTimeout, trajectory.Unknown, Timeout},
		{r.TestErrored, trajectory.Unknown, HarnessError},
		{r.NoGeneration, trajectory.Fail, EmptyPatch},
		{r.NoApply, trajectory.Fail, PatchFailed},
		{r.NoLogs, trajectory.Unknown, Incomplete},
		{r.Applied, trajectory.Fail, ""},
		{r.WithLogs, trajectory.Fail, ""},
		{r.Generated, trajectory.Fail, ""},
	}), nil
}

func sorted(items []format.Item) []format.Item {
	slices.SortFunc(items, func(a, b format.Item) int { return strings.Compare(a.Evidence.Key, b.Evidence.Key) })
	return items
}

// first returns the first byte that is no blank, 0 when there is none.
func first(data []byte) byte {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 {
		return 0
	}
	return data[0]
}

package outcome

import (
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Line is what a run's line in OpenHands' output.jsonl says about its outcome (formats
// sections 5.3 and 10).
type Line struct {
	Error      lenientjson.Text            `json:"error"`
	Report     lenientjson.Of[LooseReport] `json:"report"`
	TestResult lenientjson.Of[struct {
		GitPatch lenientjson.OptText         `json:"git_patch"`
		Report   lenientjson.Of[LooseReport] `json:"report"`
		Resolved lenientjson.Flag            `json:"resolved"`
	}] `json:"test_result"`
}

// Evidence returns what the line says: its report, else an error of the platform, else an
// empty patch, in its results or among the others given. The judgement of OpenHands' issue
// resolver is no evidence. The key and the rank are the caller's; ok is false when the line
// says nothing.
func (l *Line) Evidence(others ...lenientjson.OptText) (e format.Evidence, ok bool) {
	result := &l.TestResult.V
	for _, from := range [...]struct {
		name   string
		report LooseReport
	}{
		{"test_result.report", result.Report.V},
		{"report", l.Report.V},
		{"test_result", LooseReport{Resolved: result.Resolved}},
	} {
		if verdict, detail, ok := from.report.Verdict(); ok {
			return format.Evidence{Outcome: verdict, Detail: detail, Source: from.name}, true
		}
	}
	if BrokenOff(string(l.Error)) {
		return format.Evidence{Outcome: trajectory.Unknown, Detail: Infrastructure, Source: "error"}, true
	}
	for _, patch := range append([]lenientjson.OptText{result.GitPatch}, others...) {
		if patch.Valid && strings.TrimSpace(string(patch.Value)) == "" {
			return format.Evidence{Outcome: trajectory.Fail, Detail: EmptyPatch, Source: "git_patch"}, true
		}
	}
	return format.Evidence{}, false
}

// LooseReport is a [Report] in which a member of another type is absent.
type LooseReport struct {
	Resolved         lenientjson.Flag `json:"resolved"`
	EmptyGeneration  lenientjson.Flag `json:"empty_generation"`
	FailedApplyPatch lenientjson.Flag `json:"failed_apply_patch"`
	ErrorEval        lenientjson.Flag `json:"error_eval"`
	TestTimeout      lenientjson.Flag `json:"test_timeout"`
}

// Verdict returns what the report says; ok is false when it says nothing.
func (r LooseReport) Verdict() (o trajectory.Outcome, detail string, ok bool) {
	report := Report{
		EmptyGeneration:  r.EmptyGeneration.Is(),
		FailedApplyPatch: r.FailedApplyPatch.Is(),
		ErrorEval:        r.ErrorEval.Is(),
		TestTimeout:      r.TestTimeout.Is(),
	}
	if r.Resolved.Valid {
		report.Resolved = &r.Resolved.Value
	}
	return report.Verdict()
}

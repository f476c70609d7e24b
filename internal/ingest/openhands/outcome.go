package openhands

import (
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/outcome"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// infrastructure is the detail of a run that the platform, not the agent, broke off.
const infrastructure = "infrastructure"

// report is the verdict an evaluation writes into its lines.
type report struct {
	Resolved         flag `json:"resolved"`
	EmptyGeneration  flag `json:"empty_generation"`
	FailedApplyPatch flag `json:"failed_apply_patch"`
	ErrorEval        flag `json:"error_eval"`
	TestTimeout      flag `json:"test_timeout"`
}

func (r *report) verdict() (o trajectory.Outcome, detail string, ok bool) {
	v := outcome.Report{
		EmptyGeneration:  r.EmptyGeneration.is(),
		FailedApplyPatch: r.FailedApplyPatch.is(),
		ErrorEval:        r.ErrorEval.is(),
		TestTimeout:      r.TestTimeout.is(),
	}
	if r.Resolved.valid {
		v.Resolved = &r.Resolved.value
	}
	return v.Verdict()
}

type result struct {
	GitPatch optText         `json:"git_patch"`
	Report   lenient[report] `json:"report"`
	Resolved flag            `json:"resolved"`
}

// evidence returns what a line says about its outcome: its report, else an error of the
// platform, else an empty patch. The resolver's own judgement is no evidence.
func (o *output) evidence() (format.Evidence, bool) {
	result := &o.TestResult.V
	for _, from := range [...]struct {
		name   string
		report report
	}{
		{"test_result.report", result.Report.V},
		{"report", o.Report.V},
		{"test_result", report{Resolved: result.Resolved}},
	} {
		if verdict, detail, ok := from.report.verdict(); ok {
			return format.Evidence{Outcome: verdict, Detail: detail, Source: from.name}, true
		}
	}
	if outcome.BrokenOff(string(o.Error)) {
		return format.Evidence{Outcome: trajectory.Unknown, Detail: infrastructure, Source: "error"}, true
	}
	for _, patch := range [...]optText{result.GitPatch, o.GitPatch} {
		if patch.valid && strings.TrimSpace(string(patch.value)) == "" {
			return format.Evidence{Outcome: trajectory.Fail, Detail: outcome.EmptyPatch, Source: "git_patch"}, true
		}
	}
	return format.Evidence{}, false
}

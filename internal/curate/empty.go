package curate

import (
	"errors"
	"fmt"
	"strings"
)

// ErrEmpty marks a set that no run is left for.
var ErrEmpty = errors.New("nothing is left")

// nothingLeft says which rule took the last runs and how to keep them.
func (c *curation) nothingLeft() error {
	var last Stage
	for _, s := range c.sel.funnel {
		if s.In > 0 && s.Out == 0 {
			last = s
		}
	}
	if last.In == 0 {
		return fmt.Errorf("%w: the dataset has no runs", ErrEmpty)
	}
	most := last.Reasons[0]
	var left []string
	for i, r := range last.Reasons {
		if r.Runs > most.Runs {
			most = r
		}
		switch {
		case i > 0:
			left = append(left, fmt.Sprintf("%d as %s", r.Runs, r.Code))
		case r.Runs == 1:
			left = append(left, "1 run was left out as "+r.Code)
		default:
			left = append(left, fmt.Sprintf("%d runs were left out as %s", r.Runs, r.Code))
		}
	}
	way := wayOut(most.Code)
	if way == "" {
		for _, x := range c.runs {
			if x.reason == most.Code {
				way = fmt.Sprintf("the first is %s: %s", x.id, x.detail)
				break
			}
		}
	}
	return fmt.Errorf("%w: %s; %s", ErrEmpty, strings.Join(left, ", "), way)
}

// wayOut says which rule keeps the runs that a reason left out, "" where no rule does.
func wayOut(reason string) string {
	switch reason {
	case "no_finish", "partner_no_finish":
		return "option finish any takes logs that do not say that the agent ended the run"
	case "unverified":
		return "without option verified runs are taken that test and run nothing after their last edit"
	case "waste":
		return "a greater option max-waste takes runs that wasted more"
	case "no_waste", "no_tier", "no_score", "no_reference":
		return "option profile names another profile, which may have judged them"
	case "category":
		return "option categories names those to take"
	case "score_low":
		return "a lower option min-score takes them"
	case "score_high":
		return "a higher option max-score takes them"
	case "too_many_steps":
		return "a greater option max-steps takes them"
	case "too_many_tokens":
		return "a greater option max-tokens takes them"
	case "model_not_selected":
		return "`agentlens query DIR \"SELECT DISTINCT model FROM trajectories\"` lists the names for `--models`"
	case "task_not_selected":
		return "`agentlens query DIR \"SELECT task_id FROM tasks\"` lists the names for `--tasks`"
	case "no_pair":
		return "pairs need tasks with a lucky pass beside a clean one"
	case "donor_in_eval":
		return "a smaller option eval-share or another option salt puts other tasks into the evaluation split"
	case "not_in_source", "source_differs":
		return "name the SOURCE that the dataset was built from"
	}
	switch {
	case strings.HasPrefix(reason, "tier_"):
		return "option tiers names those to take"
	case strings.HasPrefix(reason, "outcome_"):
		return "option outcome names those to take"
	}
	return ""
}

// unchecked says what a dry run can't know, "" when it knows all.
func (r *Rules) unchecked() string {
	switch {
	case needsTexts(r.Target) && r.Finish == "required":
		return "a dry run reads no logs: what is valid is known when the set is made; runs whose log does not say that the agent ended them are left out then, unless option finish any"
	case needsTexts(r.Target):
		return "a dry run reads no logs: what is valid is known when the set is made"
	case r.Target == "rewards":
		return "a dry run looks at no steps: runs that the profile did not align are left out when the set is made"
	}
	return ""
}

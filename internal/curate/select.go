package curate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Stage is one line of the funnel.
type Stage struct {
	Name    string   `json:"stage"`
	In      int      `json:"in"`
	Reasons []Reason `json:"rejected"`
	Out     int      `json:"out"`
}

// Reason counts the runs that were left out by one rule.
type Reason struct {
	Code string `json:"reason"`
	Runs int    `json:"runs"`
}

// selection is the runs in work and the funnel so far.
type selection struct {
	rules  *Rules
	left   []*run // sorted by task and id
	funnel []Stage
}

// stage drops the runs that were given a reason and adds a line to the funnel.
func (s *selection) stage(name string) {
	st := Stage{Name: name, In: len(s.left), Reasons: []Reason{}}
	counts := map[string]int{}
	s.left = slices.DeleteFunc(s.left, func(x *run) bool {
		if x.reason != "" {
			counts[x.reason]++
		}
		return x.reason != ""
	})
	for code, n := range counts {
		st.Reasons = append(st.Reasons, Reason{code, n})
	}
	slices.SortFunc(st.Reasons, func(a, b Reason) int { return strings.Compare(a.Code, b.Code) })
	st.Out = len(s.left)
	s.funnel = append(s.funnel, st)
}

// each gives every run that is left the reason that reject returns, "" for none.
func (s *selection) each(name string, reject func(*run) (reason, detail string)) {
	for _, x := range s.left {
		x.reason, x.detail = reject(x)
	}
	s.stage(name)
}

// filter applies every rule that looks at one run, and duplicates.
func (s *selection) filter(list map[string]bool, sequences map[string][]uint64) {
	r := s.rules
	s.stage("raw")
	s.each("selected", func(x *run) (string, string) {
		switch {
		case len(r.Models) > 0 && !slices.Contains(r.Models, x.model):
			return "model_not_selected", x.model
		case len(r.Tasks) > 0 && !slices.Contains(r.Tasks, x.task):
			return "task_not_selected", x.task
		case slices.Contains(r.ExcludeTasks, x.task):
			return "task_excluded", x.task
		case list[strings.ToLower(x.task)]:
			return "contaminated", "task " + x.task
		case x.repo != "" && list[strings.ToLower(x.repo)]:
			return "contaminated", "repository " + x.repo
		}
		return "", ""
	})
	if r.Dedup > 0 {
		s.deduplicate(sequences)
	}
	s.stage("deduplicated")
	s.each("labelled", func(x *run) (string, string) {
		switch {
		case x.steps == 0:
			return "no_steps", ""
		case len(r.Tiers)+len(r.Categories) > 0 && x.tier == "":
			return "no_tier", x.unjudged
		case x.score == nil && (r.MinScore != nil || r.MaxScore != nil || r.Strategy == "top"):
			return "no_score", x.unjudged
		}
		return "", ""
	})
	s.each("outcome", func(x *run) (string, string) {
		if len(r.Outcome) > 0 && !slices.Contains(r.Outcome, x.outcome) {
			return "outcome_" + x.outcome, ""
		}
		return "", ""
	})
	s.each("tier", func(x *run) (string, string) {
		switch {
		case len(r.Tiers) > 0 && !slices.Contains(r.Tiers, x.tier):
			return "tier_" + x.tier, ""
		case r.Target == "pairs" && x.tier == "lucky":
			return "tier_lucky", ""
		case len(r.Categories) > 0 && x.tier == "lucky" && !slices.Contains(r.Categories, x.category):
			return "category", x.category
		case r.MinScore != nil && *x.score < *r.MinScore:
			return "score_low", fmt.Sprint(*x.score)
		case r.MaxScore != nil && *x.score > *r.MaxScore:
			return "score_high", fmt.Sprint(*x.score)
		}
		return "", ""
	})
	s.each("waste", func(x *run) (string, string) {
		switch {
		case r.MaxWaste == nil:
		case x.waste == nil:
			return "no_waste", "the profile did not judge the run"
		case *x.waste >= *r.MaxWaste && *x.waste > 0:
			return "waste", fmt.Sprint(*x.waste)
		}
		return "", ""
	})
	s.each("verified", func(x *run) (string, string) {
		if r.Verified && !x.verified {
			return "unverified", ""
		}
		return "", ""
	})
	s.each("size", func(x *run) (string, string) {
		switch {
		case r.MaxSteps > 0 && x.steps > r.MaxSteps:
			return "too_many_steps", fmt.Sprint(x.steps)
		case r.MaxTokens > 0 && x.tokens > r.MaxTokens:
			return "too_many_tokens", fmt.Sprint(x.tokens)
		}
		return "", ""
	})
}

// better orders runs by who is kept: those with a score first, by score, then by id.
func better(a, b *run) int {
	switch {
	case a.score != nil && b.score != nil:
		if c := cmp.Compare(*b.score, *a.score); c != 0 {
			return c
		}
	case a.score != nil:
		return -1
	case b.score != nil:
		return 1
	}
	return strings.Compare(a.id, b.id)
}

// byPreference is the runs that are left, those to keep first: at random with strategy
// random, else by score.
func (s *selection) byPreference() []*run {
	out := slices.Clone(s.left)
	if s.rules.Strategy == "random" {
		slices.SortFunc(out, func(a, b *run) int {
			return cmp.Or(cmp.Compare(order(s.rules.Salt, a.id), order(s.rules.Salt, b.id)), strings.Compare(a.id, b.id))
		})
		return out
	}
	slices.SortFunc(out, better)
	return out
}

// deduplicate keeps one of the runs of a task that do the same: a pass before others, then
// the one with the higher score.
func (s *selection) deduplicate(sequences map[string][]uint64) {
	for start, end := 0, 0; start < len(s.left); start = end {
		for end = start; end < len(s.left) && s.left[end].task == s.left[start].task; end++ {
		}
		ordered := slices.Clone(s.left[start:end])
		slices.SortFunc(ordered, func(a, b *run) int {
			if p, q := a.outcome == "pass", b.outcome == "pass"; p != q {
				if p {
					return -1
				}
				return 1
			}
			return better(a, b)
		})
		same := map[[32]byte]*run{}
		type kept struct {
			run  *run
			sets map[[3]uint64]bool
		}
		var keep []kept
		for _, x := range ordered {
			seq := sequences[x.id]
			if len(seq) == 0 {
				continue
			}
			bytes := make([]byte, 0, 8*len(seq))
			for _, a := range seq {
				bytes = binary.LittleEndian.AppendUint64(bytes, a)
			}
			sum := sha256.Sum256(bytes)
			if first := same[sum]; first != nil {
				x.reason, x.detail = "duplicate", first.id
				continue
			}
			same[sum] = x
			if s.rules.Dedup == 1 {
				continue
			}
			sets := shingles(seq)
			for _, k := range keep {
				if similarity(sets, k.sets) >= s.rules.Dedup {
					x.reason, x.detail = "near_duplicate", k.run.id
					break
				}
			}
			if x.reason == "" {
				keep = append(keep, kept{x, sets})
			}
		}
	}
}

// cap applies the strategy, the caps and the balance.
func (s *selection) cap() {
	r := s.rules
	if r.K > 0 {
		for i, x := range s.byPreference() {
			if i >= r.K {
				x.reason = "not_" + map[string]string{"top": "top", "random": "drawn"}[r.Strategy]
			}
		}
	}
	s.stage("strategy")
	perTask, perModel := map[string]int{}, map[string]int{}
	for _, x := range s.byPreference() {
		switch {
		case r.PerTask > 0 && perTask[x.task] >= r.PerTask:
			x.reason = "task_cap"
		case r.PerModel > 0 && perModel[x.model] >= r.PerModel:
			x.reason = "model_cap"
		default:
			perTask[x.task]++
			perModel[x.model]++
		}
	}
	s.stage("caps")
	if r.Balance != "" {
		group := func(x *run) string {
			if r.Balance == "task" {
				return x.task
			}
			return x.model
		}
		size := map[string]int{}
		for _, x := range s.left {
			size[group(x)]++
		}
		smallest := len(s.left)
		for _, n := range size {
			smallest = min(smallest, n)
		}
		clear(size)
		for _, x := range s.byPreference() {
			if size[group(x)]++; size[group(x)] > smallest {
				x.reason = "balance"
			}
		}
	}
	s.stage("balanced")
}

// evaluation reports whether a run's task is in the evaluation split.
func (r *Rules) evaluation(x *run) bool { return r.Eval > 0 && share(r.Salt, x.task) < r.Eval }

// split keeps donors out of the evaluation split.
func (s *selection) split() {
	s.each("splits", func(x *run) (string, string) {
		if x.donor && s.rules.evaluation(x) {
			return "donor_in_eval", "its own reference would judge the model"
		}
		return "", ""
	})
}

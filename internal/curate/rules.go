package curate

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Published is the profile of the values that the release published.
const Published = "published"

// Targets are the forms of a training set.
func Targets() []string {
	return []string{"chat", "sharegpt", "messages", "pairs", "rewards", "curriculum", "ids"}
}

// Rules say which runs are taken, and in which form. The zero value of a rule does not apply.
type Rules struct {
	Target  string `toml:"target"`
	Profile string `toml:"profile"` // a profile, or published: where tiers and waste come from

	Models        []string `toml:"models"`
	Tasks         []string `toml:"tasks"`
	ExcludeTasks  []string `toml:"exclude_tasks"`
	Decontaminate string   `toml:"decontaminate"` // file of task ids or repositories, one a line
	Dedup         float64  `toml:"dedup"`         // runs of a task whose actions are at least this similar are one; 1 is the same sequence

	Outcome    []string `toml:"outcome"`
	Tiers      []string `toml:"tiers"`
	Categories []string `toml:"categories"` // of runs with tier lucky
	Score      string   `toml:"score"`      // column
	MinScore   *float64 `toml:"min_score"`
	MaxScore   *float64 `toml:"max_score"`
	MaxWaste   *float64 `toml:"max_waste"` // wasted share of the steps
	Verified   bool     `toml:"verified"`  // a test or run after the last edit
	MaxSteps   int64    `toml:"max_steps"`
	MaxTokens  int64    `toml:"max_tokens"` // input and output

	Strategy string `toml:"strategy"` // random or top: which K of the runs that are left
	K        int    `toml:"k"`
	PerTask  int    `toml:"per_task"`
	PerModel int    `toml:"per_model"`
	Balance  string `toml:"balance"` // task or model: as many runs of each as of the one with the fewest

	Salt string  `toml:"salt"`       // of every choice by hash
	Eval float64 `toml:"eval_share"` // share of the tasks in the evaluation split

	Finish    string `toml:"finish"`     // required or any: whether the log has to end the run
	DropWaste bool   `toml:"drop_waste"` // leave out wasted reads and searches
	Order     string `toml:"order"`      // of a curriculum: quality or divergence

	RewardAligned float64 `toml:"reward_aligned"` // of a step aligned with the reference
	RewardWasted  float64 `toml:"reward_wasted"`  // of a wasted step
	RewardOutcome float64 `toml:"reward_outcome"` // added to the last step of a pass, subtracted from that of a fail

	source   source
	verifies profile.Profile // the first profile that says whether a run verified its last edit, nil for none
}

// source says in which columns a profile has what the rules ask for; "" for what it has not.
type source struct {
	profile                  string // of the tables, "" for those that are nobody's
	score, waste             string
	tier, category, unjudged string
	coherence, divergence    string
}

func publishedSource() source {
	return source{
		score: "published.quality_score", waste: "published.waste_severity", tier: "published.quality_tier",
		coherence: "published.coherence_score", divergence: "published.divergence_fraction",
	}
}

func sourceOf(built bench.Parameters, name string) (source, error) {
	of, err := built.Profile(name)
	if err != nil {
		return source{}, err
	}
	return source{
		profile: name, score: of.Score().Name(), waste: of.Capabilities().WastedShare,
		tier: "tiers.tier", category: "tiers.category", unjudged: "tiers.reason",
		coherence: "features.coherence_score", divergence: "features.divergence_fraction",
	}, nil
}

// DefaultRules take all passing runs, as OpenAI chat.
func DefaultRules() Rules {
	return Rules{
		Target: "chat", Outcome: []string{"pass"}, Salt: "agentlens", Finish: "required", Order: "quality",
		RewardAligned: 1, RewardWasted: -1,
	}
}

// ReadRules reads a TOML file over the default rules. Unknown keys are an error.
func ReadRules(ctx context.Context, path string) (Rules, error) {
	r := DefaultRules()
	f, err := sidefile.Read(ctx, path)
	if err != nil {
		return r, usage.Errorf("", "rules file: %w", err)
	}
	meta, err := toml.NewDecoder(f.Reader()).Decode(&r)
	if err != nil {
		return r, usage.Errorf("", "rules file %s: %w", path, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return r, usage.Errorf("", "rules file %s: unknown rule %q", path, unknown[0])
	}
	return r, nil
}

func (r *Rules) write(w io.Writer) error { return toml.NewEncoder(w).Encode(r) }

// complete fills in what follows from other rules, and checks the rest.
func (r *Rules) complete(built bench.Parameters) error {
	profiles := built.Profiles
	if r.Profile == "" {
		switch {
		case strings.HasPrefix(r.Score, Published+"."):
			r.Profile = Published
		case len(profiles) == 0:
			return usage.Errorf("", "the dataset has no profile")
		default:
			r.Profile = registry.Default(profiles)
		}
	}
	all, err := built.With()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(all, func(p profile.Profile) bool { return p.Capabilities().Verified != "" }); i >= 0 {
		r.verifies = all[i]
	}
	var of source
	switch {
	case r.Profile == Published:
		of = publishedSource()
	case slices.Contains(profiles, r.Profile):
		if of, err = sourceOf(built, r.Profile); err != nil {
			return err
		}
	default:
		return usage.Errorf("", "profile %q: the dataset has %s, and %s for the values of the release", r.Profile, strings.Join(profiles, ", "), Published)
	}
	if r.Score == "" {
		r.Score = of.score
	}
	r.source = of
	for _, c := range []struct {
		rule  string
		have  []string
		known []string
	}{
		{"target", []string{r.Target}, Targets()},
		{"outcome", r.Outcome, []string{"pass", "fail", "unknown"}},
		{"tiers", r.Tiers, []string{"ideal", "solid", "lucky", "partial_fail", "off_track"}},
		{"categories", r.Categories, []string{"C1", "C2", "C3", "C4", "C5"}},
		{"strategy", []string{r.Strategy}, []string{"", "random", "top"}},
		{"balance", []string{r.Balance}, []string{"", "task", "model"}},
		{"finish", []string{r.Finish}, []string{"required", "any"}},
		{"order", []string{r.Order}, []string{"quality", "divergence"}},
	} {
		for _, v := range c.have {
			if !slices.Contains(c.known, v) {
				return usage.Errorf("", "%s %q: want %s", c.rule, v, strings.Join(slices.DeleteFunc(c.known, func(s string) bool { return s == "" }), ", "))
			}
		}
	}
	switch {
	case r.Dedup < 0 || r.Dedup > 1 || math.IsNaN(r.Dedup):
		return usage.Errorf("", "dedup %v: want a similarity above 0, up to 1 for the same actions", r.Dedup)
	case r.Eval < 0 || r.Eval >= 1 || math.IsNaN(r.Eval):
		return usage.Errorf("", "eval_share %v: want 0 for no evaluation split, or less than 1", r.Eval)
	case min(r.K, r.PerTask, r.PerModel) < 0 || min(r.MaxSteps, r.MaxTokens) < 0:
		return usage.Errorf("", "k, per_task, per_model, max_steps and max_tokens are 0 for no limit, or more")
	case r.Strategy == "top" && r.K == 0, r.Strategy == "" && r.K > 0:
		return usage.Errorf("", "strategy top needs k, and k needs a strategy")
	case r.MaxWaste != nil && of.waste == "":
		return usage.Errorf("", "profile %s finds no waste; take waste from another profile", r.Profile)
	case (r.DropWaste || r.Target == "rewards") && (of.waste == "" || r.Profile == Published):
		return usage.Errorf("", "profile %s has no wasted spans; choose %s", r.Profile,
			strings.Join(registry.Having(func(c profile.Capabilities) bool { return c.WastedShare != "" }), " or "))
	case r.Target == "pairs" && slices.Contains(r.Tiers, "lucky"):
		return usage.Errorf("", "pairs set clean runs against lucky ones, so tiers cannot have lucky")
	}
	return nil
}

// readList reads the tasks and repositories of a decontamination file: one a line, # begins
// a comment. It returns the file's SHA-256 in hex, too.
func readList(ctx context.Context, path string) (list map[string]bool, digest string, err error) {
	f, err := sidefile.Read(ctx, path)
	if err != nil {
		return nil, "", usage.Errorf("", "decontamination list: %w", err)
	}
	list = map[string]bool{}
	for line := range strings.Lines(string(f.Data)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.ToLower(strings.TrimSpace(line)); line != "" {
			list[line] = true
		}
	}
	if len(list) == 0 {
		return nil, "", usage.Errorf("", "decontamination list %s is empty; want task ids or owner/name of repositories, one a line", path)
	}
	return list, f.SHA256, nil
}

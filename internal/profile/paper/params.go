package paper

import (
	"cmp"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Weights of Eq. 1, each 0 to 1. They add up to 1.
type Weights struct {
	Struct float64 `toml:"struct" json:"struct"`
	Cov    float64 `toml:"cov" json:"cov"`
	Coh    float64 `toml:"coh" json:"coh"`
	Temp   float64 `toml:"temp" json:"temp"`
}

// Cuts on f, 0-100.
type Cuts struct {
	Ideal       float64 `toml:"ideal" json:"ideal"`               // passing runs at or above
	Solid       float64 `toml:"solid" json:"solid"`               // passing runs at or above; lucky below
	PartialFail float64 `toml:"partial_fail" json:"partial_fail"` // failing runs at or above; off track below
}

// Params of the profile.
type Params struct {
	// References per run.
	K int `toml:"k" json:"k"`

	// Labels to use, release or clean.
	Labels steps.LabelSet `toml:"labels" json:"labels" flag:"paper-labels" usage:"stage labels to use, release or clean"`

	Weights Weights `toml:"weights" json:"weights"`
	Cuts    Cuts    `toml:"cuts" json:"cuts"`

	// Reference draws behind the mean score and the tier; 0 for none.
	Draws int `toml:"draws" json:"draws" flag:"draws" usage:"score against this many draws of references too, and tier by their mean"`

	// Limit references to other models while there are any.
	OtherModels bool `toml:"other_models" json:"other_models"`
}

// DefaultParams returns the published weights and cuts, five references, stored labels, no
// draws.
func DefaultParams() Params {
	return Params{
		K:       5,
		Labels:  steps.Release,
		Weights: Weights{Struct: 0.20, Cov: 0.15, Coh: 0.30, Temp: 0.35},
		Cuts:    Cuts{Ideal: 70, Solid: 47, PartialFail: 47},
	}
}

// Validate names the first key whose value can't be used.
func (p Params) Validate() error {
	if p.Labels != steps.Release && p.Labels != steps.Clean {
		return usage.Errorf("", "paper profile: labels is %q, want %q or %q", p.Labels, steps.Release, steps.Clean)
	}
	w, c := p.Weights, p.Cuts
	err := cmp.Or(
		profile.CheckCount("paper", "k", p.K, profile.MinReferences, profile.MaxReferences),
		profile.CheckCount("paper", "draws", p.Draws, 0, profile.MaxDraws),
		profile.CheckWeights("paper", profile.Parameter{Key: "weights.struct", Value: w.Struct}, profile.Parameter{Key: "weights.cov", Value: w.Cov},
			profile.Parameter{Key: "weights.coh", Value: w.Coh}, profile.Parameter{Key: "weights.temp", Value: w.Temp}),
		profile.CheckCuts("paper", profile.Parameter{Key: "cuts.ideal", Value: c.Ideal}, profile.Parameter{Key: "cuts.solid", Value: c.Solid},
			profile.Parameter{Key: "cuts.partial_fail", Value: c.PartialFail}))
	if err == nil && c.Solid > c.Ideal {
		err = usage.Errorf("", "paper profile: cuts.solid is %v, want at most cuts.ideal, %v", c.Solid, c.Ideal)
	}
	return err
}

package paper

import (
	"fmt"
	"math"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
)

// Weights of Eq. 1. They need not add up to 1.
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
	switch {
	case p.K < profile.MinReferences:
		return fmt.Errorf("paper profile: k is %d, want at least %d", p.K, profile.MinReferences)
	case p.Labels != steps.Release && p.Labels != steps.Clean:
		return fmt.Errorf("paper profile: labels is %q, want %q or %q", p.Labels, steps.Release, steps.Clean)
	case p.Draws < 0:
		return fmt.Errorf("paper profile: draws is %d, want 0 for none, or a number of draws such as 12", p.Draws)
	}
	sum := 0.0
	for _, w := range []struct {
		key   string
		value float64
	}{{"struct", p.Weights.Struct}, {"cov", p.Weights.Cov}, {"coh", p.Weights.Coh}, {"temp", p.Weights.Temp}} {
		if !(w.value >= 0) || math.IsInf(w.value, 1) {
			return fmt.Errorf("paper profile: weights.%s is %v, want a number of at least 0", w.key, w.value)
		}
		sum += w.value
	}
	if sum == 0 {
		return fmt.Errorf("paper profile: all weights are 0, want at least one above")
	}
	for _, c := range []struct {
		key   string
		value float64
	}{{"ideal", p.Cuts.Ideal}, {"solid", p.Cuts.Solid}, {"partial_fail", p.Cuts.PartialFail}} {
		if !(c.value >= 0 && c.value <= 100) {
			return fmt.Errorf("paper profile: cuts.%s is %v, want a score from 0 to 100", c.key, c.value)
		}
	}
	if p.Cuts.Solid > p.Cuts.Ideal {
		return fmt.Errorf("paper profile: cuts.solid is %v, want at most cuts.ideal, %v", p.Cuts.Solid, p.Cuts.Ideal)
	}
	return nil
}

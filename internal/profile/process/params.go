package process

import (
	"cmp"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Weights of the score's parts, each 0 to 1. They add up to 1.
type Weights struct {
	A float64 `toml:"a" json:"a"`
	F float64 `toml:"f" json:"f"`
	V float64 `toml:"v" json:"v"`
}

// Cuts on the score, 0-100.
type Cuts struct {
	Ideal      float64 `toml:"ideal" json:"ideal"`           // passing runs at or above
	Low        float64 `toml:"low" json:"low"`               // passing runs below are lucky, failing ones off track
	Borderline float64 `toml:"borderline" json:"borderline"` // a score less than this far from a cut that applies is borderline
}

// Params of the profile.
type Params struct {
	K       int     `toml:"k" json:"k"` // references the expectation is over
	Weights Weights `toml:"weights" json:"weights"`
	Cuts    Cuts    `toml:"cuts" json:"cuts"`
}

// DefaultParams returns the published weights and the cuts calibrated on the release.
func DefaultParams() Params {
	return Params{
		K:       5,
		Weights: Weights{A: 0.55, F: 0.25, V: 0.20},
		Cuts:    Cuts{Ideal: 68.1, Low: 41.8, Borderline: 4},
	}
}

// Validate names the first key whose value can't be used.
func (p Params) Validate() error {
	w, c := p.Weights, p.Cuts
	err := cmp.Or(
		profile.CheckCount("process", "k", p.K, 1, profile.MaxReferences),
		profile.CheckWeights("process", profile.Parameter{Key: "weights.a", Value: w.A}, profile.Parameter{Key: "weights.f", Value: w.F},
			profile.Parameter{Key: "weights.v", Value: w.V}),
		profile.CheckCuts("process", profile.Parameter{Key: "cuts.ideal", Value: c.Ideal}, profile.Parameter{Key: "cuts.low", Value: c.Low},
			profile.Parameter{Key: "cuts.borderline", Value: c.Borderline}))
	if err == nil && c.Low > c.Ideal {
		err = usage.Errorf("", "process profile: cuts.low is %v, want at most cuts.ideal, %v", c.Low, c.Ideal)
	}
	return err
}

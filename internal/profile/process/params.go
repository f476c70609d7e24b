package process

import (
	"fmt"
	"math"
)

// Weights of the score's parts. They need not add up to 1.
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
	if p.K < 1 {
		return fmt.Errorf("process profile: k is %d, want at least 1", p.K)
	}
	sum := 0.0
	for _, w := range []struct {
		key   string
		value float64
	}{{"a", p.Weights.A}, {"f", p.Weights.F}, {"v", p.Weights.V}} {
		if !(w.value >= 0) || math.IsInf(w.value, 1) {
			return fmt.Errorf("process profile: weights.%s is %v, want a number of at least 0", w.key, w.value)
		}
		sum += w.value
	}
	if sum == 0 {
		return fmt.Errorf("process profile: all weights are 0, want at least one above")
	}
	for _, c := range []struct {
		key   string
		value float64
	}{{"ideal", p.Cuts.Ideal}, {"low", p.Cuts.Low}, {"borderline", p.Cuts.Borderline}} {
		if !(c.value >= 0 && c.value <= 100) {
			return fmt.Errorf("process profile: cuts.%s is %v, want a number from 0 to 100", c.key, c.value)
		}
	}
	if p.Cuts.Low > p.Cuts.Ideal {
		return fmt.Errorf("process profile: cuts.low is %v, want at most cuts.ideal, %v", p.Cuts.Low, p.Cuts.Ideal)
	}
	return nil
}

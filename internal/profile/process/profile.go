package process

import (
	"context"
	"reflect"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/schema"
)

// Name of the profile.
const Name = "process"

// Profile is the method with parameters.
type Profile struct{ params Params }

// New returns the profile with the default parameters.
func New() *Profile { return With(DefaultParams()) }

// With returns the profile with these parameters.
func With(p Params) *Profile { return &Profile{p} }

// Name implements profile.Profile.
func (*Profile) Name() string { return Name }

// About implements profile.Profile.
func (*Profile) About() string { return "`process` never sees the run's own outcome." }

// Signals implements profile.Profile.
func (*Profile) Signals() reflect.Type { return reflect.TypeFor[schema.SignalsProcess]() }

// Score implements profile.Profile.
func (p *Profile) Score() profile.Score {
	c := p.params.Cuts
	return profile.Score{Table: "signals", Column: "process_score", Cuts: taxonomy.Cuts{Ideal: c.Ideal, Solid: c.Low, PartialFail: c.Low}}
}

// Capabilities implements profile.Profile.
func (*Profile) Capabilities() profile.Capabilities {
	return profile.Capabilities{References: true, Labels: "stages_clean", Verified: "V"}
}

// Params implements profile.Profile.
func (p *Profile) Params() any { return &p.params }

// Validate implements profile.Profile.
func (p *Profile) Validate() error { return p.params.Validate() }

// Assess implements profile.Profile.
func (p *Profile) Assess(ctx context.Context, task *profile.Task, _ profile.Plan, emit profile.Emitter) error {
	t, err := steps.Of(ctx, task)
	if err != nil {
		return err
	}
	return AssessSteps(ctx, t, p.params, emit)
}

// Terms implements profile.Weighted.
func (p *Profile) Terms() ([]profile.Term, float64) {
	w := p.params.Weights
	return []profile.Term{
		{Signal: "A", Name: "followed steps (A)", Unit: 1, Weight: w.A},
		{Signal: "F", Name: "edited files (F)", Unit: 1, Weight: w.F},
		{Signal: "V", Name: "verified after (V)", Unit: 1, Weight: w.V},
		{Signal: "S", Name: "added text (S)", Unit: 1, Shown: true},
	}, 100
}

// Reweighted implements profile.Weighted.
func (p *Profile) Reweighted(weights map[string]float64, low, ideal float64) profile.Weighted {
	out := p.params
	out.Weights = Weights{A: weights["A"], F: weights["F"], V: weights["V"]}
	out.Cuts.Ideal, out.Cuts.Low = ideal, low
	return With(out)
}

// parts are nil where a signal is.
func (p *Profile) parts(s *schema.SignalsProcess) []profile.Part {
	if s.A == nil || s.F == nil {
		return nil
	}
	terms, scale := p.Terms()
	return profile.Parts(terms, scale, *s.A, *s.F, s.V)
}

// Explain implements profile.Profile.
func (p *Profile) Explain(signals any, _ *schema.Features) profile.Explanation {
	s := signals.(*schema.SignalsProcess)
	out := profile.Explanation{Parts: p.parts(s)}
	if s.Flags != nil {
		out.Notes = strings.Split(*s.Flags, ",")
	}
	if s.PTAID != nil {
		out.Reference = &profile.Reference{ID: *s.PTAID, Few: s.PoolSize < smallPool}
	}
	return out
}

// Check implements profile.Profile.
func (p *Profile) Check(signals any, f *schema.Features, tier schema.Tier) []string {
	s := signals.(*schema.SignalsProcess)
	if s.ProcessScore == nil {
		return []string{"a scored run has a process_score"}
	}
	return append(profile.CheckSum("process_score", *s.ProcessScore, p.parts(s)), profile.CheckTier(p.Score(), *s.ProcessScore, f, tier)...)
}

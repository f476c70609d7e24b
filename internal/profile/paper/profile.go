package paper

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/schema"
)

// Name of the profile.
const Name = "paper"

// Profile is the paper's method with parameters.
type Profile struct{ params Params }

// New returns the profile with the default parameters.
func New() *Profile { return With(DefaultParams()) }

// With returns the profile with these parameters.
func With(p Params) *Profile { return &Profile{p} }

// Name implements profile.Profile.
func (*Profile) Name() string { return Name }

// About implements profile.Profile.
func (*Profile) About() string { return "`paper` is the method as the paper writes it." }

// Signals implements profile.Profile.
func (*Profile) Signals() reflect.Type { return reflect.TypeFor[schema.SignalsPaper]() }

// Score implements profile.Profile: f against the plain reference or, with draws, its mean over
// them, which the tier is then of, too.
func (p *Profile) Score() profile.Score {
	s := profile.Score{Table: "signals", Column: "paper_score", Cuts: taxonomy.Cuts(p.params.Cuts)}
	if p.params.Draws > 0 {
		s.Column, s.Drawn = "score_mean", true
	}
	return s
}

// Capabilities implements profile.Profile.
func (p *Profile) Capabilities() profile.Capabilities {
	return profile.Capabilities{References: true, Draws: true, Categories: true, Labels: "stages_" + string(p.params.Labels), WastedShare: "signals.wasted_share"}
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
		{Signal: "struct", Name: "structural F1", Unit: 1, Weight: w.Struct},
		{Signal: "cov", Name: "set coverage", Unit: 1, Weight: w.Cov},
		{Signal: "coh", Name: "coherence", Unit: 100, Weight: w.Coh},
		{Signal: "temp", Name: "temporal profile", Unit: 100, Weight: w.Temp},
	}, 1
}

// Reweighted implements profile.Weighted.
func (p *Profile) Reweighted(weights map[string]float64, low, ideal float64) profile.Weighted {
	out := p.params
	out.Weights = Weights{Struct: weights["struct"], Cov: weights["cov"], Coh: weights["coh"], Temp: weights["temp"]}
	out.Cuts = Cuts{Ideal: ideal, Solid: low, PartialFail: low}
	return With(out)
}

// parts are those of the score against the plain reference.
func (p *Profile) parts(s *schema.SignalsPaper) []profile.Part {
	terms, scale := p.Terms()
	return profile.Parts(terms, scale, s.Struct, s.Cov, s.Coh, s.Temp)
}

// Explain implements profile.Profile. The signals are those against the plain reference, so a
// mean over draws has what it differs by as a part of its own.
func (p *Profile) Explain(signals any, f *schema.Features) profile.Explanation {
	s := signals.(*schema.SignalsPaper)
	out := profile.Explanation{
		Parts:     p.parts(s),
		Reference: &profile.Reference{ID: s.PTAID, Path: &profile.Path{Index: s.BestPath, Length: s.BestPathLen, Matched: s.MatchedSteps}, Few: s.NRefs < int64(p.params.K)},
	}
	if s.ScoreMean != nil {
		out.Parts = profile.UpTo(*s.ScoreMean, out.Parts, fmt.Sprintf("to the mean of %d draws", s.Draws))
	}
	if s.Flags != nil {
		out.Notes = strings.Split(*s.Flags, ",")
	}
	if f.DivergenceStep != nil && f.DivergenceFraction != nil {
		out.Divergence = &profile.Divergence{Of: "run", Step: *f.DivergenceStep, Fraction: *f.DivergenceFraction}
	}
	return out
}

// Check implements profile.Profile.
func (p *Profile) Check(signals any, f *schema.Features, tier schema.Tier) []string {
	s := signals.(*schema.SignalsPaper)
	score := s.PaperScore
	if s.ScoreMean != nil {
		score = *s.ScoreMean
	}
	return append(profile.CheckSum("paper_score", s.PaperScore, p.parts(s)), profile.CheckTier(p.Score(), score, f, tier)...)
}

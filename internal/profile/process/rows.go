package process

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/taxonomy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// smallPool is the pool size below which a run is flagged.
const smallPool = 5

// verdict is a tier, whether the score is close to a cut that applies, and the rule.
type verdict struct {
	tier       taxonomy.Tier
	borderline bool
	rule       string
}

// judge must not be asked about an unknown outcome.
func (c Cuts) judge(score float64, o trajectory.Outcome) verdict {
	near := func(cut float64) bool { return math.Abs(score-cut) < c.Borderline }
	if o == trajectory.Fail {
		v := verdict{taxonomy.OffTrack, near(c.Low), fmt.Sprintf("failed, process_score %.2f < %g", score, c.Low)}
		if score >= c.Low {
			v.tier, v.rule = taxonomy.PartialFail, fmt.Sprintf("failed, process_score %.2f >= %g", score, c.Low)
		}
		return v
	}
	v := verdict{borderline: near(c.Low) || near(c.Ideal)}
	switch {
	case score >= c.Ideal:
		v.tier, v.rule = taxonomy.Ideal, fmt.Sprintf("passed, process_score %.2f >= %g", score, c.Ideal)
	case score < c.Low:
		v.tier, v.rule = taxonomy.Lucky, fmt.Sprintf("passed, process_score %.2f < %g", score, c.Low)
	default:
		v.tier, v.rule = taxonomy.Solid, fmt.Sprintf("passed, process_score %.2f >= %g and < %g", score, c.Low, c.Ideal)
	}
	return v
}

func (p parts) rows(task *steps.Task, params Params) profile.RunRows {
	run := p.run
	signals := p.signals(task)
	out := profile.RunRows{Signals: signals, Tier: schema.Tier{TrajectoryID: run.ID}}
	switch {
	case len(run.Steps) == 0:
		out.Tier.Reason = new("empty")
	case p.score == nil:
		out.Tier.Reason = new("no_reference")
	case run.Outcome == trajectory.Unknown:
		out.Tier.Reason = new("outcome_unknown")
	default:
		v := params.Cuts.judge(*p.score, run.Outcome)
		out.Tier.Tier, out.Tier.Borderline, out.Tier.Rule = new(string(v.tier)), &v.borderline, &v.rule
		signals.Tier, signals.Borderline = out.Tier.Tier, &v.borderline
	}
	if p.score != nil {
		out.Reference = p.pool.id
		out.Features = &schema.Features{
			TaskID:       task.ID,
			Model:        run.Model,
			TrajectoryID: run.ID,
			Passed:       signals.Passed,
			NStates:      new(int64(len(run.Steps))),
			QualityScore: new(int64(math.RoundToEven(*p.score))),
			QualityTier:  out.Tier.Tier,
		}
	}
	return out
}

func (p parts) signals(task *steps.Task) *schema.SignalsProcess {
	run := p.run
	out := &schema.SignalsProcess{
		TrajectoryID:  run.ID,
		Passed:        run.Outcome.Passed(),
		PoolKind:      p.kind,
		PoolSize:      int64(p.size),
		A:             p.a,
		F:             p.f,
		V:             p.v,
		S:             p.s,
		ProcessScore:  p.score,
		Verifications: run.Verifications,
		AddedTokens:   run.AddedTokens,
		NEdited:       int64(len(run.Edited)),
	}
	if p.size > 0 {
		out.PTAID = &p.pool.id
	}
	if len(run.Edited) > 0 {
		files := make([]string, len(run.Edited))
		for i, f := range run.Edited {
			files[i] = task.Name(f)
		}
		slices.Sort(files)
		out.EditedSourceFiles = new(strings.Join(files, ","))
	}
	var flags []string
	if len(run.Edited) == 0 {
		flags = append(flags, "no_source_edit")
	}
	if p.size > 0 && p.size < smallPool {
		flags = append(flags, "small_pool")
	}
	if p.kind == sameModel {
		flags = append(flags, "same_model_pool")
	}
	if flags != nil {
		out.Flags = new(strings.Join(flags, ","))
	}
	return out
}

// rows describes a pool. It is a set of runs and no graph.
func (p *pool) rows(task *steps.Task, params Params) profile.ReferenceRows {
	out := profile.ReferenceRows{PTA: schema.PTA{
		PTAID:      p.id,
		TaskID:     task.ID,
		Mode:       "pool",
		KRequested: int64(params.K),
		NMembers:   int64(len(p.runs)),
	}}
	for i, r := range p.runs {
		out.Members = append(out.Members, schema.PTAMember{PTAID: p.id, Position: int64(i), TrajectoryID: task.Runs[r].ID})
	}
	return out
}

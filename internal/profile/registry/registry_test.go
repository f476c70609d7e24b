package registry_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/schema"
)

func TestRegistryAndSchemaNameTheSameProfiles(t *testing.T) {
	if !slices.Equal(registry.Names(), schema.Profiles()) {
		t.Errorf("%v, but the tables are of %v", registry.Names(), schema.Profiles())
	}
	table, _ := schema.Lookup("signals")
	for _, p := range registry.All() {
		v, err := table.Variant(p.Name())
		if err != nil || v.Row != p.Signals() {
			t.Errorf("%s has the signals %s, the schema %s: %v", p.Name(), p.Signals(), v.Row, err)
		}
		if err := p.Validate(); err != nil {
			t.Errorf("the default parameters: %v", err)
		}
		if p.About() == "" || p.Score().Cuts.Ideal <= p.Score().Cuts.Solid {
			t.Errorf("%s: %q, cuts %+v", p.Name(), p.About(), p.Score().Cuts)
		}
		column := func(table, name string) bool {
			l, _ := schema.Lookup(table)
			v, err := l.Variant(p.Name())
			if err != nil {
				if v, err = l.Variant(""); err != nil {
					t.Fatal(err)
				}
			}
			return slices.ContainsFunc(v.Columns, func(c schema.Column) bool { return c.Name == name })
		}
		if s := p.Score(); !column(s.Table, s.Column) {
			t.Errorf("%s: no column %s", p.Name(), s.Name())
		}
		if c := p.Capabilities(); !column("trajectories", c.Labels) || c.Verified != "" && !column("signals", c.Verified) {
			t.Errorf("%s: %+v names a column that is not there", p.Name(), c)
		}
	}
}

// A run's parts add up to its score, and its rows follow from each other, for every run.
func TestPartsAddUpToTheScore(t *testing.T) {
	check := func(t *testing.T, opt bench.Options, draws int) {
		opt.Out, opt.Reference, opt.K, opt.Observations = filepath.Join(t.TempDir(), "bench"), profile.LeaveOneOut, 5, bench.ObservationsNone
		if opt.Profiles == nil {
			opt.Profiles = registry.All()
		}
		for _, p := range opt.Profiles {
			if params, ok := p.Params().(*paper.Params); ok {
				params.Draws = draws
			}
		}
		res, err := bench.Build(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(t.Context(), opt.Out)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, p := range opt.Profiles {
			features := map[string]schema.Features{}
			for f, err := range store.ReadSQL[schema.Features](t.Context(), db.DB, "SELECT * FROM features_"+p.Name()) {
				if err != nil {
					t.Fatal(err)
				}
				features[f.TrajectoryID] = f
			}
			tiers := map[string]schema.Tier{}
			for row, err := range store.ReadSQL[schema.Tier](t.Context(), db.DB, "SELECT trajectory_id, tier, category, reason FROM tiers WHERE profile = ?", p.Name()) {
				if err != nil {
					t.Fatal(err)
				}
				tiers[row.TrajectoryID] = row
			}
			n := int64(0)
			for signals, err := range store.ReadRows(t.Context(), db.DB, p.Signals(), "SELECT * FROM signals_"+p.Name()) {
				if err != nil {
					t.Fatal(err)
				}
				id := signals.Elem().FieldByName("TrajectoryID").String()
				f, ok := features[id]
				if !ok {
					continue
				}
				n++
				score, ok := p.Score().Of(signals.Interface(), &f)
				parts := p.Explain(signals.Interface(), &f).Parts
				if !ok || len(parts) == 0 || math.Abs(profile.Total(parts)-score) > 1e-9 {
					t.Fatalf("%s %s: %+v add up to %v, the score is %v", p.Name(), id, parts, profile.Total(parts), score)
				}
				if want := int64(math.RoundToEven(score)); *f.QualityScore != want {
					t.Fatalf("%s %s: quality_score is %d of %v", p.Name(), id, *f.QualityScore, score)
				}
				if broken := p.Check(signals.Interface(), &f, tiers[id]); len(broken) > 0 {
					t.Fatalf("%s %s: %v", p.Name(), id, broken)
				}
			}
			if n == 0 || n != res.Scored[p.Name()] {
				t.Errorf("%s: %d runs of %d", p.Name(), n, res.Scored[p.Name()])
			}
		}
	}
	for _, draws := range []int{0, 1, 4} {
		t.Run(fmt.Sprintf("sample, %d draws", draws), func(t *testing.T) {
			check(t, bench.Options{Sample: bench.Sample{Name: datasets.SampleName, Data: datasets.Sample()}}, draws)
		})
	}
	for draws, of := range map[int][]profile.Profile{
		1: slices.DeleteFunc(registry.All(), func(p profile.Profile) bool { return !p.Capabilities().Draws }), // the others draw nothing
		4: nil,
	} {
		t.Run(fmt.Sprintf("release, %d draws", draws), func(t *testing.T) {
			if testing.Short() {
				t.Skip("skipped: builds the release, and -short is set")
			}
			check(t, bench.Options{Sources: []string{conformance.Release(t)}, Profiles: of}, draws)
		})
	}
}

// A check says which rule a changed row breaks.
func TestCheckFindsChangedScores(t *testing.T) {
	score, tier := 50.0, "solid"
	passed := true
	for _, c := range []struct {
		p       profile.Profile
		signals any
	}{
		{paper.New(), &schema.SignalsPaper{Struct: 50, PaperScore: 50}},
		{registry.All()[2], &schema.SignalsProcess{A: &score, F: &score, ProcessScore: &score}},
	} {
		if broken := c.p.Check(c.signals, &schema.Features{Passed: &passed}, schema.Tier{Tier: &tier}); len(broken) != 1 {
			t.Errorf("%s: %v", c.p.Name(), broken)
		}
		tier := "lucky"
		if broken := c.p.Check(c.signals, &schema.Features{Passed: &passed}, schema.Tier{Tier: &tier}); len(broken) != 2 {
			t.Errorf("%s with another tier: %v", c.p.Name(), broken)
		}
	}
}

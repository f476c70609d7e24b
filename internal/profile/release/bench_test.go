package release

import (
	"context"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/stage"
)

// discard drops rows.
type discard struct{}

func (discard) Reference(profile.ReferenceRows) error { return nil }
func (discard) Run(profile.RunRows) error             { return nil }

// BenchmarkScoreDrawA scores the published runs by the donors of draw A: 45 merges and
// 1,513 assessments, with the preparation of every state and all rows.
func BenchmarkScoreDrawA(b *testing.B) {
	a := loadArchive(b, conformance.Whole(b))
	tasks, plan := a.tasks(), plans(b, conformance.Whole(b))["A"]
	b.ReportAllocs()
	for b.Loop() {
		for _, task := range tasks {
			if err := Assess(context.Background(), task, plan, discard{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkLabelReleased labels the 53,203 published states.
func BenchmarkLabelReleased(b *testing.B) {
	a := loadArchive(b, conformance.Whole(b))
	labeler := stage.NewRelease()
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range a.runs {
			labeler.Label(t)
		}
	}
}

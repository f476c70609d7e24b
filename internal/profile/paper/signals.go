package paper

import (
	"github.com/agentlens-bench/agentlens/internal/portable"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
)

// coherence is Eq. 2 without an epsilon (docs/spec/paper.md, section 5): the forward share of the stage
// transitions, less the share of steps from the third on in runs of equal steps.
func coherence(k walk) float64 {
	t := k.len() - 1
	if t <= 0 {
		return 1
	}
	forward, back := 0, 0
	for i, y := range k.label[1:] {
		switch waste.Between(k.label[i], y) {
		case waste.Pivot, waste.Confirm:
			forward++
		case waste.Back:
			back++
		}
	}
	progress := 1.0
	if forward+back > 0 {
		progress = float64(forward) / float64(forward+back)
	}
	retries := 0
	runs(k.sig, func(a, b int) { retries += b - a - 2 })
	return progress * (1 - min(1, float64(retries)/float64(t)))
}

// mix is a distribution over the four stages, in their order.
type mix [4]float64

// thirds are the stage distributions of a run's three segments.
type thirds [3]mix

// smoothing is added to every stage's count.
const smoothing = 0.01

func stageThirds(labels []trajectory.Stage) (out thirds) {
	m := len(labels)
	z := max(1, m/3)
	for s, bounds := range [3][2]int{{0, z}, {z, 2 * z}, {2 * z, m}} {
		counts := mix{smoothing, smoothing, smoothing, smoothing}
		for i := bounds[0]; i < min(bounds[1], m); i++ {
			counts[labels[i]-trajectory.Exploration]++
		}
		sum := counts[0] + counts[1] + counts[2] + counts[3]
		for c := range counts {
			out[s][c] = counts[c] / sum
		}
	}
	return out
}

// meanThirds averages the references' distributions, segment by segment.
func meanThirds(refs []thirds) (out thirds) {
	for s := range out {
		for c := range out[s] {
			for _, r := range refs {
				out[s][c] += r[s][c]
			}
			out[s][c] /= float64(len(refs))
		}
	}
	return out
}

// temporal is Eq. 3: 1 - the mean Jensen-Shannon divergence of the segments, at least 0.
func temporal(p, q thirds) float64 {
	var d [3]float64
	for s := range d {
		d[s] = jensenShannon(p[s], q[s])
	}
	return max(0, 1-(d[0]+d[1]+d[2])/3)
}

// jensenShannon is the divergence in bits, 0-1. All shares must be positive.
func jensenShannon(p, q mix) float64 {
	var kp, kq float64
	for c := range p {
		mean := (p[c] + q[c]) / 2
		kp += float64(p[c] * portable.Log2(p[c]/mean))
		kq += float64(q[c] * portable.Log2(q[c]/mean))
	}
	return float64(0.5*kp) + float64(0.5*kq)
}

// harmonic returns 2*r*q/(r+q), 0 when both are.
func harmonic(r, q float64) float64 {
	if r+q == 0 {
		return 0
	}
	return 2 * r * q / (r + q)
}

package paper

import (
	"math"
	"slices"

	"github.com/agentlens-bench/agentlens/schema"
)

// matchCounts are the counts behind a run's published percentages.
type matchCounts struct {
	steps   int // of the run, the initial state included
	path    int // states of the reference path, the initial state included
	matched int // pairs
}

// tolerance of a count worked out from a percentage in double precision.
const tolerance = 1e-6

func whole(x float64) (int, bool) {
	n := math.Round(x)
	return int(n), math.Abs(x-n) <= tolerance
}

// countMatches undoes the percentages: precision = matched/steps, coverage = matched/path.
func countMatches(f *schema.Features) (matchCounts, bool) {
	if f.NStates == nil || f.PrecisionPercent == nil || f.CoveragePercent == nil || *f.CoveragePercent <= 0 {
		return matchCounts{}, false
	}
	c := matchCounts{steps: int(*f.NStates) + 1}
	matched := *f.PrecisionPercent / 100 * float64(c.steps)
	m, okMatched := whole(matched)
	path, okPath := whole(matched / (*f.CoveragePercent / 100))
	c.matched, c.path = m, path
	return c, okMatched && okPath
}

// stageWeights of the release's weighted_score, in the order E, I, V, O.
var stageWeights = [4]float64{1, 3, 2, 0.5}

// explorationTotals returns, ascending, the numbers of exploration states the reference path
// of a run can have had. Four unknown stage totals have to fit everything that was published
// of the match: the four stage coverages give whole numbers of matched states; with the
// initial state, totals and matches add up to those of the path; weighted_score and
// stage_completeness follow. Usually one number is left.
func explorationTotals(f *schema.Features) []int {
	c, ok := countMatches(f)
	if !ok {
		return nil
	}
	var possible [4][]int // total -> matched, or -1
	for s, percent := range []*float64{f.StageCoverageE, f.StageCoverageI, f.StageCoverageV, f.StageCoverageO} {
		if percent == nil || f.WeightedScore == nil || f.StageCompleteness == nil {
			return nil
		}
		possible[s] = make([]int, c.path)
		for total := range possible[s] {
			matched, ok := whole(*percent / 100 * float64(total))
			if !ok {
				matched = -1
			}
			possible[s][total] = matched
		}
	}
	var out []int
	for e := range c.path {
		if possible[0][e] >= 0 && fits(f, c, possible, e) {
			out = append(out, e)
		}
	}
	return out
}

// fits reports whether a path with e exploration states explains the published columns.
func fits(f *schema.Features, c matchCounts, possible [4][]int, e int) bool {
	rest := c.path - 1 - e
	for i := 0; i <= rest; i++ {
		for v := 0; i+v <= rest; v++ {
			totals := [4]int{e, i, v, rest - i - v}
			matched, sum := [4]int{}, 0
			for s, total := range totals {
				matched[s] = possible[s][total]
				sum += matched[s]
			}
			if slices.Contains(matched[:], -1) || sum != c.matched-1 {
				continue
			}
			var got, all, met, present float64
			for s := range totals {
				got += float64(stageWeights[s] * float64(matched[s]))
				all += float64(stageWeights[s] * float64(totals[s]))
				if totals[s] > 0 {
					present++
				}
				if matched[s] > 0 {
					met++
				}
			}
			if all > 0 && math.Abs(got/all*100-*f.WeightedScore) <= tolerance && math.Abs(met/present-*f.StageCompleteness) <= tolerance {
				return true
			}
		}
	}
	return false
}

// excessiveRatio is the exploration effort above which the release's reports carry the
// signal excessive_exploration.
const excessiveRatio = 2.0

// excessiveExploration works out the quality signal excessive_exploration, which is not one
// of the 40 columns, from them and the run's number of exploration states: whether it
// explored more than twice as much as its reference path. ok is false when the columns leave
// both answers open.
func excessiveExploration(f *schema.Features, explored int) (excessive, ok bool) {
	totals := explorationTotals(f)
	if len(totals) == 0 {
		return false, false
	}
	exceeds := func(total int) bool { return total > 0 && float64(explored)/float64(total) > excessiveRatio }
	excessive = exceeds(totals[0])
	for _, total := range totals[1:] {
		if exceeds(total) != excessive {
			return false, false
		}
	}
	return excessive, true
}

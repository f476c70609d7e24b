package waste

import (
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func testLike(file string) bool {
	file = strings.ToLower(file)
	return strings.Contains(file, "test") || strings.Contains(file, "spec")
}

// signature makes steps equal for retries and cycles.
type signature struct {
	tool, file string
	stage      trajectory.Stage
}

// number gives each distinct signature a number, the same in both sequences; the empty
// signature is 0.
func number(run, ref []Step) (runIDs, refIDs []int) {
	ids := map[signature]int{{}: 0}
	of := func(steps []Step) []int {
		out := make([]int, len(steps))
		for i, s := range steps {
			key := signature{s.Tool, s.File, s.Stage}
			id, ok := ids[key]
			if !ok {
				id = len(ids)
				ids[key] = id
			}
			out[i] = id
		}
		return out
	}
	return of(run), of(ref)
}

// longRuns calls visit with each maximal run of three or more equal, not empty signatures.
func longRuns(ids []int, visit func(start, end int)) {
	for start := 0; start < len(ids); {
		end := start + 1
		for end < len(ids) && ids[end] == ids[start] {
			end++
		}
		if end-start >= 3 && ids[start] != 0 {
			visit(start, end)
		}
		start = end
	}
}

// retries finds runs of three or more equal steps. Steps that the reference repeats as
// often are excused.
func retries(run, ref []int) []Span {
	var out []Span
	longRuns(run, func(start, end int) {
		excused := false
		longRuns(ref, func(s, _ int) { excused = excused || ref[s] == run[start] })
		if !excused {
			out = append(out, Span{Kind: BlindRetry, First: start, Last: end - 1, Wasted: start + 2, Repetitions: end - start})
		}
	})
	return out
}

// repeats calls visit with each pattern of length n that occurs at least twice in a row.
// The scan goes on after the last repetition.
func repeats(ids []int, n int, visit func(start, times int)) {
	for i := 0; i <= len(ids)-2*n; {
		times := 1
		for end := i + (times+1)*n; end <= len(ids) && slices.Equal(ids[i:i+n], ids[end-n:end]); end += n {
			times++
		}
		if times < 2 {
			i++
			continue
		}
		visit(i, times)
		i += n * times
	}
}

// cycles finds patterns of two to four steps that repeat. Patterns of equal steps are no
// cycles; patterns that the reference repeats as well are excused.
func cycles(run, ref []int) []Span {
	var out []Span
	for n := 2; n <= 4; n++ {
		repeats(run, n, func(start, times int) {
			pattern := run[start : start+n]
			if len(slices.Compact(slices.Clone(pattern))) == 1 {
				return
			}
			excused := false
			repeats(ref, n, func(s, _ int) { excused = excused || slices.Equal(ref[s:s+n], pattern) })
			if !excused {
				out = append(out, Span{
					Kind: CyclicPattern, First: start, Last: start + n*times - 1, Wasted: start + n,
					Repetitions: times, PatternLen: n,
				})
			}
		})
	}
	return out
}

// EqualRunExcess counts the steps from the third on in runs of equal steps.
func EqualRunExcess(steps []Step) int {
	ids, _ := number(steps, nil)
	n := 0
	longRuns(ids, func(start, end int) { n += end - start - 2 })
	return n
}

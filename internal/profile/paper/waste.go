package paper

import (
	"slices"

	"github.com/agentlens-bench/agentlens/internal/profile/steps"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/waste"
)

// walk is what the detectors see of a run or of a reference path.
type walk struct {
	label []trajectory.Stage
	path  []steps.ID // file_path, 0 when the step has none
	sig   []uint64   // equal for equal (tool, file_path, label)
}

func (w walk) len() int { return len(w.label) }

// detector is one of the five kinds of waste, in the order in which a step that several
// hold is attributed.
type detector int

const (
	blind detector = iota
	cyclic
	redundant
	unnecessary
	regress
	detectors
)

// kind is the name of the detector in the waste table.
func (d detector) kind() waste.Kind {
	return [...]waste.Kind{waste.BlindRetry, waste.CyclicPattern, waste.RedundantStep, waste.UnnecessaryExploration, waste.RegressionLoop}[d]
}

// event is one finding: steps [first, to) of the run, of which [from, to) are wasted.
type event struct {
	by          detector
	first       int
	from, to    int
	repetitions int // run length of a retry, copies of a cycle
	pattern     int // steps of a cycle's pattern
}

// findWaste runs the five detectors over run k against the best path g
// (docs/spec/paper.md, section 7).
// known holds the files of all nodes; testlike reports whether a path names a test.
// Events come by detector and first step.
func findWaste(k, g walk, known map[steps.ID]bool, testlike func(steps.ID) bool) []event {
	events := blindRetries(k, g)
	events = append(events, cycles(k, g)...)
	events = append(events, redundantReads(k, g)...)
	events = append(events, unnecessaryExplorations(k, known, testlike)...)
	return append(events, regressionLoops(k, g)...)
}

// runs calls yield for every maximal run [a, b) of at least three equal signatures.
func runs(sig []uint64, yield func(a, b int)) {
	for a := 0; a < len(sig); {
		b := a + 1
		for b < len(sig) && sig[b] == sig[a] {
			b++
		}
		if b-a >= 3 {
			yield(a, b)
		}
		a = b
	}
}

func blindRetries(k, g walk) (events []event) {
	var usual []uint64
	runs(g.sig, func(a, _ int) { usual = append(usual, g.sig[a]) })
	runs(k.sig, func(a, b int) {
		if !slices.Contains(usual, k.sig[a]) {
			events = append(events, event{by: blind, first: a, from: a + 2, to: b, repetitions: b - a})
		}
	})
	return events
}

func cycles(k, g walk) (events []event) {
	for l := 2; l <= 4; l++ {
		for a := 0; a+2*l <= k.len(); {
			w := k.sig[a : a+l]
			copies := 1
			for next := a + l; next+l <= k.len() && slices.Equal(w, k.sig[next:next+l]); next += l {
				copies++
			}
			if copies < 2 || constant(w) || repeats(g.sig, w) {
				a++
				continue
			}
			events = append(events, event{by: cyclic, first: a, from: a + l, to: a + copies*l, repetitions: copies, pattern: l})
			a += copies * l
		}
	}
	return events
}

func constant(w []uint64) bool {
	for _, s := range w[1:] {
		if s != w[0] {
			return false
		}
	}
	return true
}

// repeats reports whether sig holds two adjacent copies of w.
func repeats(sig, w []uint64) bool {
	l := len(w)
	for b := 0; b+2*l <= len(sig); b++ {
		if slices.Equal(w, sig[b:b+l]) && slices.Equal(w, sig[b+l:b+2*l]) {
			return true
		}
	}
	return false
}

func redundantReads(k, g walk) (events []event) {
	visits := map[steps.ID]int{}
	for x, p := range g.path {
		if g.label[x] == trajectory.Exploration {
			visits[p]++
		}
	}
	memory := map[steps.ID]bool{}
	for i, p := range k.path {
		switch {
		case k.label[i] == trajectory.Implementation:
			clear(memory)
		case k.label[i] == trajectory.Exploration && p != 0:
			if memory[p] && visits[p] < 2 {
				events = append(events, event{by: redundant, first: i, from: i, to: i + 1})
			}
			memory[p] = true
		}
	}
	return events
}

func unnecessaryExplorations(k walk, known map[steps.ID]bool, testlike func(steps.ID) bool) (events []event) {
	first := slices.Index(k.label, trajectory.Implementation)
	if first < 0 {
		return nil
	}
	for i := first + 1; i < k.len(); i++ {
		p := k.path[i]
		if k.label[i] == trajectory.Exploration && p != 0 && !known[p] && !testlike(p) {
			events = append(events, event{by: unnecessary, first: i, from: i, to: i + 1})
		}
	}
	return events
}

func regressionLoops(k, g walk) (events []event) {
	var returns []int // positions at which the path explores after it implemented
	implemented := false
	for x, l := range g.label {
		if l == trajectory.Exploration && implemented {
			returns = append(returns, x)
		}
		implemented = implemented || l == trajectory.Implementation
	}
	m := k.len()
	for i := 0; i < m; {
		if k.label[i] != trajectory.Implementation {
			i++
			continue
		}
		j := next(k.label, trajectory.Exploration, i+1)
		if j == m {
			break
		}
		e := next(k.label, trajectory.Implementation, j)
		at := j * g.len() / m
		usual := slices.ContainsFunc(returns, func(x int) bool { return at-x <= 1 && x-at <= 1 })
		if e < m && e-j >= 2 && !usual {
			events = append(events, event{by: regress, first: j, from: j, to: e})
		}
		i = e
	}
	return events
}

// next returns the first index at or after from with the label, len(labels) if there is none.
func next(labels []trajectory.Stage, label trajectory.Stage, from int) int {
	for from < len(labels) && labels[from] != label {
		from++
	}
	return from
}

// wasteSum is what the events of one run add up to.
type wasteSum struct {
	events     [detectors]int64
	steps      [detectors]int64 // size of the detector's own set of steps
	attributed [detectors]int64 // steps counted once, for the first detector that holds them
	wasted     []bool           // union, by step
	total      int64            // size of the union
}

func sumWaste(events []event, m int) wasteSum {
	s := wasteSum{wasted: make([]bool, m)}
	own := make([]bool, m)
	for d := range detectors {
		clear(own)
		for _, e := range events {
			if e.by != d {
				continue
			}
			s.events[d]++
			for i := e.from; i < e.to; i++ {
				own[i] = true
			}
		}
		for i, held := range own {
			if !held {
				continue
			}
			s.steps[d]++
			if !s.wasted[i] {
				s.wasted[i] = true
				s.attributed[d]++
				s.total++
			}
		}
	}
	return s
}

// sum returns the plain sum of the detectors' steps, in which steps may count twice.
func (s wasteSum) sum() int64 {
	n := int64(0)
	for _, steps := range s.steps {
		n += steps
	}
	return n
}

package profile

import (
	"cmp"
	"fmt"
	"math"

	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Upper ends of parameters. What lies above costs memory and time without another result.
const (
	MaxReferences = 1000
	MaxDraws      = 1000
)

// weightTolerance is how far weights may be from adding up to 1, by rounding.
const weightTolerance = 1e-9

// Parameter is a number of a profile, by its key in a profile file.
type Parameter struct {
	Key   string
	Value float64
}

// CheckCount says when a number lies outside its ends, both included.
func CheckCount(profile, key string, value, low, high int) error {
	return within(profile, key, value, low, high, "a whole number")
}

// CheckWeights says when a weight lies outside 0 to 1, or when they don't add up to 1: then a
// score would leave 0 to 100.
func CheckWeights(profile string, weights ...Parameter) error {
	sum := 0.0
	for _, w := range weights {
		if err := within(profile, w.Key, w.Value, 0, 1, "a number"); err != nil {
			return err
		}
		sum += w.Value
	}
	if !(math.Abs(sum-1) <= weightTolerance) {
		return usage.Errorf("", "%s profile: the weights add up to %v, want 1", profile, sum)
	}
	return nil
}

// CheckCuts says when a cut lies outside 0 to 100.
func CheckCuts(profile string, cuts ...Parameter) error {
	for _, c := range cuts {
		if err := within(profile, c.Key, c.Value, 0, 100, "a number"); err != nil {
			return err
		}
	}
	return nil
}

func within[T cmp.Ordered](profile, key string, value, low, high T, kind string) error {
	if value >= low && value <= high { // not for NaN
		return nil
	}
	return &usage.Error{Problem: fmt.Sprintf("%s profile: %s is %v", profile, key, value), Want: fmt.Sprintf("%s from %v to %v", kind, low, high)}
}

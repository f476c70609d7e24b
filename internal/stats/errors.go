package stats

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

var (
	// ErrUndefined marks a figure that does not exist for the given data, such as an AUROC
	// with one class or a correlation with a constant.
	ErrUndefined = errors.New("undefined")
	// ErrInput marks arguments that cannot be meant: unequal lengths, NaN, a level of 95.
	ErrInput = errors.New("invalid input")
)

func undefined(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUndefined, fmt.Sprintf(format, args...))
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}

// Figure is a number, or the reason (wrapping [ErrUndefined]) why there is none. Composite
// results use it so that one undefined part does not hide the rest.
type Figure struct {
	Value float64
	Err   error
}

// figure turns the result of a function into a Figure.
func figure(v float64, err error) Figure {
	if err != nil {
		return Figure{Err: err}
	}
	return Figure{Value: v}
}

// Defined reports whether the figure has a value.
func (f Figure) Defined() bool { return f.Err == nil }

// String returns the shortest decimal that reads back as the value, or "undefined".
func (f Figure) String() string {
	if f.Err != nil {
		return ErrUndefined.Error()
	}
	return fmt.Sprint(f.Value)
}

// MarshalJSON writes the value, or null when it is undefined.
func (f Figure) MarshalJSON() ([]byte, error) {
	if f.Err != nil {
		return []byte("null"), nil
	}
	return json.Marshal(f.Value)
}

// Interval is a confidence interval; Level is its coverage in (0, 1).
type Interval struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Level float64 `json:"level"`
}

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return invalid("confidence level %v is not between 0 and 1 (0.95 means 95 %%)", level)
	}
	return nil
}

func checkNaN(name string, x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) {
			return invalid("%s %d is NaN; leave missing values out", name, i)
		}
	}
	return nil
}

func checkFinite(name string, x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return invalid("%s %d is %v; leave missing and infinite values out", name, i, v)
		}
	}
	return nil
}

// inRange returns v, or an error when a sum or a power on the way to it left the range of
// float64.
func inRange(v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, undefined("the values are too large or too close together for float64")
	}
	return v, nil
}

func checkLength(a string, n int, b string, m int) error {
	if n != m {
		return invalid("%d %s but %d %s", n, a, m, b)
	}
	return nil
}

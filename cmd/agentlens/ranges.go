package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// span is the values that a flag for a number takes, both ends included; of a duration, in
// seconds.
type span struct{ low, high float64 }

// most is above any count of a dataset.
const most = 1e15

// spans are the ends of every flag for a number, by its name, or by command and name where
// they differ.
func spans() map[string]span {
	references := span{profile.MinReferences, profile.MaxReferences}
	count := span{0, most}
	return map[string]span{
		"jobs":       {0, 1024},
		"fetch jobs": {1, 64},

		"k":                  references,
		"draws":              {0, profile.MaxDraws},
		"merge-count draws":  {1, profile.MaxDraws},
		"donors draws":       {2, profile.MaxDraws},
		"curate k":           count,
		"combos":             {1, 10_000},
		"halvings":           {1, 100},
		"folds":              {2, 10_000},
		"step":               {0.001, 1},
		"resamples":          {2, 1_000_000},
		"stats resamples":    {0, 1_000_000},
		"annotate resamples": {0, 1_000_000},
		"level":              {0.001, 0.999999},
		"threshold":          {-math.MaxFloat64, math.MaxFloat64},
		"seed":               {0, math.MaxUint64},
		"max-record-bytes":   {0, 1 << 40},
		"max-total-bytes":    count,
		"max-entries":        count,
		"max-ratio":          {0, 1e9},
		"n":                  {1, 1_000_000},
		"context":            {0, 1000},
		"preview":            {0, 1_000_000},
		"dims":               {1, 1 << 20},
		"batch":              {1, 10_000},
		"attempts":           {1, 100},
		"timeout":            {0.001, 86_400},
		"query timeout":      {0, 86_400},
		"idle":               {0.001, 86_400},
		"max-rows":           count,
		"dedup":              {0, 1},
		"min-score":          {-math.MaxFloat64, math.MaxFloat64},
		"max-score":          {-math.MaxFloat64, math.MaxFloat64},
		"max-waste":          {0, 1},
		"eval-share":         {0, 1},
		"max-steps":          count,
		"max-tokens":         count,
		"per-task":           count,
		"per-model":          count,
		"reward-aligned":     {-1e6, 1e6},
		"reward-wasted":      {-1e6, 1e6},
		"reward-outcome":     {-1e6, 1e6},
		"positive":           count,
		"negative":           count,
		"dof":                count,
		"rows":               count,
		"min-dim":            count,
		"tasks":              {1, 100_000},
		"models":             {1, 10_000},
		"runs":               {1, 100_000},
	}
}

// spanOf looks up the ends of a flag, by the command or one above it.
func spanOf(all map[string]span, cmd *cobra.Command, flag string) (span, bool) {
	for c := cmd; c != nil; c = c.Parent() {
		if s, ok := all[c.Name()+" "+flag]; ok {
			return s, true
		}
	}
	s, ok := all[flag]
	return s, ok
}

// numeric reports whether a flag is for a number.
func numeric(f *pflag.Flag) bool {
	switch f.Value.Type() {
	case "int", "int64", "uint64", "float64", "number", "duration", "intSlice":
		return true
	}
	return false
}

// bound gives every flag for a number its ends, in all commands below cmd.
func bound(cmd *cobra.Command, all map[string]span) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !numeric(f) {
			return
		}
		if s, ok := spanOf(all, cmd, f.Name); ok {
			f.Value = bounded{f.Value, s}
		}
	})
	for _, c := range cmd.Commands() {
		bound(c, all)
	}
}

// bounded is the value of a flag for numbers with ends.
type bounded struct {
	pflag.Value
	span span
}

func (b bounded) Set(s string) error {
	values := []string{s}
	if b.Type() == "intSlice" {
		values = strings.Split(s, ",")
	}
	for _, v := range values {
		x, err := b.parse(strings.TrimSpace(v))
		if err != nil || !(x >= b.span.low && x <= b.span.high) {
			return errors.New(b.want())
		}
	}
	if err := b.Value.Set(s); err != nil {
		return errors.New(b.want())
	}
	return nil
}

func (b bounded) parse(s string) (float64, error) {
	switch b.Type() {
	case "duration":
		d, err := time.ParseDuration(s)
		return d.Seconds(), err
	case "uint64":
		n, err := strconv.ParseUint(s, 0, 64)
		return float64(n), err
	case "float64", "number":
		return strconv.ParseFloat(s, 64)
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return float64(n), err
}

func (b bounded) want() string {
	end := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	kind := "a whole number"
	switch b.Type() {
	case "intSlice":
		kind = "whole numbers with commas between, each"
	case "float64", "number":
		kind = "a number"
		if b.span.high == math.MaxFloat64 {
			return kind
		}
	case "uint64":
		return "a whole number from 0 to " + strconv.FormatUint(math.MaxUint64, 10)
	case "duration":
		kind = "a time such as 30s or 5m,"
		end = func(x float64) string { return (time.Duration(x * float64(time.Second))).String() }
	}
	return fmt.Sprintf("%s from %s to %s", kind, end(b.span.low), end(b.span.high))
}

// flagError says what is wrong with a flag, without the words of the library or of Go.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return usage.Wrap(err)
	}
	f := invalid.GetFlag()
	want := ""
	switch v := f.Value.(type) {
	case bounded:
		want = v.want()
	default:
		if f.Value.Type() == "bool" {
			want = "true or false"
		} else if cause := errors.Unwrap(invalid); cause != nil {
			return usage.Errorf(f.Name, "%q: %w", invalid.GetValue(), cause)
		}
	}
	return &usage.Error{Option: f.Name, Problem: strconv.Quote(invalid.GetValue()), Want: want}
}

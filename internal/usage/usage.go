// Package usage has the one error for what a caller can mend in the call: an option, an
// argument, a file that it names.
//
// Invariant: no message has the dashes of a command line. An option in a message is written
// as "option NAME", which a command turns into its flag.
package usage

import (
	"errors"
	"fmt"
)

// Error is a mistake in a call.
type Error struct {
	Option  string // that is wrong, by the name of its flag without dashes; "" for the call as a whole
	Problem string // its value and what is wrong with it
	Want    string // what would be right, "" when the problem says so

	cause error
}

func (e *Error) Error() string {
	text := e.Problem
	if e.Option != "" {
		text = "option " + e.Option + " " + text
	}
	if e.Want != "" {
		text += ": want " + e.Want
	}
	return text
}

// Unwrap returns what the problem was formatted from.
func (e *Error) Unwrap() error { return e.cause }

// Errorf returns an error of an option, "" for the call as a whole.
func Errorf(option, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Option: option, Problem: err.Error(), cause: err}
}

// Wrap makes an error one of the call. Wrap of nil is nil.
func Wrap(err error) error {
	if err == nil || Is(err) {
		return err
	}
	return &Error{Problem: err.Error(), cause: err}
}

// Is reports whether an error is one of the call.
func Is(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// limitsAreErrors makes a write past the limit on the size of files fail, instead of ending
// the program.
func limitsAreErrors() { signal.Ignore(syscall.SIGXFSZ) }

//go:build !unix

package main

// limitsAreErrors does nothing: the system has no such limits.
func limitsAreErrors() {}

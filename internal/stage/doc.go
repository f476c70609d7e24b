// Package stage labels the states of a run with their intent.
//
// Release is the labeler of the authors' release (docs/spec/release.md, section 3). Its rules
// look at tools, paths and shell commands as text; Command holds the eight predicates over
// a command line and Command.SourcePath.
//
// Invariants:
//
//   - A labeler is a value without state: the same states give the same labels, from any
//     number of goroutines.
//   - Predicates are hand-written scanners for speed. Each one equals a plain regular
//     expression, which the tests hold them to.
//   - Case is folded for ASCII letters only; white space is RE2's \s.
package stage

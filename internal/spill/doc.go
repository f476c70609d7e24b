// Package spill keeps the trajectories of a build on disk between reading and scoring, so
// that a build's memory does not grow with its source, whatever order the runs come in.
//
// Invariants:
//
//   - A file is private to one build, and has no name where the system can keep such files (see
//     output.Spill): it is written, read back and gone with it. Its format has no version.
//   - What Load returns equals what Append was given, field for field.
//   - Append and Load may be called from many goroutines at once.
package spill

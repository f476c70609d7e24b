// Package release is the profile of the authors' release: what its pipeline computes from
// a run and an ordered list of reference runs, bit for bit
// (docs/spec/release.md), with its quirks and its outcome-dependent score.
//
// Data goes one way: plan.go chooses the references, reference.go merges them, match.go
// finds the best path of a candidate, assess.go, score.go and divergence.go turn the match
// into numbers, report.go into reasons and signals, rows.go into the rows of the dataset.
//
// Invariants:
//
//   - The labels are those in State.Stage; a merged graph gets labels of its own.
//   - Floating-point expressions are evaluated in the order of the specification, and
//     products that feed a sum are rounded on their own, so that every machine gives the
//     same bits.
package release

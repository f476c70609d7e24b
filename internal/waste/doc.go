// Package waste finds the steps of a run that bought nothing, in the two ways of the
// authors' release: Detect gives the five detectors behind the waste columns, Inspect the
// inefficiency report behind the token columns (docs/spec/release.md, sections 11 and 10). Both
// know the reference, and excuse what the reference does as well.
//
// Invariants:
//
//   - Indexes are 0-based over the labelled steps of the run unless said otherwise.
//   - Spans are in the order they are found: by kind, then by first step.
//   - The detectors' wastes may overlap and are summed; the report counts each step once.
package waste

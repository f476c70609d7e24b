// Package steps holds what the paper and process profiles look at in the runs of one task,
// compactly: labels, signatures, strict_t features, tokens, source edits. Runs are read and
// their commands parsed once for both.
//
// Invariants:
//
//   - A step is a state with a tool, in order; the initial state is no step.
//   - Both label sets are kept. A step the source left unlabelled counts as orchestration,
//     which is what the release labeler gives unknown tools.
//   - A Task is immutable once loaded and may be read from many goroutines. IDs mean the
//     same text in all of its runs; they depend on the order of loading, so they are never
//     emitted or sorted by.
package steps

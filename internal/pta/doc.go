// Package pta builds reference graphs out of runs.
//
// Merge is the merge of the authors' release (docs/spec/release.md, sections 5 and 6),
// quirks included: an ordered list of runs becomes one graph, whose paths from the initial node to
// a real terminal are the known good ways. Align is the merge of the paper profile.
//
// Invariants:
//
//   - The order of the runs is part of the input; nothing else, such as a map's order,
//     decides anything.
//   - Node indexes are those of creation, after consolidation. Edges never lead to an
//     earlier step.
//   - Graphs are read-only once built and may be shared by many goroutines.
package pta

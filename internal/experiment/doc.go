// Package experiment asks how well a score separates passing from failing runs, and what it
// depends on: its weights, its signals, how many runs make a reference, in which order they
// are merged, and which runs are drawn. It gives results; the commands print them.
//
// Invariants:
//
//   - A figure is about runs whose outcome is known and that have every score of the
//     comparison; how many were left out is part of the result. With one outcome only there
//     is no figure but an error.
//   - A result depends on the runs and the options, not on the number of workers.
//   - Reference draws are keyed by SHA-256 as the paper profile's are: draw d orders the
//     passing runs by the hash of "d:" and their id.
package experiment

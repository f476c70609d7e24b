// Package inspect says what is in some sources without building a dataset: formats, tasks,
// models, outcomes, tools, tokens, warnings, and which tasks would get a reference.
//
// Invariants:
//
//   - The counts are those a build of the same sources would have: records that a build
//     refuses are refused here, outcomes are settled the same way.
//   - A result depends on the sources' content alone; all lists are sorted.
//   - Memory holds one run and the counts; nothing is labelled or merged.
package inspect

// Package corpus is the runs of some sources, read and settled, ready to be assessed task by
// task. It stands between ingest and the profiles.
//
// Invariants:
//
//   - A corpus depends on the sources' content, not on the order of their files or the number
//     of readers: tasks are sorted, a task's runs are sorted by id, of runs with one id the
//     first by file and line stays.
//   - Outcomes are settled once, from all evidence of all sources.
//   - Memory holds what is known of a run without its states; the states wait in a spill file
//     and are labelled when they are loaded.
package corpus

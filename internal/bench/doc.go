// Package bench makes and checks a dataset version: an immutable folder with SQLite,
// Parquet, a manifest and checksums.
//
// Data walks one way: ingest reads trajectories into a spill file and the catalog; the
// catalog settles identity and outcomes; each task is labelled, referenced and assessed by
// every profile, many tasks at once; the store writes the rows in task order.
//
// Invariants:
//
//   - The folder's bytes follow from the sources' content and the parameters alone: not
//     from the worker count, the order of files, the clock, or the machine.
//   - A folder appears whole or not at all. It is written beside its place, synced, and
//     renamed; replacing an existing version exchanges the two folders in one step.
//   - Memory is bounded by the largest task in work, not by the source.
//   - Every record of the source ends in a row, in errors.jsonl, or in a count of the
//     manifest.
package bench

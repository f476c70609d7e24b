// Package release reads the files of the AgentLens-Bench release: trajectories, merged
// references and the annotation tables. Analysis reports and summary files are recognised and
// passed over: they hold nothing that is not in the tables.
//
// Invariants:
//
//   - A stored value is carried over as it is. Hashes and labels are not recomputed.
//   - A run in a file of its own has the file's name as its id, whatever the metadata say; of
//     a line of a file with many runs the metadata say it.
//   - metadata.source_path, a path of the authors' machine, is not carried over.
//   - Tables are strict: a cell that does not fit refuses its row, with line and column.
package release

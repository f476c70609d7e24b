// Package curate cuts training sets out of a dataset by how the agents worked.
//
// Invariants:
//
//   - Every run of the dataset is either in the set or has one reason code: that of the first
//     rule it failed. The funnel counts them and adds up.
//   - A set is never empty: where no run is left, the error names the reason and the way out.
//   - The bytes of the output depend on the dataset, the sources and the rules only.
//   - Rows wait in a file until it is known which runs are taken: memory does not grow with
//     the texts of a set.
//   - Nothing is invented. Texts are those of the log, an exit status is never rewritten, and
//     a run whose log cannot give a valid dialogue is left out with a reason.
//   - A run that the agent ended, as its log says, ends with a call of finish: with the words of
//     the log's own closing call, or without a message where the log keeps none.
//   - Every dialogue is checked: a task first, known tools, arguments that are JSON objects, an
//     answer to every call under its id and in its order, a finish at the end.
//   - Texts have no secrets of known shapes and no names of home folders.
//   - Runs of one task never stand in both splits. A run that is a donor of references is
//     not in the evaluation split.
package curate

// Package outcome reads what files say about the outcome of runs and settles what holds
// for each run.
//
// Invariants:
//
//   - An outcome is pass, fail or unknown. An empty patch is a failure; a harness that
//     failed, timed out or never ran leaves the outcome unknown.
//   - The better rank wins; a contradiction is a warning. Two statements of one rank that
//     contradict each other leave the outcome unknown.
//   - What an Index says does not depend on the order in which evidence and runs are added.
//   - A file beside the logs that names instances speaks about the runs nearest to it in
//     the folder tree of its own source. When several runs are equally near it speaks about
//     none of them: a missing label is better than a wrong one.
package outcome

// Package process is the profile that judges the way, not the outcome
// (docs/spec/process.md): A, did the run follow steps that passing runs by other models took, in
// their order; F, did it edit the same source files; V, did it verify after its last source
// edit. The score is 100*(0.55*A + 0.25*F + 0.20*V) with the default weights. S compares
// the added text; it is shown and never enters the score.
//
// Invariants:
//
//   - The run's own outcome enters none of A, F, V, S and the score.
//   - The pool is all passing runs by other models, and a part is its exact expectation over
//     all subsets of k of them: there is no draw and no order.
//   - Labels are always the clean ones.
//   - A run whose outcome is unknown is scored, has no tier and is in no pool.
package process

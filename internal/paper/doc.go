// Package paper is the ledger of the AgentLens paper (arXiv 2605.12925): every figure it
// prints, how it is recomputed, and what came out.
//
// The figures are data (datasets/paper); a recipe is a Go function named there with its
// arguments. Recipes read tables, not files: the caller fills a Source from wherever the
// rows are.
//
// Invariants:
//
//   - No result is stored. What is stored is what was printed, and the code of the reason
//     that is known for a difference; whether a figure matches is computed.
//   - A figure matches when the recomputed number rounds to what was printed, at the digits
//     printed; a number half-way between two roundings matches both.
//   - A figure whose data are missing is not recomputable, with the code of what is missing;
//     it is never taken for 0.
//   - A difference without a known reason has the reason "unexpected".
//   - The ledger depends on the rows only, not on their order.
package paper

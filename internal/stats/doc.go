// Package stats computes the statistics of a benchmark study: how well a score separates
// passing from failing runs, how far raters agree, whether two columns are related. It knows
// numbers, labels and group names, nothing of trajectories.
//
// Invariants:
//
//   - A figure that does not exist is an error wrapping [ErrUndefined] with the reason (one
//     class, no values, zero variance), or a [Figure] carrying that error. NaN is never
//     returned, and 0 is returned only where 0 is the answer. Malformed arguments give an
//     error wrapping [ErrInput]. Missing values must be left out by the caller: NaN is
//     refused by position.
//   - A label is true for the positive class (a passing run). A prediction is positive when
//     score >= threshold.
//   - Counts are integers as long as possible: AUROC, Youden's J and the Kolmogorov-Smirnov
//     distance compare and tie exactly.
//   - Random figures depend on the seed alone: replicate b draws from a PCG stream of its
//     own, so the number of workers changes nothing. Groups are visited in order of their
//     names, sums run in row order.
//
// Definitions follow scipy 1.10, scikit-learn 1.2 and statsmodels 0.13; each function names
// the places where it departs from them.
package stats

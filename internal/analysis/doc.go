// Package analysis turns columns of a table into the figures of a statistic, with the rows it
// left out and the warnings a reader needs, and writes them as text, JSON or CSV.
//
// Invariants:
//
//   - A row takes part only when every column the statistic needs has a value in it; the
//     others are left out and counted by column.
//   - A figure that does not exist is undefined with a reason, never 0 or NaN.
//   - Order is fixed: results by the value they are split by, groups and categories by name
//     (numbers by value).
package analysis

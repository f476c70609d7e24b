// Package nearest finds the names that a misspelled one may stand for.
//
// Invariants:
//
//   - What it returns depends on the names alone, not on their order.
//   - It costs the product of the lengths of two names, and allocates one row of it.
package nearest

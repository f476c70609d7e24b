// Package query runs a user's SQL on a dataset's SQLite file.
//
// Invariants:
//
//   - Nothing but reading is possible: the file is opened immutable, and SQLite asks for
//     every operation of a statement before it runs; writing, attaching files, changing
//     settings and transactions are refused with [ErrReadOnly].
//   - A name in double quotes is a column, never a text, so a misspelled one is an error.
//     Errors about unknown tables and columns name the nearest ones.
//   - Rows are handed on whole and in the order of the result, also when time runs out.
package query

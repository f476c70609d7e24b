// Package parquetrows turns the rows of a Parquet file into JSON objects, so that data sets
// in Parquet are read by the readers of their JSON form.
//
// Invariants:
//
//   - One row is held at a time, beside the page it stands in.
//   - A list is an array whichever way its levels are named; absent members are null.
//   - Texts are valid UTF-8; NaN and infinities are null. Whole numbers keep every digit.
//   - A damaged file is an error, never a panic.
package parquetrows

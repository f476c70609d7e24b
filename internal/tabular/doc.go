// Package tabular loads columns of numbers, text and truth values from what people have at
// hand: a dataset folder, a SQLite file and a query, a Parquet file, a CSV file.
//
// Invariants:
//
//   - A column has one kind. Integers become reals when one value is a real, and everything
//     becomes text when one value is text; truth values become 0 and 1 among numbers.
//   - A missing value is missing whatever the input: NULL, a Parquet null, NaN, and in CSV an
//     empty cell or one of the words of [Input.Missing]. It is never 0 and never "".
//   - Rows keep their order, and know the line or row of the input they came from.
//   - Inputs are only read. SQL runs on a connection that can neither write nor attach
//     another file, and a name in double quotes is a column, never a text.
//   - Only the columns asked for, and those a condition names, are held in memory.
package tabular

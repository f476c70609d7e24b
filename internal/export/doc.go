// Package export writes a dataset's tables as Parquet, CSV, JSON Lines or Arrow IPC files,
// whole tables or one file per task or model.
//
// Invariants:
//
//   - Rows come in the order of the primary key, in every format and partition.
//   - The bytes of the files depend on the dataset and the options only.
//   - Types stay: integers that may be missing are integers (never reals), truth values are
//     truth values, text is UTF-8. There are no unsigned integers, times or nested values.
//   - A partition's column is in the path, as Hive writes it, and not in the file. Its value is
//     percent-encoded but for letters, digits and - . _
//   - CSV has a header, LF and true/false. NULL is an empty field, or a text of the user's
//     choice; an empty text is "".
//   - SQLite is one file as a build writes it, with its keys, indexes and views; tables that
//     were not exported are empty. Of a whole dataset it has the bytes of the dataset's own.
//   - JSON Lines has an object per row with every column, null for NULL.
//   - Arrow has dictionaries for columns of few different texts, the same for all files of a
//     table, sorted.
package export

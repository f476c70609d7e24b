// Package store writes and reads the two forms of a dataset, one SQLite file and one Parquet
// file per table, over the tables of package schema.
//
// Writing. One goroutine appends rows. They are checked, hashed and written to Parquet on a
// second goroutine and to SQLite on a third. Invariants:
//
//   - The bytes of every file depend on the rows and their order only, not on how they were
//     cut into calls of Append. SQLite is loaded into a scratch file and copied once with
//     VACUUM INTO, so that its pages do not depend on the load either; Parquet row groups
//     end at a number of bytes of content.
//   - A table's rows come in groups: all rows with the same first key column together, and
//     within a group ascending by the rest of the key. Groups come in any order. Parquet keeps
//     the order of the rows, SQLite sorts them by key.
//   - Memory is bounded by the row groups being filled, SQLite's page cache, and 32 bytes plus
//     a set entry for every group.
//   - Text is valid UTF-8 without NUL. A real is finite: SQLite would store NaN as NULL, and
//     JSON has no infinity. Negative zero is refused too, since SQLite stores it as zero.
//
// Digests. A row's canonical bytes are its columns in order, without the profile: a tag byte
// (0 null, 1 text, 2 integer, 3 real, 4 boolean), then for text the length as 8 bytes and the
// bytes, for an integer 8 bytes, for a real the 8 bytes of its IEEE 754 form, for a boolean
// one byte; numbers little-endian. A group's digest is the SHA-256 of its rows in key order. A
// table's digest is the SHA-256 of the line "agentlens rows <schema version>\n" and its groups'
// digests, sorted. It can be computed from either form in one pass.
package store

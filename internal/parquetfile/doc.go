// Package parquetfile is the one way to read a Parquet file, whoever wrote it and whatever
// happened to it since.
//
// The library that decodes pages trusts what a file says of itself: a damaged one makes it
// panic, make room for what the file does not hold, or return what lies beside the data. So the
// library never sees the file. It sees a view of it: a footer of what was checked, and pages
// that were unpacked and checked here before they are handed over.
//
// Invariants:
//
//   - Whatever the bytes, reading ends in rows or in an Error that names the column and the row
//     group. A panic of the library is such an error too.
//   - Before room is made for anything, its size was compared with the bytes that the file
//     really has: the footer with the file, pages with their column, what a codec may unpack
//     with what is packed, values with the levels and indexes that are there, and all that is
//     held of a row group at once with a bound that grows with the file.
//   - Numbers of rows, values and pages of the footer are those of the data.
//   - Indexes, statistics and Bloom filters of the file are not read. The view has an index of
//     its own for columns without lists, so that a row is found without reading all before it.
//
// Snappy, gzip, Brotli, Zstandard, LZ4_RAW and the older LZ4 (framed as Hadoop does, or bare)
// are read; LZO and encrypted files are refused.
package parquetfile

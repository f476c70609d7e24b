// Package source walks a folder, a file or an archive as a stream of files, and cuts files
// into records. Nothing is unpacked to disk.
//
// Invariants:
//
//   - Files come one after the other, in the order of the archive or, for a folder, sorted
//     by path.
//   - A path is relative to the source, slash-separated and clean; a compressed file has
//     the path it would have uncompressed. It never leads out of the source.
//   - Hidden files and folders, and SHA256SUMS, are passed over without a word, so that a
//     copy of logs gives the same whether it is a download, an archive or a checkout.
//   - What an archive can do to the reader is bounded by Limits: bytes expanded, ratio,
//     entries, size of a record. An archive with an entry that is a link, a device, leads
//     out of the archive or occurs twice is refused as a whole (*UnsafeError).
//   - A damaged or cut file costs the records behind the damage, no more.
//   - Memory is bounded by the largest record, the path digests of an archive and a few
//     buffers, whatever the size of the source.
package source

// Package fetch gets a published dataset, file by file, from a mirror, a folder or an
// archive.
//
// Invariants:
//
//   - What is got is decided by a recipe: the path, size and SHA-256 of every file. Nothing a
//     server or an archive says becomes a path, and no file appears under its name before its
//     bytes have been verified.
//   - Every run verifies every file in the cache again. A run that was killed at any point is
//     continued by the next one; at most the unfinished files are asked for again, from where
//     they stopped.
//   - Of two runs on one cache the second waits for the first.
//   - A file takes a bounded number of requests, a request that stalls or drips ends, and no more than
//     one byte is read beyond the size listed.
//   - A folder copied out of the cache appears whole or not at all.
package fetch

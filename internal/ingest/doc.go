// Package ingest reads sources of logs: it walks them (package source), recognises their
// records (package format and one package per format), and emits what they hold.
//
// Invariants:
//
//   - One bad record never ends a run: it is emitted as Refused, with file and line.
//   - Items carry the same paths whether the source is a folder or an archive of its
//     content; files of the AgentLens release do so whatever folders stand above them. Paths
//     never name the machine.
//   - Records in flight are bounded by their bytes, so memory does not grow with the source.
//   - Records that are parts of a run wait for the end of their source, 64 MiB of them in
//     memory and the rest in a temporary file (TMPDIR); runs are put together one per job.
//     What grows with a source is a note of a few words per such record.
//   - What is emitted does not depend on the number of jobs or the order of files, only the
//     order of the emits does.
package ingest

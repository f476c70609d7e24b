// Package format is the seam between reading a source and understanding its records: the
// items a source yields, the record a reader gets, the outline it is recognised by, and
// the Format that ties them together.
//
// Adding a format is one package that returns a Format, and one line in the registry of
// package ingest.
//
// Invariants:
//
//   - A reader sees valid UTF-8 without NUL characters and lone surrogates: the caller
//     repairs the record before and adds the warning after. Positions in bytes are not
//     shifted by a repaired escape, and may be by repaired UTF-8.
//   - A reader never keeps Record.Data or a slice of it after it returned.
//   - Detection looks at structure. A file name may break a tie; it never decides alone,
//     except for files whose structure is that of another format.
package format

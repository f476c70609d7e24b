// Package shell reads a terminal command line as bash and says what it does: a list of
// actions such as SEARCH, TEST or WRITE, with the files written and read
// (docs/spec/process.md, sections 1 and 2), its terminal group and its token set
// (docs/spec/paper.md, section 3).
//
// Invariants:
//
//   - Nothing is executed or expanded; a command is only read.
//   - Parse accepts any bytes and always returns: what is not bash is a single OTHER
//     action, with Result.OK false.
//   - Paths are relative to the workspace root where they lie below it, lower case, without
//     outer slashes; the root itself is "".
//   - A Parser holds no state between commands and may be used from many goroutines.
package shell

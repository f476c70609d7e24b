// Package session is what the readers of foreign logs share: a run as a list of named calls
// with their answers, its identity, what its texts tell about failures, and the warnings
// about what was left out.
//
// Invariants:
//
//   - A call of a tool that nobody knows is a step under its own name, with a warning.
//   - A call is left out only when the mapping of tools says so, and is counted then.
//   - The id of a run follows from its task, its model and its calls: it is the same
//     wherever the file lies. Sessions are known by the id their log gives them.
//   - A failure is read off an exit code, else a flag of the log, else the text of the
//     answer; the source says which.
package session

// Package tools maps the tools of other agents to canonical ones. The mapping is a
// table that ships with the program and that a user's file adds to.
//
// Invariants:
//
//   - A Table never changes: adding to it makes another one.
//   - A tool that no row names keeps its name and its arguments: a call is never lost.
//   - Arguments keep their order and their text; what a row does not name is kept.
package tools

// Package convert writes runs of any format that is read into another one: ATIF v1.7,
// OpenHands V0 trajectories, or JSON Lines of AgentLens' own runs.
//
// Invariants:
//
//   - A run is written from its states, one step for each, with the whole texts of its log.
//     What is written reads back as the same states, but for what the report lists.
//   - Nothing is lost in silence: each field that the target has no place for, that stands in
//     an extra place, or that reads back differently is counted.
//   - ATIF is valid by package atif. The same runs give the same bytes, in the order of tasks
//     and ids.
//   - Output is whole or absent (package output); memory holds one run.
//   - Runs come without what is private (package privacy), as everywhere.
package convert

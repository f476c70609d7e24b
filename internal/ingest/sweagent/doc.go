// Package sweagent reads the .traj files of SWE-agent: version 0,
// version 1, retried runs with several attempts, and files that hold the history alone. It
// also knows SWE-agent's command lines, which data sets quote.
//
// Invariants:
//
//   - A step is a command line that was run. Format errors, the actions that the agent's
//     limits write (exit_cost) and demonstrations are no steps; the former are counted.
//   - There are no exit codes: a failure is read off the text and marked so.
//   - The file that edit, goto and scroll work on is the open file, by the state beside the
//     step, else by the window the answer shows.
//   - Nothing in the file says how the hidden tests went; an empty submission is a failure.
package sweagent

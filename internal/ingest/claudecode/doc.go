// Package claudecode reads the session logs of Claude Code: JSON Lines, one file a run.
//
// Invariants:
//
//   - The file is the run. A line that can't be read is a warning.
//   - A message of the model may be spread over lines that share its id: its tokens and its
//     text count once, at its first call.
//   - Calls of subagents (sidechains) are counted, not steps of this run; a file that holds
//     a sidechain alone is a run of its own.
//   - A call without is_error in its answer did not fail.
//   - What the client says in the user's name (local commands, caveats) is not the task.
package claudecode

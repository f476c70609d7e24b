// Package codex reads the rollout logs of the Codex CLI: JSON Lines, one file a run, with
// and without the envelope of timestamp, type and payload.
//
// Invariants:
//
//   - The file is the run. A line that can't be read is a warning.
//   - Response items are the run; the events beside them repeat it and are passed over,
//     except for token counts.
//   - A token count belongs to the call behind it in logs that count before the items are
//     written, else to the calls before it, and is taken once.
//   - The exit code stands in the output's metadata or in the first lines of its text.
//   - What the client says in the user's name (environment, instructions) is not the task.
package codex

// Package openhands reads the native logs of OpenHands V0: event lists, lists of
// action-observation pairs, evaluation output.jsonl, resolver output and feedback exports.
//
// Invariants:
//
//   - A step is one action of the agent that did work. Its observation is the event whose
//     cause is the action's id; without ids the event that follows it.
//   - Tokens and the text of a model response are counted once, at its first call.
//     Cumulative metrics are not read.
//   - A failure is read off the exit code, the observation's type or a text that begins
//     with ERROR:, never off an edit's success type. Exit code -1 means unknown.
//   - A member of an unexpected type is taken for absent; only a record that is no JSON, or
//     that has no history, is refused. What is dropped or guessed is a warning with a count.
//   - The id of a run of an evaluation follows from its instance, its model and its events,
//     so it is the same wherever the file lies and whatever stands beside it. Files that
//     hold one run are named by their path inside the source.
package openhands

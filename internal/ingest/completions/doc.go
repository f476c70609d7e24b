// Package completions reads the logs of model calls that OpenHands V0 writes into
// llm_completions/<instance>/<model>-<time>.json.
//
// Invariants:
//
//   - Every file repeats the dialogue up to its call, so the last call of a folder is the
//     run; of the earlier ones only time and tokens are kept. Calls of another model in the
//     folder, such as a condenser's, are counted and not read.
//   - A step is a tool call that a message of the dialogue makes. A call of the last response
//     is none: the log ends before it could have been carried out. It is a counted warning.
//   - Exit codes come from the last line of an answer. Messages of the user after the first
//     one are no input of the task.
//   - Tokens are those of the call whose response made a step, found by the text of its
//     calls' ids; a folder with the last call alone has only that one's.
package completions

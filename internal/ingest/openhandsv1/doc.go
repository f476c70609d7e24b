// Package openhandsv1 reads the logs of OpenHands V1, the software agent SDK, in the shapes
// of 2025 (execute_bash, errors as text) and of 2026 (terminal, is_error): a folder with one
// file per event and its base_state.json, a list of events as JSON Lines or as an array, and
// the output.jsonl of a benchmark.
//
// Invariants:
//
//   - A step is one ActionEvent; its answer is the event with its id as action_id, else with
//     its tool_call_id. A call that could not be parsed is a step with its text, and failed.
//   - Events of a folder are ordered by the number in their names, compared as a number.
//     Numbers that are missing, and answers whose action is missing, are counted warnings.
//   - Condensation, state updates and messages are no steps, and nothing that a condensation
//     forgot leaves the run.
//   - Where events name their parents, the branch of the last event is the run.
//   - Tokens are those of the response that issued the call, counted once. Totals are not read.
//   - A temporary folder that holds the repository under a random name is written /testbed
//     in arguments and answers, so that runs are comparable; a warning names it.
//   - Of the attempts at one instance in a file the last one is the run, unless all are asked
//     for; the others are counted.
package openhandsv1

// Package messages reads data sets whose rows are dialogues: messages
// with native tool calls, with calls written as XML, with SWE-agent's or mini-swe-agent's
// fenced commands; the Agent Data Protocol's items; and the repeated runs of
// agent-consistency. A file is one row, a list of rows, or rows by lines.
//
// Invariants:
//
//   - Answers are matched to calls by their id, else in order. Turns of the user that answer
//     nothing are no input of the task.
//   - Exit codes come from the last line of an answer or from a member of the step.
//   - A column such as resolved states the outcome; the agent's own judgement does not.
//   - The verdict and the farewell that a converter wrote behind a run are dropped and
//     counted; they are neither steps nor evidence.
//   - A row that can't be read is refused; the other rows of its list are not.
package messages

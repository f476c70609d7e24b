// Package minisweagent reads the logs of mini-swe-agent: bare lists of
// messages, mini-swe-agent-1 with one fenced command a turn, and mini-swe-agent-1.1 with
// native tool calls. It also reads the summary of an evaluation that stands beside them.
//
// Invariants:
//
//   - A step is a command that was run. Turns that were refused for their form are counted,
//     not steps; so is the command that hands in the patch, which ends the run.
//   - The exit code stands in the message or in a tag of the answer; -1 is a command that
//     did not end.
//   - An empty submission is a failure; a run that an exception of the platform ended says
//     nothing.
package minisweagent

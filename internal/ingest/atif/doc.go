// Package atif reads the Agent Trajectory Interchange Format, versions 1.0 to 1.7,
// and the result.json of Harbor beside it.
//
// Invariants:
//
//   - A step is one tool call of an agent's step; parallel calls are steps in their order.
//     Where a step has no tool_calls, calls are read from its text: XML of a model without
//     function calling, or the commands of Terminus.
//   - Steps that were copied from an earlier context, and those of the user and the system,
//     are none. Steps without a model call are, since they changed the workspace; they are
//     counted.
//   - A result goes to the call of its step that it names; of calls with one id to the first
//     without one. Results that name none go to the calls in order when they are as many,
//     else together to the last call.
//   - A run is a document, its continuations in order, and the work of subagents where they
//     were called. Subagents and continuations are found by embedded id, by path, by id or
//     by session in the same source; they are no runs of their own. What is not found is a
//     counted warning.
//   - Metrics are those of a step, at its first call; cached tokens are a part of the prompt.
//     Totals are compared with the sum and never used.
//   - A dialect (another schema_version, calls with id and name, results in system steps) is
//     read with a warning. A document without steps is refused.
package atif

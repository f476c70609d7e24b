// Package gemini reads the session logs of the Gemini CLI: one JSON object a run.
//
// Invariants:
//
//   - A call carries its result. Its status says whether it failed.
//   - Tokens and text of a message count once, at its first call.
package gemini

// Package states turns the tool calls of a raw log into states, deriving the same fields
// the AgentLens release stores: resulting state, content hash, scope, description and the rest.
// Every reader of a raw log uses it, so that runs of different agents are comparable.
//
// Invariants:
//
//   - One call gives one state; a first state without a tool stands for the situation
//     before the first call. States and transitions form a chain.
//   - The result depends on the calls alone.
//   - A call has failed only when its IsError says so. The texts of a log are judged by
//     its reader, which knows the tools.
//   - Texts are cut by code points, as the release cuts them.
//
// It differs from the release in three places, each a repair: whether an edit failed is
// not read off the words of its observation; list_dir states name the directory; symbols
// in a content description are sorted (the release's order follows a hash).
package states

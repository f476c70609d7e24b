// Package xmlcall reads tool calls that a model without function calling writes into its
// text: <function=name><parameter=key>value</parameter></function>.
//
// Invariants:
//
//   - Reading is linear in the text and never fails: a call that is cut off ends with the text.
//   - Values are texts; a line break after the opening and before the closing mark is layout.
package xmlcall

// Package lenientjson reads JSON members whose types changed over the years or were edited by
// hand: a value of another type than the wanted one is absent, never an error.
//
// Invariants:
//
//   - Only a value that is no JSON is an error.
//   - Nothing that was read refers to the decoder's buffer.
//   - A lone surrogate becomes U+FFFD; so does NUL in JSON that stands in a text.
package lenientjson

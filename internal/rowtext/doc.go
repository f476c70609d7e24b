// Package rowtext writes values of tables as text: fields of CSV and values of JSON.
//
// Invariants:
//
//   - A value is nil, int64, float64, bool, string or []byte.
//   - An integer stays an integer; a real always has a point or an exponent, so that a reader
//     that guesses types takes it for a real. Both read back to the same value.
//   - In CSV, a field that is NULL and a text that is empty, or that looks like NULL, differ:
//     the text is in double quotes. Lines end with LF.
//   - JSON is valid UTF-8 on one line.
package rowtext

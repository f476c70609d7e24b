package lenientjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads a JSON value that stands in a record. Duplicate names and lone surrogates are
// no errors.
func Decode(data []byte, v any) error {
	return json.Unmarshal(data, v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// DecodeText reads a text that should be JSON, such as the arguments of a call. Its escapes
// are repaired like those of a record.
func DecodeText(text string, v any) error {
	data := []byte(text)
	RepairEscapes(data)
	return Decode(data, v)
}

// RepairEscapes makes the strings of JSON text fit for tables, in place: the escape of a NUL
// character and that of a lone surrogate become the escape of U+FFFD, which is as long. It
// returns the number of NUL characters.
func RepairEscapes(data []byte) (nul int) {
	const length = len(`\u0000`)
	for at := 0; ; {
		next := bytes.Index(data[at:], []byte(`\u`))
		if next < 0 {
			return nul
		}
		at += next
		r, ok := unit(data[at:])
		switch {
		case isEscaped(data, at), !ok, r != 0 && !utf16.IsSurrogate(r):
			at += len(`\u`)
			continue
		case r == 0:
			nul++
		default:
			low, _ := unit(data[at+length:])
			if utf16.DecodeRune(r, low) != utf8.RuneError {
				at += 2 * length
				continue
			}
		}
		copy(data[at:], `\ufffd`)
		at += length
	}
}

// isEscaped reports whether the backslash at a place is itself escaped.
func isEscaped(data []byte, at int) bool {
	before := 0
	for before < at && data[at-1-before] == '\\' {
		before++
	}
	return before%2 == 1
}

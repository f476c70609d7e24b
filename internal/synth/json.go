package synth

import (
	"unicode/utf16"
	"unicode/utf8"
)

// appendText appends s as a JSON string in ASCII, the way Python's json module writes it.
// Invalid UTF-8 becomes U+FFFD.
func appendText(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	unit := func(u uint16) {
		b = append(b, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
	}
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[done:i]...)
		size := 1
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < utf8.RuneSelf:
			unit(uint16(c))
		default:
			var char rune
			char, size = utf8.DecodeRuneInString(s[i:])
			if hi, lo := utf16.EncodeRune(char); hi != utf8.RuneError {
				unit(uint16(hi))
				unit(uint16(lo))
			} else {
				unit(uint16(char))
			}
		}
		i += size
		done = i
	}
	b = append(b, s[done:]...)
	return append(b, '"')
}

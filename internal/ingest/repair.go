package ingest

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// repair makes a record fit for tables: invalid UTF-8 and NUL characters become U+FFFD. It
// may change data in place and returns what it did.
func repair(data []byte) ([]byte, []trajectory.Warning) {
	var warnings []trajectory.Warning
	if !utf8.Valid(data) {
		fixed, n := repairUTF8(data)
		data = fixed
		warnings = append(warnings, trajectory.Warning{
			Code: "invalid_utf8", Detail: fmt.Sprintf("%d bytes are no UTF-8 and became U+FFFD", n),
		})
	}
	if n := repairNUL(data); n > 0 {
		warnings = append(warnings, trajectory.Warning{
			Code: "nul_character", Detail: fmt.Sprintf("%d NUL characters became U+FFFD", n),
		})
	}
	return data, warnings
}

func repairUTF8(data []byte) ([]byte, int) {
	out := make([]byte, 0, len(data)+len(data)/8)
	n := 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			n++
			out = utf8.AppendRune(out, utf8.RuneError)
		} else {
			out = append(out, data[:size]...)
		}
		data = data[size:]
	}
	return out, n
}

// repairNUL turns the escape of NUL into the escape of U+FFFD, which is as long.
func repairNUL(data []byte) int {
	escape := []byte(`\u0000`)
	n := 0
	for at := 0; ; {
		i := bytes.Index(data[at:], escape)
		if i < 0 {
			return n
		}
		i += at
		before := 0
		for before < i && data[i-1-before] == '\\' {
			before++
		}
		if before%2 == 0 { // the backslash is not itself escaped
			copy(data[i:], `\ufffd`)
			n++
		}
		at = i + 2
	}
}

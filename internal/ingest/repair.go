package ingest

import (
	"fmt"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// repair makes a record fit for tables: invalid UTF-8, lone surrogates and NUL characters
// become U+FFFD. It may change data in place and returns what it did.
func repair(data []byte) ([]byte, []trajectory.Warning) {
	var warnings []trajectory.Warning
	if !utf8.Valid(data) {
		fixed, n := repairUTF8(data)
		data = fixed
		warnings = append(warnings, trajectory.Warning{
			Code: "invalid_utf8", Detail: fmt.Sprintf("%d bytes are no UTF-8 and became U+FFFD", n),
		})
	}
	if n := lenientjson.RepairEscapes(data); n > 0 {
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

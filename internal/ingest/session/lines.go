package session

import (
	"bytes"
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
)

const warnLine = "bad_line" // a line of a session that is no JSON object, dropped

// Lines decodes every line of a session and hands it on. A line that can't be read is a
// warning: the rest of the session still counts. The error is that of the first bad line of
// a session without a good one.
func Lines[T any](r *Run, data []byte, take func(*T)) error {
	var first error
	good := false
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var v T
		if err := format.Decode(line, &v); err != nil {
			r.Warn(warnLine, "line that is no JSON object")
			if first == nil {
				first = fmt.Errorf("line %d: %w", n, err)
			}
			continue
		}
		good = true
		take(&v)
	}
	if !good {
		return first
	}
	return nil
}

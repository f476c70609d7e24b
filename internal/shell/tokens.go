package shell

import (
	"regexp"
	"slices"
	"strings"
)

// leadingCD is a run of cd commands at the start of a command.
var leadingCD = regexp.MustCompile(`^\s*(cd\s+\S+\s*(&&|;)\s*)+`)

// Tokens returns the token set of a command, sorted: the distinct lower-case runs of ASCII
// letters, digits and underscores after leading cd commands (docs/spec/paper.md,
// section 3).
func Tokens(command string) []string {
	if i := strings.Index(command, "cd"); i >= 0 && strings.TrimSpace(command[:i]) == "" {
		command = command[len(leadingCD.FindString(command)):]
	}
	var out []string
	for i := 0; i < len(command); {
		if !wordByte(command[i]) {
			i++
			continue
		}
		start := i
		for i < len(command) && wordByte(command[i]) {
			i++
		}
		out = append(out, strings.ToLower(command[start:i]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

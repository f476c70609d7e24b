package codex

import (
	"regexp"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// heredoc is a command that hands a patch to apply_patch: the folder it changes to, the
// patch in a heredoc or in quotes.
var heredoc = regexp.MustCompile(`(?s)^\s*(?:cd\s+(\S+)\s*(?:&&|;)\s*)?(?:apply_patch|applypatch)\s+(?:<<-?\s*['"]?\w+['"]?[^\n]*\n|['"])?(\*\*\* Begin Patch\n.*?\*\*\* End Patch)`)

// patchOf returns the patch that a command applies, and the folder it changes to before;
// ok is false for a command that does something else.
func patchOf(words []string) (patch, dir string, ok bool) {
	script := ""
	switch {
	case len(words) == 2 && (words[0] == "apply_patch" || words[0] == "applypatch"):
		return words[1], "", true
	case len(words) == 1:
		script = words[0]
	case len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c"):
		script = words[2]
	default:
		return "", "", false
	}
	m := heredoc.FindStringSubmatch(script)
	if m == nil {
		return "", "", false
	}
	return m[2], strings.Trim(m[1], `'"`), true
}

// words returns the command of a call as words; a command line is one word.
func words(args lenientjson.Object) []string {
	for _, name := range [...]string{"command", "cmd"} {
		value := args.Get(name)
		var list []string
		switch {
		case value.Kind() == '"':
			return []string{lenientjson.Unquote(value)}
		case value.Kind() == '[' && lenientjson.Decode(value, &list) == nil:
			return list
		}
	}
	return nil
}

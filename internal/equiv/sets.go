package equiv

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// wordSet returns the distinct words of s, sorted.
func wordSet(s string) []string {
	if s == "" {
		return nil
	}
	words := strings.Fields(s)
	slices.Sort(words)
	return slices.Compact(words)
}

// common counts the elements two sorted sets share.
func common(x, y []string) int {
	n := 0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch c := strings.Compare(x[i], y[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			n++
			i++
			j++
		}
	}
	return n
}

// wordJaccard is |x and y| / |x or y| of two sorted sets, 0 when one is empty.
func wordJaccard(x, y []string) float64 {
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	both := common(x, y)
	return float64(both) / float64(len(x)+len(y)-both)
}

func intersects(x, y []string) bool {
	return slices.ContainsFunc(x, func(s string) bool { return slices.Contains(y, s) })
}

// commaList splits at commas and drops empty pieces.
func commaList(s string) []string {
	var out []string
	for piece := range strings.SplitSeq(s, ",") {
		if piece = strings.TrimSpace(piece); piece != "" {
			out = append(out, piece)
		}
	}
	return out
}

// normalisePath makes paths of one workspace comparable: no leading slashes, none of the
// usual roots, lower case, forward slashes.
func normalisePath(p string) string {
	p = strings.TrimLeft(p, `/\`)
	for _, root := range []string{"workspace/", "workspaces/", "home/", "tmp/"} {
		if len(p) >= len(root) && strings.EqualFold(p[:len(root)], root) {
			p = p[len(root):]
		}
	}
	return strings.ReplaceAll(strings.ToLower(p), `\`, "/")
}

// stateFiles returns a state's own normalised path and those in its resulting state.
func stateFiles(s *trajectory.State) []string {
	var out []string
	if path := normalisePath(s.FilePath); path != "" {
		out = append(out, path)
	}
	for _, prefix := range []string{
		"file_modified:", "file_patched:", "file_created:", "files_modified:", "file_modify_failed:", "file_create_failed:",
	} {
		if rest, ok := strings.CutPrefix(s.ResultingState, prefix); ok {
			for _, p := range commaList(rest) {
				out = append(out, normalisePath(p))
			}
		}
	}
	return out
}

var (
	listedFunctions = regexp.MustCompile(`(?i)functions?:\s*([a-z_][\w,\s]*)`)
	listedClasses   = regexp.MustCompile(`(?i)classes?:\s*([a-z_][\w,\s]*)`)
	changedSymbol   = regexp.MustCompile(`(?i)(?:added|removed)\s+(?:function|class|method)\s+['"]?([a-z_]\w*)`)
	namedSymbol     = regexp.MustCompile(`(?i)(?:function|method|class|def)\s+['"]?([a-z_]\w*)`)
	renamedSymbols  = regexp.MustCompile(`(?i)renamed\s+(?:\w+\s+)?['"]?([a-z_]\w*)['"]?\s+to\s+['"]?([a-z_]\w*)`)
)

// symbols returns the names of functions and classes in a description, sorted, distinct.
func symbols(description string) []string {
	if description == "" {
		return nil
	}
	var out []string
	for at := 0; ; {
		n := strings.IndexByte(description[at:], '\'')
		if n < 0 {
			break
		}
		at += n + 1
		end := at + identifier(description[at:])
		if end > at && end < len(description) && description[end] == '\'' {
			out = append(out, description[at:end])
			at = end + 1
		}
	}
	lower := strings.ToLower(description)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
	}
	if has("function", "class", "method", "def") {
		for _, p := range []*regexp.Regexp{listedFunctions, listedClasses} {
			for _, m := range p.FindAllStringSubmatch(description, -1) {
				for _, piece := range commaList(m[1]) {
					if identifier(piece) == len(piece) {
						out = append(out, piece)
					}
				}
			}
		}
		for _, p := range []*regexp.Regexp{changedSymbol, namedSymbol} {
			for _, m := range p.FindAllStringSubmatch(description, -1) {
				out = append(out, m[1])
			}
		}
	}
	if has("renamed") {
		for _, m := range renamedSymbols.FindAllStringSubmatch(description, -1) {
			out = append(out, m[1], m[2])
		}
	}
	out = slices.DeleteFunc(out, notSymbol)
	slices.Sort(out)
	return slices.Compact(out)
}

// identifier returns the length of the ASCII identifier at the start of s.
func identifier(s string) int {
	n := 0
	for n < len(s) && isWord(s[n]) && (n > 0 || s[n] < '0' || s[n] > '9') {
		n++
	}
	return n
}

// notSymbol reports words of the descriptions themselves.
func notSymbol(s string) bool {
	switch s {
	case "in", "to", "from", "and", "or", "with", "modified", "added", "removed", "renamed", "imports", "code",
		"file", "created", "python", "javascript":
		return true
	}
	return false
}

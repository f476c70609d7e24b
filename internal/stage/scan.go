package stage

import "strings"

// isSpace is RE2's \s.
func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

// isWord is RE2's \w.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// lowerASCII folds ASCII letters; it allocates only when there is an upper-case one.
func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// skipSpace returns the first position at or after i that is no white space.
func skipSpace(s string, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

// skipToken returns the first position at or after i that is white space, or len(s).
func skipToken(s string, i int) int {
	for i < len(s) && !isSpace(s[i]) {
		i++
	}
	return i
}

func trimSpace(s string) string {
	s = s[skipSpace(s, 0):]
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// wordEnd reports whether position i, which follows a word character, ends a word.
func wordEnd(s string, i int) bool { return i >= len(s) || !isWord(s[i]) }

// gap returns where the white space at i ends; ok is false when there is none.
func gap(s string, i int) (end int, ok bool) {
	end = skipSpace(s, i)
	return end, end > i
}

// phrase matches words separated by white space at i and returns the position after them.
func phrase(s string, i int, words ...string) (end int, ok bool) {
	for n, w := range words {
		if n > 0 {
			if i, ok = gap(s, i); !ok {
				return 0, false
			}
		}
		if !strings.HasPrefix(s[i:], w) {
			return 0, false
		}
		i += len(w)
	}
	return i, true
}

// anyPrefix returns the first prefix of s that is in the list, "" when there is none.
func anyPrefix(s string, list ...string) string {
	for _, p := range list {
		if strings.HasPrefix(s, p) {
			return p
		}
	}
	return ""
}

// pythonAt matches python with at most one digit at i and returns the position after it.
func pythonAt(s string, i int) (end int, ok bool) {
	if i, ok = phrase(s, i, "python"); !ok {
		return 0, false
	}
	if i < len(s) && '0' <= s[i] && s[i] <= '9' {
		return i + 1, true
	}
	return i, true
}

// fields splits at white space.
func fields(s string) []string {
	var out []string
	for i := skipSpace(s, 0); i < len(s); i = skipSpace(s, i) {
		end := skipToken(s, i)
		out = append(out, s[i:end])
		i = end
	}
	return out
}

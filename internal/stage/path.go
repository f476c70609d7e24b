package stage

import "strings"

// IsTestFile reports whether a path names a test file or lies in a folder of tests. Both
// slashes separate.
func IsTestFile(path string) bool {
	p := lowerASCII(path)
	for p != "" {
		n := strings.IndexAny(p, `/\`)
		folder := n >= 0
		name := p
		if folder {
			name, p = p[:n], p[n+1:]
		} else {
			p = ""
		}
		switch {
		case anyPrefix(name, "test_", "conftest.", "pytest") != "",
			strings.Contains(name, "_test."), strings.Contains(name, ".test."), strings.Contains(name, ".spec."),
			folder && (name == "test" || name == "tests" || name == "spec" || name == "__tests__"):
			return true
		}
	}
	return false
}

// IsSummaryFile reports whether a path names notes about the work, or lies under /tmp.
func IsSummaryFile(path string) bool {
	if anyPrefix(path, "/tmp/", "tmp/") != "" {
		return true
	}
	p := lowerASCII(path)
	dot := strings.LastIndexByte(p, '.')
	if dot < 0 || dot == len(p)-1 || strings.Trim(p[dot+1:], "abcdefghijklmnopqrstuvwxyz") != "" {
		return false
	}
	p = p[:dot]
	switch p[strings.LastIndexByte(p, '/')+1:] {
	case "fix_summary", "notes", "changelog", "summary", "report":
		return true
	}
	return strings.HasSuffix(p, "_summary") || strings.HasSuffix(p, "_report") || strings.HasSuffix(p, "_notes")
}

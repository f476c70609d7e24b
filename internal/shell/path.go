package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// PathClass says what kind of file a normalised path names (docs/spec/process.md, section 1.2).
type PathClass uint8

// The classes. ClassNone is that of the empty path.
const (
	ClassNone PathClass = iota
	ClassScratch
	ClassTest
	ClassSource
)

// String returns "none", "scratch", "test" or "source".
func (c PathClass) String() string {
	return [...]string{"none", "scratch", "test", "source"}[c]
}

// rootFile are the files at the workspace root that belong to the project; any other file
// there is taken for scratch.
var rootFile = regexp.MustCompile(`^(setup\.[^/]*|pyproject\.toml|tox\.ini|manage\.py|makefile|package\.json|cargo\.toml|go\.mod|dockerfile)$`)

var backupSuffixes = []string{".bak", ".orig", ".backup", ".old", ".rej", "~"}

// Class returns the class of a normalised path.
func (p *Parser) Class(file string) PathClass {
	if file == "" {
		return ClassNone
	}
	has := func(affix func(s, a string) bool) func(string) bool {
		return func(a string) bool { return affix(file, a) }
	}
	if slices.ContainsFunc(p.scratch, has(strings.HasPrefix)) || slices.ContainsFunc(backupSuffixes, has(strings.HasSuffix)) {
		return ClassScratch
	}
	if !strings.Contains(file, "/") && !rootFile.MatchString(file) {
		return ClassScratch
	}
	if isTest(file) {
		return ClassTest
	}
	return ClassSource
}

// isTest reports whether a file has a test's name or lies in a folder of tests.
func isTest(file string) bool {
	rest := file
	for {
		dir, below, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		switch dir {
		case "test", "tests", "testing", "__tests__":
			if !strings.Contains(below, "\n") {
				return true
			}
		}
		rest = below
	}
	return strings.HasPrefix(rest, "test_") || strings.Contains(rest, "_test.") ||
		strings.HasPrefix(rest, "conftest.") || rest == "test.py" || rest == "tests.py"
}

// join resolves p against the absolute directory cwd, lexically.
func join(cwd, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(cwd, p)
}

// relative strips the root and the outer slashes of a cleaned absolute path and lowers it.
func relative(root, p string) string {
	if rest, ok := strings.CutPrefix(p, root); ok && (rest == "" || rest[0] == '/') {
		p = rest
	}
	return strings.ToLower(strings.Trim(p, "/"))
}

// patchPath finds the files a unified diff or an apply_patch envelope names.
var patchPath = regexp.MustCompile(`(?m)^(?:\+\+\+ (?:b/)?|\*\*\* (?:Update|Add) File: )(\S+)`)

// HasPatchPath reports whether the text names a file as a patch does.
func HasPatchPath(text string) bool { return patchPath.MatchString(text) }

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

package stage_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/stage"
	"pgregory.net/rapid"
)

// The predicates as plain regular expressions, over lower-cased text.
const (
	cd        = `cd\s+[^&;]+[&;]+\s*`
	sourceExt = `(?:py|js|ts|java|cs|rb|go|rs|cpp|c|h)`
	sedExt    = `(?:py|js|ts|java|cs|rb|go|rs|cpp|c|h|csproj|json|yaml|yml|xml|toml)`
	catExt    = `(?:py|js|ts|java|cs|rb|go|rs|cpp|c|h|jsx|tsx|csproj|json|yaml|yml|xml|toml|cfg|ini|sh)`
)

var (
	leadingCDs = regexp.MustCompile(`\A\s*(?:` + cd + `)+`)
	leadingCD  = regexp.MustCompile(`\A\s*` + cd)

	testPattern = regexp.MustCompile(`(?:\A|\s|&&|;|/)(?:pytest|python\d?\s+(?:-m\s+)?(?:pytest|unittest)` +
		`|python\d?\s+(?:test_|tests/|run_tests)|npm\s+(?:test|run\s+test)|npx\s+(?:jest|mocha|vitest)|jest|mocha` +
		`|cargo\s+test|go\s+test|dotnet\s+test|make\s+test|tox|nosetests)`)
	tmpPattern  = regexp.MustCompile(`(?:cat|echo|printf|tee)\s+.*>\s*/tmp/`)
	tidyPattern = regexp.MustCompile(`\A\s*(?:` + cd + `)*(?:rm\s+(?:-[rfv]+\s+)*\S+|git\s+stash(?:\s+(?:pop|drop|apply))?` +
		`|git\s+checkout\s+--\s*\.|git\s+restore\b|git\s+clean\b|mkdir\s+-?p?\s)\s*\z`)
	codePattern = regexp.MustCompile(`python\d?\s+-c\s+["'](?s:.*)(?:open\(|write\(|with\s+open)` +
		`|cat\s+>\s*\S+\.` + catExt + `\s*<<|(?:echo|printf)\s+.*>\s*\S+\.` + sourceExt +
		`|sed\s+-i\s+.*\S+\.` + sedExt + `|tee\s+\S+\.` + sourceExt)
	runPattern = regexp.MustCompile(`\bpython\d?\s+(?:-\S+\s+)*\S+\.py\b|\bpython\d?\s+-m\s+\S+` +
		`|\bnode\s+(?:-\S+\s+)*\S+\.(?:js|ts|mjs|cjs)\b|\b(?:bash|sh|zsh|ksh)\s+(?:-\S+\s+)*\S+\.sh\b` +
		`|\bruby\s+(?:-\S+\s+)*\S+\.rb\b|\bphp\s+(?:-\S+\s+)*\S+\.php\b|\bperl\s+(?:-\S+\s+)*\S+\.pl\b|\bjava\s+\S+` +
		`|\b(?:make|cmake|cargo\s+run|go\s+run|go\s+build|npm\s+(?:start|run|exec)|npx\s+\S+|yarn\s+(?:start|run)` +
		`|pnpm\s+(?:start|run)|pip\s+install|dotnet\s+(?:run|build)|mvn\s+(?:compile|package|exec)|gradle\s+(?:run|build)` +
		`|docker\s+(?:run|compose|build)|uvicorn|gunicorn|flask\s+run|streamlit\s+run)\b` +
		`|\b(?:curl|wget|http|https)\s|\./\S`)
	inspectionPattern = regexp.MustCompile(`\A\s*(?:` + cd + `)?(?:grep|rg|ag|ack|find\b|head\b|tail\b|less\b|more\b|wc\b|ls\b` +
		`|dir\b|tree\b|file\b|jq\b|realpath\b|sed\s+-?n|git\s+(?:log|show|blame))`)
	catPattern       = regexp.MustCompile(`\A\s*(?:` + cd + `)?cat\b`)
	redirectPattern  = regexp.MustCompile(`\A\s*>`)
	reviewPattern    = regexp.MustCompile(`\bgit\s+(?:diff|status)\b`)
	modifyingPattern = regexp.MustCompile(`\bsed\s+-i\b|\bpatch\b|\btee\s|>\s*\S|\bchmod\b|\bmv\b|\bcp\b|\binstall\b|\brm\s` +
		`|\bgit\s+checkout\s+--|\bgit\s+restore\b`)
	sourcePattern = regexp.MustCompile(`["']?([^"'\s>]+\.` + sourceExt + `)`)

	testFilePattern = regexp.MustCompile(`(?:\A|[\\/])(?:test_|[^\\/]*_test\.|tests?[\\/]|spec[\\/]|__tests__[\\/]` +
		`|[^\\/]*\.test\.|[^\\/]*\.spec\.|conftest\.|pytest)`)
	summaryPattern = regexp.MustCompile(`(?:(?:\A|/)(?:fix_summary|notes|changelog|summary|report)|_summary|_report|_notes)\.[a-z]+\z`)
)

func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func trim(s string) string { return strings.Trim(s, "\t\n\f\r ") }

// slowPredicates returns the eight predicates in the order of predicates.
func slowPredicates(command string) [8]bool {
	s := foldASCII(command)
	rest := trim(leadingCDs.ReplaceAllString(s, ""))
	one := trim(leadingCD.ReplaceAllString(s, ""))
	inspection := inspectionPattern.MatchString(s)
	cat := catPattern.FindStringIndex(s)
	return [8]bool{
		testPattern.MatchString(s),
		rest != "" && (tmpPattern.MatchString(rest) || tidyPattern.MatchString(s)),
		rest != "" && codePattern.MatchString(rest),
		one != "" && !inspection && runPattern.MatchString(one),
		reviewPattern.MatchString(s),
		inspection,
		cat != nil && !redirectPattern.MatchString(s[cat[1]:]),
		modifyingPattern.MatchString(s),
	}
}

func slowSourcePath(command string) string {
	if m := sourcePattern.FindStringSubmatch(command); m != nil {
		return m[1]
	}
	return ""
}

// predicates returns test, cleanup, code writing, run, git review, inspection, cat and
// modifying.
func predicates(command string) [8]bool {
	c := stage.ParseCommand(command)
	return [8]bool{
		c.IsTest(), c.IsCleanup(), c.IsCodeWriting(), c.IsRun(),
		c.IsGitReview(), c.IsInspection(), c.IsCat(), c.IsModifying(),
	}
}

func compare(t interface {
	Helper()
	Fatalf(string, ...any)
}, command string) {
	t.Helper()
	if got, want := predicates(command), slowPredicates(command); got != want {
		t.Fatalf("%q:\n got %v\nwant %v (test cleanup code run review inspection cat modifying)", command, got, want)
	}
	c := stage.ParseCommand(command)
	if got, want := c.SourcePath(), slowSourcePath(command); got != want {
		t.Fatalf("%q: source path %q, want %q", command, got, want)
	}
	if got, want := stage.IsTestFile(command), testFilePattern.MatchString(foldASCII(command)); got != want {
		t.Fatalf("%q: test file %v, want %v", command, got, want)
	}
	want := strings.HasPrefix(command, "/tmp/") || strings.HasPrefix(command, "tmp/") ||
		summaryPattern.MatchString(foldASCII(command))
	if got := stage.IsSummaryFile(command); got != want {
		t.Fatalf("%q: summary file %v, want %v", command, got, want)
	}
}

// fragments are what the patterns are made of, so that random strings come close to them.
var fragments = strings.Split(
	" |  |\n|\t|\v|é|&|&&|;|/|\\|-|--|.|./|>|>>|2>&1|<<|<<EOF|'|\"|(|)|cd|cd x && |cd /a;|CD a &&|x|a.b|_|0|3|"+
		"pytest|python|python3|Python|python -m |unittest|test_|tests/|tests|test|run_tests|npm|npm run |npx|jest|mocha|vitest|"+
		"cargo|go|dotnet|make|cmake|tox|nosetests|rm|rm -rf|-r|-f|-v|git|stash|pop|drop|apply|checkout|restore|clean|mkdir|-p|p|"+
		"cat|echo|printf|tee|/tmp/|tmp/|-c|open(|write(|with|open|.py|.js|.json|.c|.cfg|.cpp|.h|.yaml|.toml|.sh|.rb|.pl|.php|.mjs|"+
		"sed|-i|-n|n|grep|rg|ag|ack|find|head|tail|less|more|wc|ls|dir|tree|file|jq|realpath|log|show|blame|diff|status|"+
		"node|bash|sh|zsh|ruby|php|perl|java|run|build|start|exec|install|pip|yarn|pnpm|mvn|compile|package|gradle|docker|compose|"+
		"uvicorn|gunicorn|flask|streamlit|curl|wget|http|https|patch|chmod|mv|cp|spec/|__tests__|_test.|.test.|.spec.|conftest.|"+
		"SUMMARY|NOTES|changelog|fix_summary|_report|_notes|.md|report", "|")

func drawCommand(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom(fragments), rapid.SampledFrom([]string{" ", " ", "\n"}),
	), 0, 14).Draw(t, "fragments"), "")
}

func TestPredicatesEqualPatterns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			compare(t, drawCommand(t))
		}
	})
}

func FuzzPredicates(f *testing.F) {
	for _, s := range []string{
		"", "cd /testbed && python3 -m pytest -q", "cd a; cd b && rm -rf x", "mkdir -p ", "cat >f.py<<EOF",
		"sed -i 's/a/b/' src/x.py", "python -c \"open('f')\"", "echo a\n > /tmp/x", "\xff./x", "cd  && ls",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		if len(command) < 2000 && strings.ToValidUTF8(command, "") == command {
			compare(t, command)
		} else {
			predicates(command)
		}
	})
}

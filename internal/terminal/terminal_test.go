package terminal_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/internal/terminal"
	"pgregory.net/rapid"
)

func written(t interface{ Fatal(...any) }, parts ...string) string {
	var b bytes.Buffer
	w := terminal.NewWriter(&b)
	for _, p := range parts {
		if n, err := w.Write([]byte(p)); err != nil || n != len(p) {
			t.Fatal(n, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		"plain, é, 日本, 🙂\n\tx":         "plain, é, 日本, 🙂\n\tx",
		"\x1b]0;title\x07":             `\u001b]0;title\u0007`,
		"a\rb\x00\x7f":                 `a\rb\u0000\u007f`,
		"\u009b31m\u0085":              `\u009b31m\u0085`,
		"\x9b31m":                      `\x9b31m`,
		"a\u202eb\u2066c\u2069\u061cd": `a\u202eb\u2066c\u2069\u061cd`,
		"a\u200bb\ufeffc\u2028d\u2029": `a\u200bb\ufeffc\u2028d\u2029`,
		"\xed\xa0\x80":                 `\xed\xa0\x80`,
		"\xff\xfe":                     `\xff\xfe`,
		"\U000e0041":                   `\udb40\udc41`,
		"\u0600 \ufffd":                "\u0600 \ufffd",
		"end\xe2\x80":                  `end\xe2\x80`,
	} {
		if got := written(t, text); got != want {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
	}
	if got, want := terminal.Escape("two\nlines\t\x1b"), `two\nlines\t\u001b`; got != want {
		t.Errorf("Escape gives %s, want %s", got, want)
	}
}

func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "bytes") {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "raw"))
		}
		return string(rapid.SliceOf(rapid.SampledFrom([]rune("a\n\t\x1b\u009b\u202e\u200d\u2028é日🙂\U000e0001"))).Draw(t, "runes"))
	})
}

func TestNothingHiddenPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		whole := written(t, text)
		if !utf8.ValidString(whole) {
			t.Fatalf("%q is no UTF-8", whole)
		}
		for _, r := range whole {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || strings.ContainsRune("\u202e\u200d\u2028\U000e0001", r)) {
				t.Fatalf("%q passes in %q", r, whole)
			}
		}
		at := rapid.IntRange(0, len(text)).Draw(t, "cut")
		if got := written(t, text[:at], text[at:]); got != whole {
			t.Fatalf("in two calls %q, in one %q", got, whole)
		}
		if got := terminal.Escape(text); strings.ContainsAny(got, "\n\t") {
			t.Fatalf("%q has lines", got)
		}
	})
}

func TestJSONStaysTheSameData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(anyText().Draw(t, "text"), "\ufffd")
		line, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal([]byte(written(t, string(line))), &got); err != nil || got != text {
			t.Fatalf("%q, %v, want %q", got, err, text)
		}
	})
}

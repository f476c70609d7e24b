package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// planted are made-up secrets; they are put together here so that no scanner takes this file
// for a leak.
var planted = []string{
	"AKIA" + "ABCDEFGHIJKLMNOP", "ghp_" + strings.Repeat("a1", 18), "glpat-" + strings.Repeat("x", 20), "sk-" + strings.Repeat("Ab1_", 6),
	"hf_" + strings.Repeat("q", 34), "xoxb-" + "123456789012-abc", "AIza" + strings.Repeat("z", 35),
	"eyJ" + strings.Repeat("a", 12) + ".eyJ" + strings.Repeat("b", 12) + "." + strings.Repeat("c", 12),
	"Bearer " + strings.Repeat("t", 24), "https://me:hunter2@example.org/x",
	"-----BEGIN RSA PRIVATE KEY-----\nMIIE" + strings.Repeat("k", 40) + "\n-----END RSA PRIVATE KEY-----",
	"/home/jane.doe/src", "/Users/jane/x", `C:\Users\jane\x`,
}

func TestText(t *testing.T) {
	for _, secret := range planted {
		got, n := Text("before " + secret + " after")
		if n != 1 || strings.Contains(got, secret) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%q became %q (%d)", secret, got, n)
		}
		if strings.Contains(got, "jane") || strings.Contains(got, "hunter2") {
			t.Errorf("%q became %q", secret, got)
		}
	}
	for _, plain := range []string{"/home/user/x", "/home/openhands/.bashrc", "ask-me-anything-about-this-long-word", "https://example.org:80/a@b", "sk-short", ""} {
		if got, n := Text(plain); got != plain || n != 0 {
			t.Errorf("%q became %q (%d)", plain, got, n)
		}
	}
}

func TestJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(planted), rapid.String())).Draw(t, "parts")
		text, err := json.Marshal(map[string]string{"command": strings.Join(parts, " ")})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := Text(string(text))
		if !json.Valid([]byte(got)) {
			t.Fatalf("%s became %s", text, got)
		}
		if again, n := Text(got); again != got || n != 0 {
			t.Fatalf("%s became %s", got, again)
		}
	})
}

package lenientjson_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// FuzzUnquote compares with the decoder's own way, which goes character by character.
func FuzzUnquote(f *testing.F) {
	for _, body := range []string{
		``, `plain`, `a\nb\tc\r\b\f\/\\\"`, `\u00e9\u4e2d`, `\ud83d\ude00!`, `\ud83d`, `\ud83dx`, `\ud83d\n`,
		`\ude00\ud83d`, `\ud83d\ud83d\ude00`, `\ud83d\u0041`, `\uD83D\uDE00`, "é中\U0001f600", "bad \xff utf-8 \\n",
		`\`, `\u12`, `\u12x4`, `\x`, `a"b`, "a\nb", `\u0000`, `\u+123`, `\ufffd`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		quoted := jsontext.Value(`"` + body + `"`)
		if !quoted.IsValid(jsontext.AllowInvalidUTF8(true)) {
			lenientjson.Unquote(quoted) // must not panic
			return
		}
		want, _ := jsontext.AppendUnquote(nil, quoted)
		if got := lenientjson.Unquote(quoted); got != string(want) {
			t.Errorf("%q: got %q, want %q", quoted, got, want)
		}
	})
}

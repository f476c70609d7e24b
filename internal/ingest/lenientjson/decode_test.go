package lenientjson_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// A repaired JSON string says the same, but for what tables can't hold, and every reader of
// JSON takes it.
func TestRepairedEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			`a`, `\\`, `\"`, `\n`, `u0000`, `\u0000`, `\u0041`, `\ud83d`, `\uD83D`, `\ude00`, `\ufffd`, `é`,
		}), 0, 8).Draw(t, "parts")
		quoted := `"` + strings.Join(parts, "") + `"`
		want := strings.ReplaceAll(lenientjson.Unquote([]byte(quoted)), "\x00", "\ufffd")
		data := []byte(quoted)
		nul := lenientjson.RepairEscapes(data)
		var got string
		if err := lenientjson.Decode(data, &got); err != nil || got != want || len(data) != len(quoted) {
			t.Fatalf("%s became %s: %q, want %q, %v", quoted, data, got, want, err)
		}
		if n := strings.Count(lenientjson.Unquote([]byte(quoted)), "\x00"); nul != n {
			t.Fatalf("%s: %d NUL characters, counted %d", quoted, n, nul)
		}
		if again := lenientjson.RepairEscapes(data); again != 0 || format.Check(data) != nil || strings.Contains(strings.ReplaceAll(string(data), `\\`, ""), `\u0000`) {
			t.Fatalf("%s became %s", quoted, data)
		}
	})
}

// JSON inside a text is read as leniently as the record around it.
func TestJSONInsideAText(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"x\u0000y"}`:           "x\ufffdy",
		`{"a":"x\ud83dy"}`:           "x\ufffdy",
		`{"a":"\ud83d\ude00"}`:       "\U0001f600",
		`{"a":"\\u0000"}`:            `\u0000`,
		`{"a":"first","a":"second"}`: "second",
	} {
		o, ok := lenientjson.Parse(text)
		if !ok || o.Text("a") != want {
			t.Errorf("%s: %q, want %q", text, o.Text("a"), want)
		}
		if raw := string(o.Append(nil)); strings.Contains(raw, `x\u0000`) || strings.Contains(raw, `\ud83dy`) {
			t.Errorf("%s is kept as %s", text, raw)
		}
	}
}

func BenchmarkRepairEscapes(b *testing.B) {
	for name, text := range map[string]string{"plain": "a line of a log\\n", "emoji": `\ud83d\ude00`, "Chinese": `\u4e2d\u6587`} {
		data := []byte(`"` + strings.Repeat(text, 1<<16) + `"`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				lenientjson.RepairEscapes(data)
			}
		})
	}
}

package format_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/conformance"
	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// odd are inputs on which JSON decoders like to differ.
func odd() []string {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []string{
		`{}`, `[]`, `""`, `0`, `-0`, `1e3`, `1.0`, `9007199254740993`, `123456789012345678901234567890`, `null`, `true`,
		` { "a" : [ 1 , 2 ] } `, "\t{\r\n\"a\":1}\n", `{"a":1,"a":2}`, `{"a":{"b":1},"a":{"c":2}}`,
		`"\u0041\n\/\\"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\u0000"`, "\"\xff\"", "\"a\xc3\"", `{"\u0061":1}`,
		``, ` `, `{`, `[`, `"`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `[1,]`, `[,]`, `{,}`, `{"a" 1}`, `{a:1}`, `'a'`,
		`NaN`, `-Infinity`, `[NaN]`, `{"a":Infinity}`, `01`, `1.`, `.5`, `+1`, `1e`, `0x1`, `tru`, `nul`, `truex`, `{} {}`, `1 2`, `{}x`,
		"\"\x01\"", "\"\n\"", `"\x"`, `"\u12"`, `"\`, "\ufeff{}", `{"a":1}` + "\x00", deep(100), deep(9_999), deep(20_000), `{"a":"}"}`, `{"a":"\"}"}`, `["\\"]`,
	}
}

// TestDecodeAgreesWithTheStandardLibrary compares what is accepted, and the value, on odd
// inputs and on real logs.
func TestDecodeAgreesWithTheStandardLibrary(t *testing.T) {
	for _, text := range odd() {
		compareDecoders(t, text)
	}
	root := conformance.Dir(t, "fixtures")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.HasSuffix(file, ".jsonl") {
			for line := range bytes.Lines(data) {
				compareDecoders(t, string(line))
			}
			return nil
		}
		compareDecoders(t, string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func compareDecoders(t *testing.T, text string) {
	t.Helper()
	shown := text[:min(len(text), 40)]
	var want, got any
	wantErr := stdjson.Unmarshal([]byte(text), &want)
	gotErr := format.Decode([]byte(text), &got)
	if (wantErr == nil) != (gotErr == nil) {
		t.Errorf("%q: %v, encoding/json: %v", shown, gotErr, wantErr)
		return
	}
	if checkErr := format.Check([]byte(text)); (checkErr == nil) != (gotErr == nil) {
		t.Errorf("%q: Check %v, Decode %v", shown, checkErr, gotErr)
	}
	if gotErr != nil {
		var refused *format.RecordError
		if !errors.As(gotErr, &refused) || refused.Code == "" || refused.Message == "" {
			t.Errorf("%q: %v is no RecordError", shown, gotErr)
		}
		return
	}
	// Duplicate keys: here the value of the last one, merged objects in encoding/json's any.
	if !reflect.DeepEqual(got, want) && !strings.Contains(text, `"a":{"b":1},"a"`) {
		t.Errorf("%q: %v, encoding/json: %v", shown, got, want)
	}
	outlineAgrees(t, text)
}

// outlineAgrees holds a probe to the members that encoding/json finds.
func outlineAgrees(t interface{ Errorf(string, ...any) }, text string) {
	p := format.NewProbe("", []byte(text))
	shown := text[:min(len(text), 40)]
	if !format.Complete([]byte(text)) {
		t.Errorf("%q: not complete", shown)
	}
	var members map[string]stdjson.RawMessage
	if stdjson.Unmarshal([]byte(text), &members) == nil && members != nil {
		keys := slices.Clone(p.Keys())
		slices.Sort(keys)
		if keys = slices.Compact(keys); len(keys) != len(members) {
			t.Errorf("%q: keys %q, want %d", shown, keys, len(members))
		}
		for _, key := range keys {
			if _, ok := members[key]; !ok {
				t.Errorf("%q: key %q", shown, key)
			}
			if string(p.Get(key)) != string(members[key]) {
				t.Errorf("%q: member %q is %s, want %s", shown, key, p.Get(key), members[key])
			}
			if string(p.Get(key)) != string(p.Root.Get(key)) {
				t.Errorf("%q: %q differs between probe and value", shown, key)
			}
		}
	}
	var elements []stdjson.RawMessage
	if stdjson.Unmarshal([]byte(text), &elements) == nil && len(elements) > 0 {
		for i, want := range elements {
			if got := p.Root.At(i); string(got) != string(want) {
				t.Errorf("%q: element %d %s, want %s", shown, i, got, want)
			}
		}
		if got := p.Root.At(len(elements)); got != nil {
			t.Errorf("%q: element %s behind the last", shown, got)
		}
	}
}

func TestErrorsPoint(t *testing.T) {
	for _, c := range []struct{ text, code, says string }{
		{`{"a": [1, NaN]}`, "non_finite_number", "byte 10, line 1"},
		{"{\n\"a\": -Infinity}", "non_finite_number", "line 2 of the record: Infinity"},
		{`{"a": `, "bad_json", "ends inside a value"},
		{"{\n\n!", "bad_json", "byte 3, line 3"},
		{strings.Repeat("[", 11_000), "too_deep", "10000"},
		{`{"a": {"b": 1}}`, "bad_type", "at /a/b: got a number"},
	} {
		var v struct {
			A struct{ B string } `json:"a"`
		}
		var target any = &v.A.B
		if strings.HasPrefix(c.text, "{") {
			target = new(struct {
				A struct {
					B string `json:"b"`
				} `json:"a"`
			})
			if c.code != "bad_type" {
				target = new(any)
			}
		}
		err := format.Decode([]byte(c.text), target)
		var refused *format.RecordError
		if !errors.As(err, &refused) || refused.Code != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.30s: %v", c.text, err)
		}
	}
}

func TestArgs(t *testing.T) {
	raw := `{"filePath": "/a\u0062", "path": null, "command": 5, "startLine": 3, "end_line": 4.0, "oldString": "x\ny", "other": {"command": "no"}, "content": "", "content": "last"}`
	var a format.Args
	if err := format.Decode([]byte(raw), &a); err != nil {
		t.Fatal(err)
	}
	want := trajectory.Args{
		Raw: raw, FilePath: "/ab", StartLine: 3, EndLine: 4, OldString: "x\ny", Content: "last",
		Has: trajectory.HasFilePath | trajectory.HasPath | trajectory.HasCommand | trajectory.HasStartLine |
			trajectory.HasEndLine | trajectory.HasOldString | trajectory.HasContent,
	}
	if a.Args != want {
		t.Errorf("%+v\nwant %+v", a.Args, want)
	}
	for text, line := range map[string]int64{
		`{"startLine": 2, "start_line": 3}`: 2, `{"start_line": 3, "startLine": 2}`: 2, `{"startLine": 0, "start_line": 3}`: 3,
		`{"start_line": 3, "startLine": 0}`: 3, `{"startLine": "2"}`: 0, `{"startLine": 2.5}`: 0, `{"startLine": null}`: 0,
	} {
		if err := format.Decode([]byte(text), &a); err != nil || a.StartLine != line || a.Has != trajectory.HasStartLine {
			t.Errorf("%s: %+v, %v", text, a.Args, err)
		}
	}
	for _, text := range []string{`null`, `[]`, `"ls"`} {
		if err := format.Decode([]byte(text), &a); err != nil || a.Has != 0 || (a.Raw != text && text != "null") {
			t.Errorf("%s: %+v, %v", text, a.Args, err)
		}
	}
}

func TestOptInt(t *testing.T) {
	for text, want := range map[string]string{
		`5`: "{5 true}", `-5`: "{-5 true}", `3.0`: "{3 true}", `3e2`: "{300 true}", `null`: "{0 false}", `0`: "{0 true}",
		`9223372036854775807`: "{9223372036854775807 true}", `3.5`: "", `1e300`: "", `"5"`: "", `true`: "", `{}`: "",
	} {
		var i format.OptInt
		err := format.Decode([]byte(text), &i)
		if got := fmt.Sprint(i.Int); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%s: %s, %v, want %q", text, got, err, want)
		}
	}
}

// TestOutlineOfAnyJSON draws JSON values.
func TestOutlineOfAnyJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var value func(depth int) any
		value = func(depth int) any {
			switch rapid.IntRange(0, 5+min(depth, 1)*2).Draw(t, "kind") {
			case 0:
				return nil
			case 1:
				return rapid.Bool().Draw(t, "bool")
			case 2:
				return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
			case 6:
				return rapid.SliceOfN(rapid.Custom(func(*rapid.T) any { return value(depth - 1) }), 0, 3).Draw(t, "array")
			case 7:
				m := map[string]any{}
				for range rapid.IntRange(0, 3).Draw(t, "members") {
					m[rapid.StringMatching(`[a-c"\\{}\[\], :]{0,4}`).Draw(t, "key")] = value(depth - 1)
				}
				return m
			}
			return rapid.StringMatching(`[a-c"\\{}\[\], :\n]{0,8}`).Draw(t, "text")
		}
		m := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			m[rapid.StringMatching(`[a-c"\\{}\[\], :]{0,4}`).Draw(t, "key")] = value(3)
		}
		var v any = m
		if rapid.Bool().Draw(t, "array at the top") {
			v = []any{m, value(2)}
		}
		text, err := stdjson.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			value := jsontext.Value(text)
			if err := value.Indent(); err != nil {
				t.Fatal(err)
			}
			text = value
		}
		outlineAgrees(t, string(text))
	})
}

func FuzzProbe(f *testing.F) {
	for _, text := range odd() {
		if len(text) < 1000 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := format.NewProbe("f.json", data)
		for _, key := range p.Keys() {
			v := p.Get(key)
			v.First()
			v.Get("a")
			v.Text()
		}
		p.Root.First()
		if s := p.Seen(); len(s) > 1000 {
			t.Errorf("%d bytes to describe a record", len(s))
		}
		valid := format.Check(data) == nil
		if valid != stdjson.Valid(data) {
			t.Errorf("valid %v, encoding/json %v", valid, !valid)
		}
		if valid && !format.Complete(data) {
			t.Error("valid but not complete")
		}
		var a format.Args
		if err := format.Decode(data, &a); (err == nil) != valid {
			t.Errorf("arguments: %v", err)
		}
	})
}

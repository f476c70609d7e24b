package lenientjson_test

import (
	"fmt"
	"testing"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

func TestOtherTypesAreAbsent(t *testing.T) {
	var v struct {
		Text    lenientjson.Text    `json:"text"`
		Opt     lenientjson.OptText `json:"opt"`
		Ident   lenientjson.Ident   `json:"ident"`
		Int     lenientjson.Int     `json:"int"`
		Flag    lenientjson.Flag    `json:"flag"`
		Content lenientjson.Content `json:"content"`
		Object  lenientjson.Object  `json:"object"`
		List    lenientjson.List[struct {
			A lenientjson.Int `json:"a"`
		}] `json:"list"`
	}
	for _, tt := range []struct{ json, want string }{
		{`{}`, `{ { false}  {{0 false}} {false false} { false} [] []}`},
		{`{"text":1,"opt":{},"ident":[],"int":"x","flag":2,"content":5,"object":[1],"list":{"a":1}}`,
			`{ { false}  {{0 false}} {false false} { false} [] []}`},
		{`{"text":"a\ud83d","opt":"","ident":9007199254740993,"int":3.0,"flag":"True","content":["x",{"type":"text","text":"a"},{"type":"image"},{"text":"b"}],"object":{"a":null,"b":1,"b":2},"list":[{"a":1},7]}`,
			"{a\ufffd { true} 9007199254740993 {{3 true}} {true true} {a\nb true} [{a null} {b 2}] [{{{1 true}}} {{{0 false}}}]}"},
	} {
		v.Opt, v.Ident = lenientjson.OptText{}, ""
		if err := format.Decode([]byte(tt.json), &v); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%v", v); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.json, got, tt.want)
		}
	}
}

func TestObject(t *testing.T) {
	o, ok := lenientjson.Parse(`{"a":"x\ny","b":null,"n":"12","é":{"c":[1]}}`)
	if !ok || o.Text("a") != "x\ny" || o.Get("b") != nil || o.Int("n").Or(0) != 12 || o.Text("é") != "" {
		t.Errorf("%v %v", o, ok)
	}
	o.SetText("a", "q\"")
	o.SetInt("z", -3)
	if got := string(o.Append(nil)); got != `{"a":"q\"","b":null,"n":"12","é":{"c":[1]},"z":-3}` {
		t.Error(got)
	}
	for _, text := range []string{``, `null`, `[]`, `"{}"`, `{"a"`, `{} x`} {
		if o, ok := lenientjson.Parse(text); ok {
			t.Errorf("%q is the object %v", text, o)
		}
	}
}

func FuzzContent(f *testing.F) {
	for _, seed := range []string{`"a"`, `[{"type":"text","text":"a"}]`, `[["a"],{"content":[{"text":"x"}]}]`, `{`, `[`, `nul`, `"\ud83d"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c lenientjson.Content
		var o lenientjson.Object
		valid := format.Check(data) == nil
		if err := format.Decode(data, &c); (err == nil) != valid {
			t.Errorf("content of %q: %v", data, err)
		}
		if err := format.Decode(data, &o); (err == nil) != valid {
			t.Errorf("object of %q: %v", data, err)
		}
	})
}

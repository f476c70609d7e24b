package parquetrows_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/parquetrows"
)

type function struct {
	Name      string  `parquet:"name,optional"`
	Arguments *string `parquet:"arguments,optional"`
}

type call struct {
	ID       string    `parquet:"id"`
	Function *function `parquet:"function,optional"`
}

type message struct {
	Role    string  `parquet:"role"`
	Content *string `parquet:"content,optional"`
	Calls   []call  `parquet:"tool_calls,list,optional"`
}

type row struct {
	ID       string            `parquet:"instance_id"`
	Resolved int64             `parquet:"resolved"`
	Reward   *float64          `parquet:"reward,optional"`
	Ok       bool              `parquet:"ok"`
	Tags     []string          `parquet:"tags,list"`
	Plain    []int32           `parquet:"plain"`
	Messages []message         `parquet:"messages,list"`
	Labels   map[string]string `parquet:"labels"`
}

func write(t testing.TB, rows ...row) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[row](&buf)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func text(s string) *string { return &s }

func TestRows(t *testing.T) {
	half, nan := 0.5, math.NaN()
	data := write(t,
		row{ID: "a", Resolved: 9007199254740993, Reward: &half, Ok: true, Tags: []string{"x", "y\n\""}, Plain: []int32{1, 2}, Messages: []message{
			{Role: "user", Content: text("hi")},
			{Role: "assistant", Calls: []call{{ID: "1", Function: &function{Name: "f", Arguments: text("{}")}}, {ID: "2"}}},
			{Role: "tool", Content: text("caf\xc3")},
		}, Labels: map[string]string{"k": "v"}},
		row{ID: "b", Reward: &nan},
		row{ID: "c", Messages: []message{{Role: "user"}}},
	)
	f, err := parquetrows.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if !f.Has("x", "messages") || f.Has("role", "list") {
		t.Error("columns")
	}
	var got []string
	err = f.Rows(func() []byte { return nil }, func(n int64, json []byte) error {
		if n != int64(len(got)+1) || format.Check(json) != nil {
			t.Errorf("row %d: %s", n, json)
		}
		got = append(got, string(json))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"instance_id":"a","resolved":9007199254740993,"reward":0.5,"ok":true,"tags":["x","y\n\""],"plain":[1,2],"messages":[{"role":"user","content":"hi","tool_calls":null},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","function":null}]},{"role":"tool","content":"caf` + "\ufffd" + `","tool_calls":null}],"labels":{"key_value":[{"key":"k","value":"v"}]}}
{"instance_id":"b","resolved":0,"reward":null,"ok":false,"tags":[],"plain":[],"messages":[],"labels":{"key_value":[]}}
{"instance_id":"c","resolved":0,"reward":null,"ok":false,"tags":[],"plain":[],"messages":[{"role":"user","content":null,"tool_calls":null}],"labels":{"key_value":[]}}`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	stop := errors.New("stop")
	if err := f.Rows(func() []byte { return nil }, func(int64, []byte) error { return stop }); err != stop {
		t.Error(err)
	}
}

func TestDamaged(t *testing.T) {
	whole := write(t, row{ID: "a", Messages: []message{{Role: "user", Content: text(strings.Repeat("x", 100))}}})
	for cut := 0; cut < len(whole); cut += 7 {
		data := bytes.Clone(whole)
		data[cut] ^= 0x55
		f, err := parquetrows.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			continue
		}
		_ = f.Rows(func() []byte { return nil }, func(_ int64, json []byte) error {
			if err := format.Check(json); err != nil {
				t.Errorf("byte %d: %v", cut, err)
			}
			return nil
		})
	}
}

// A footer that claims more than the file holds is refused before room is made for it.
func TestFooter(t *testing.T) {
	for text, says := range map[string]string{
		"PAR1\xff\xff\xff\x7fPAR1": "2147483647 bytes",
		"PAR1":                     "too short",
		"PAR1 and what is not":     "does not end",
	} {
		if _, err := parquetrows.Open(strings.NewReader(text), int64(len(text))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(write(f, row{ID: "a", Tags: []string{"x"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parquetrows.Open(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			_ = file.Rows(func() []byte { return nil }, func(int64, []byte) error { return nil })
		}
	})
}

func BenchmarkRows(b *testing.B) {
	var rows []row
	for range 100 {
		r := row{ID: "a"}
		for range 20 {
			r.Messages = append(r.Messages, message{Role: "user", Content: text(strings.Repeat("some text that compresses ", 40))})
		}
		rows = append(rows, r)
	}
	data := write(b, rows...)
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		f, err := parquetrows.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		size = 0
		var buf []byte
		if err := f.Rows(func() []byte { return buf[:0] }, func(_ int64, json []byte) error {
			buf = json
			size += len(json)
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(size))
}

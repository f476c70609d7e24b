package embedding

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const key = "sk-very-secret"

// answer is what the endpoint says to one request; "" embeds the texts.
type answer struct {
	status  int
	header  http.Header
	body    string
	stall   bool // until the client gives up
	hangup  bool // ends the connection inside the body
	breakUp bool // closes the connection without a response
}

// server is an endpoint that works through a list of answers, then embeds.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	answers []answer
	inputs  [][]string
	models  []string
	auth    []string
}

func newServer(t testing.TB, answers ...answer) *server {
	s := &server{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string
		Input []string
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &in); err != nil || r.URL.Path != "/v1/embeddings" || r.Method != "POST" {
		http.Error(w, fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err), http.StatusTeapot)
		return
	}
	s.mu.Lock()
	s.inputs, s.models, s.auth = append(s.inputs, in.Input), append(s.models, in.Model), append(s.auth, r.Header.Get("Authorization"))
	var a answer
	if len(s.answers) > 0 {
		a, s.answers = s.answers[0], s.answers[1:]
	}
	s.mu.Unlock()
	switch {
	case a.stall:
		<-r.Context().Done()
		return
	case a.breakUp:
		panic(http.ErrAbortHandler)
	case a.hangup:
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, `{"data":[{"ind`)
		return
	}
	for k, v := range a.header {
		w.Header()[k] = v
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	if a.body != "" {
		fmt.Fprint(w, a.body)
		return
	}
	fmt.Fprint(w, response(in.Input))
}

// vector is what the endpoint makes of a text.
func vector(text string) []float64 {
	sum := sha256.Sum256([]byte(text))
	return []float64{float64(float32(sum[0]) / 7), float64(float32(sum[1]) / -9), float64(len(text))}
}

// response lists the vectors backwards: the index says which is whose.
func response(texts []string) string {
	var data []map[string]any
	for i := len(texts) - 1; i >= 0; i-- {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vector(texts[i])})
	}
	out, _ := json.Marshal(map[string]any{"object": "list", "data": data, "usage": map[string]int{"total_tokens": 7}})
	return string(out)
}

// client returns one whose waits are written down instead of waited for.
func client(t testing.TB, url string, change ...func(*Options)) (*Client, *[]time.Duration) {
	var waits []time.Duration
	opt := Options{
		Endpoint: url + "/v1", Key: key, Model: "m", Cache: filepath.Join(t.TempDir(), "sub", "cache.db"), Batch: 2, Attempts: 4,
		Wait: func(ctx context.Context, d time.Duration) error { waits = append(waits, d); return ctx.Err() },
	}
	for _, f := range change {
		f(&opt)
	}
	c, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, &waits
}

func TestVectors(t *testing.T) {
	s := newServer(t)
	var path string
	c, _ := client(t, s.URL, func(o *Options) { path = o.Cache })
	texts := []string{"a", "bb", "a", "ccc", "dddd", "bb", "eeeee"}
	got, err := c.Vectors(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if !slices.Equal(got[i], vector(text)) {
			t.Errorf("%q: %v, want %v", text, got[i], vector(text))
		}
	}
	if want := [][]string{{"a", "bb"}, {"ccc", "dddd"}, {"eeeee"}}; fmt.Sprint(s.inputs) != fmt.Sprint(want) {
		t.Errorf("sent %v, want %v", s.inputs, want)
	}
	if s.models[0] != "m" || s.auth[0] != "Bearer "+key {
		t.Errorf("model %q, authorization %q", s.models[0], s.auth[0])
	}
	if u := c.Usage(); u != (Usage{0, 5, 3}) {
		t.Errorf("%+v", u)
	}
	c.Close()

	// A second run calls nothing, even when the endpoint is gone.
	s.Close()
	c, _ = client(t, s.URL, func(o *Options) { o.Cache = path })
	again, err := c.Vectors(context.Background(), texts)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("%v: %v", again, err)
	}
	if u := c.Usage(); u != (Usage{5, 0, 0}) {
		t.Errorf("%+v", u)
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), key) {
		t.Errorf("the cache holds the key: %v", err)
	}
}

func TestModelsDoNotMix(t *testing.T) {
	s := newServer(t)
	path := filepath.Join(t.TempDir(), "c.db")
	for _, model := range []string{"m", "other", "m"} {
		c, _ := client(t, s.URL, func(o *Options) { o.Cache, o.Model = path, model })
		if _, err := c.Vectors(context.Background(), []string{"x"}); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if fmt.Sprint(s.models) != "[m other]" {
		t.Errorf("asked %v", s.models)
	}
}

func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		answers []answer
		waits   string
	}{
		"server error":   {[]answer{{status: 500}, {status: 502}, {status: 503}}, "[1s 2s 4s]"},
		"rate limit":     {[]answer{{status: 429, header: http.Header{"Retry-After": {"7"}}}, {status: 429}}, "[7s 2s]"},
		"bad JSON":       {[]answer{{body: "<html>busy</html>"}}, "[1s]"},
		"cut off":        {[]answer{{hangup: true}}, "[1s]"},
		"no response":    {[]answer{{breakUp: true}}, "[1s]"},
		"cut-off JSON":   {[]answer{{body: `{"data":[{"index":0,"embedding":[1,2`}}, "[1s]"},
		"bad retry hint": {[]answer{{status: 503, header: http.Header{"Retry-After": {"soon"}}}}, "[1s]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, c.answers...)
			cl, waits := client(t, s.URL)
			got, err := cl.Vectors(context.Background(), []string{"a"})
			if err != nil || !slices.Equal(got[0], vector("a")) {
				t.Fatalf("%v: %v", got, err)
			}
			if fmt.Sprint(*waits) != c.waits {
				t.Errorf("waited %v, want %s", *waits, c.waits)
			}
		})
	}
}

func TestStall(t *testing.T) {
	s := newServer(t, answer{stall: true})
	c, waits := client(t, s.URL, func(o *Options) { o.Timeout = 100 * time.Millisecond })
	if got, err := c.Vectors(context.Background(), []string{"a"}); err != nil || len(got) != 1 || len(*waits) != 1 {
		t.Errorf("%v after %v: %v", got, *waits, err)
	}
	s.answers = slices.Repeat([]answer{{stall: true}}, 9)
	if _, err := c.Vectors(context.Background(), []string{"b"}); err == nil || !strings.Contains(err.Error(), "no complete response within 100ms (attempt 4, the last one)") {
		t.Error(err)
	}
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		want   string
		tries  int
	}{
		"down":              {answer{status: 500, body: "boom"}, `status 500 Internal Server Error: "boom" (attempt 4, the last one)`, 4},
		"key refused":       {answer{status: 401, body: `{"error":{"message":"Incorrect API key provided: ` + key + `."}}`}, `"Incorrect API key provided: ***."; check the key`, 1},
		"no such model":     {answer{status: 404, body: `{"error":{"message":"no model m"}}`}, `"no model m"; check the base URL`, 1},
		"too long a text":   {answer{status: 400, body: strings.Repeat("x", 5000)}, `x..."`, 1},
		"long wait":         {answer{status: 429, header: http.Header{"Retry-After": {"86400"}}}, "it asks to wait 24h0m0s: try again then", 1},
		"never JSON":        {answer{body: "not json"}, "the response is no JSON", 4},
		"another shape":     {answer{body: `{"data":"none"}`}, "the response is not a list of embeddings", 1},
		"too few":           {answer{body: response([]string{"a"})}, "the response has 1 vectors for 2 texts", 1},
		"none":              {answer{body: `{}`}, "the response has 0 vectors for 2 texts", 1},
		"twice":             {answer{body: `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`}, "index 1 twice", 1},
		"outside":           {answer{body: `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`}, "an index 2 for 2 texts", 1},
		"lengths":           {answer{body: `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`}, "vectors of 1 and 2 components", 1},
		"empty":             {answer{body: `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`}, "a vector without components", 1},
		"too large a value": {answer{body: `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1e60]}]}`}, "component 0 of vector 1 is no single-precision number", 1},
		"null":              {answer{body: `{"data":[{"index":0,"embedding":null},{"index":1,"embedding":[1]}]}`}, "a vector without components", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, slices.Repeat([]answer{c.answer}, 9)...)
			cl, _ := client(t, s.URL)
			_, err := cl.Vectors(context.Background(), []string{"a", "b"})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.URL+"/v1/embeddings") {
				t.Errorf("%v\nwant %s", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), key) || len(err.Error()) > 800) {
				t.Errorf("the error holds the key, or too much: %v", err)
			}
			if len(s.inputs) != c.tries {
				t.Errorf("%d requests, want %d", len(s.inputs), c.tries)
			}
			if u := cl.Usage(); u.Embedded != 0 {
				t.Errorf("%+v", u)
			}
		})
	}
}

// What arrived before a failure is not asked for again.
func TestGoesOn(t *testing.T) {
	s := newServer(t, answer{}, answer{status: 400})
	c, _ := client(t, s.URL)
	texts := []string{"a", "b", "c", "d"}
	if _, err := c.Vectors(context.Background(), texts); err == nil {
		t.Fatal("no error")
	}
	if _, err := c.Vectors(context.Background(), texts); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(s.inputs) != "[[a b] [c d] [c d]]" {
		t.Errorf("sent %v", s.inputs)
	}
}

func TestCancel(t *testing.T) {
	s := newServer(t, answer{stall: true})
	c, waits := client(t, s.URL)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Vectors(ctx, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) || len(*waits) != 0 {
		t.Errorf("%v after %v", err, *waits)
	}
	s.mu.Lock()
	s.answers = []answer{{status: 500}}
	s.mu.Unlock()
	ctx, cancel = context.WithCancel(context.Background())
	c.opt.Wait = func(ctx context.Context, d time.Duration) error { cancel(); return wait(ctx, time.Hour) }
	if _, err := c.Vectors(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestLengthChanges(t *testing.T) {
	s := newServer(t, answer{}, answer{body: `{"data":[{"index":0,"embedding":[1,2]}]}`})
	c, _ := client(t, s.URL)
	ctx := context.Background()
	if _, err := c.Vectors(ctx, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Vectors(ctx, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "vectors of 2 components, earlier ones of model \"m\" have 3") {
		t.Error(err)
	}
}

func TestDamagedCache(t *testing.T) {
	s := newServer(t)
	var path string
	c, _ := client(t, s.URL, func(o *Options) { path = o.Cache })
	ctx := context.Background()
	if _, err := c.Vectors(ctx, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	d := sha256.Sum256([]byte("b"))
	if _, err := db.Exec("UPDATE vectors SET vector = x'0102' WHERE digest = ?", d[:]); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if got, err := c.Vectors(ctx, []string{"a", "b"}); err != nil || !slices.Equal(got[1], vector("b")) || len(s.inputs) != 2 {
		t.Errorf("%v after %v: %v", got, s.inputs, err)
	}
	c.Close()
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Endpoint: s.URL, Model: "m", Cache: path}); err == nil || !strings.Contains(err.Error(), "delete the file") {
		t.Error(err)
	}
}

// Many callers of one client, and two clients of one file, agree.
func TestSharing(t *testing.T) {
	s := newServer(t)
	path := filepath.Join(t.TempDir(), "c.db")
	var wg sync.WaitGroup
	for n := range 8 {
		c, _ := client(t, s.URL, func(o *Options) { o.Cache = path })
		wg.Go(func() {
			texts := []string{"x", "y", strconv.Itoa(n % 4)}
			got, err := c.Vectors(context.Background(), texts)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range texts {
				if !slices.Equal(got[i], vector(texts[i])) {
					t.Errorf("%q: %v", texts[i], got[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestOptions(t *testing.T) {
	good := Options{Endpoint: "https://user:pass@host/v1", Model: "m", Cache: filepath.Join(t.TempDir(), "c.db")}
	for want, change := range map[string]func(*Options){
		"want an http or https URL": func(o *Options) { o.Endpoint = "ftp://user:pass@host" },
		"such as https":             func(o *Options) { o.Endpoint = "" },
		"not a URL":                 func(o *Options) { o.Endpoint = "http://user:pass@host\n" },
		"no model is named":         func(o *Options) { o.Model = "" },
		"can't be negative":         func(o *Options) { o.Batch = -1 },
		"the key holds characters":  func(o *Options) { o.Key = "pass\n" },
		"embeddings cache":          func(o *Options) { o.Cache = "/dev/null/c.db" },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass@") || strings.Contains(err.Error(), "pass\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c, err := New(good)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.where(); strings.Contains(got, "pass") {
		t.Error(got)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "-1": 0, "1.5": 0,
		"Sun, 01 Mar 2026 12:00:20 GMT": 20 * time.Second, "Sun, 01 Mar 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-1e30, 1e30), 1, 20).Draw(t, "vector")
		got := decode(encode(v))
		for i, x := range v {
			if got[i] != float64(x) {
				t.Fatalf("%v, want %v", got, v)
			}
		}
	})
}

func FuzzVectors(f *testing.F) {
	f.Add([]byte(response([]string{"a", "b"})))
	f.Add([]byte(`{"data":[{"embedding":[1]},{"embedding":[2]}]}`))
	f.Add([]byte(`{"data":[{"index":-1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := vectors(text, 2)
		if err == nil && (len(got) != 2 || len(got[0]) == 0 || len(got[0]) != len(got[1])) {
			t.Errorf("%v", got)
		}
	})
}

func BenchmarkCached(b *testing.B) {
	s := newServer(b)
	c, _ := client(b, s.URL, func(o *Options) { o.Batch = 500 })
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	for b.Loop() {
		if _, err := c.Vectors(context.Background(), texts); err != nil {
			b.Fatal(err)
		}
	}
}

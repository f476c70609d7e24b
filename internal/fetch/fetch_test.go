package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/output/checksum"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// fault is how a server answers one request.
type fault func(w http.ResponseWriter, r *http.Request, body []byte)

type tb interface {
	rapid.TB
	Cleanup(func())
}

// server serves files below /data/, after the faults set for each.
type server struct {
	*httptest.Server
	files map[string][]byte

	mu     sync.Mutex
	faults map[string][]fault
	asked  map[string][]string // the Range headers of each file's requests
}

func serve(t tb, files map[string][]byte) *server {
	s := &server{files: files, faults: map[string][]fault{}, asked: map[string][]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/data/")
	s.mu.Lock()
	s.asked[name] = append(s.asked[name], r.Header.Get("Range"))
	answer := good
	if next := s.faults[name]; len(next) > 0 {
		answer, s.faults[name] = next[0], next[1:]
	}
	s.mu.Unlock()
	body, ok := s.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	answer(w, r, body)
}

// ranges lists the Range headers of the requests for a file.
func (s *server) ranges(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked[name])
}

// script sets how the next requests for a file are answered.
func (s *server) script(name string, faults ...fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[name] = faults
}

func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, a := range s.asked {
		n += len(a)
	}
	return n
}

func good(w http.ResponseWriter, r *http.Request, body []byte) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// from returns where a request wants to start.
func from(r *http.Request) (at int) {
	_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &at) // without the header it is 0
	return at
}

// begin writes the head of an answer to what was asked for, with a length or "".
func begin(w http.ResponseWriter, r *http.Request, body []byte, length string) []byte {
	w.Header().Set("Content-Type", "application/octet-stream")
	if length != "" {
		w.Header().Set("Content-Length", length)
	}
	if at := from(r); at > 0 {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(body)-1, len(body)))
		w.WriteHeader(http.StatusPartialContent)
		return body[at:]
	}
	w.WriteHeader(http.StatusOK)
	return body
}

func closeMidBody(w http.ResponseWriter, r *http.Request, body []byte) {
	rest := begin(w, r, body, fmt.Sprint(len(body)-from(r)))
	_, _ = w.Write(rest[:len(rest)/2]) // the client may be gone
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func stall(w http.ResponseWriter, r *http.Request, body []byte) {
	rest := begin(w, r, body, "")
	_, _ = w.Write(rest[:len(rest)/2])
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func stallAtOnce(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }

func stallAtTheEnd(w http.ResponseWriter, r *http.Request, body []byte) {
	_, _ = w.Write(begin(w, r, body, ""))
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func tooShort(w http.ResponseWriter, r *http.Request, body []byte) {
	rest := begin(w, r, body, "1")
	_, _ = w.Write(rest[:1])
}

func tooLong(w http.ResponseWriter, r *http.Request, body []byte) {
	_, _ = w.Write(begin(w, r, body, fmt.Sprint(len(body)-from(r)+100)))
}

func noLength(w http.ResponseWriter, r *http.Request, body []byte) {
	rest := begin(w, r, body, "")
	for _, b := range rest {
		_, _ = w.Write([]byte{b})
		_ = http.NewResponseController(w).Flush()
	}
}

func ignoreRange(w http.ResponseWriter, r *http.Request, body []byte) {
	r.Header.Del("Range")
	good(w, r, body)
}

func wrongOffset(w http.ResponseWriter, r *http.Request, body []byte) {
	if from(r) == 0 {
		closeMidBody(w, r, body)
	}
	w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(body)-1, len(body)))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(body)
}

func wrongBytes(w http.ResponseWriter, r *http.Request, body []byte) {
	rest := begin(w, r, body, "")
	_, _ = w.Write(bytes.Repeat([]byte("!"), len(rest)))
}

func endless(w http.ResponseWriter, r *http.Request, body []byte) {
	_, _ = w.Write(begin(w, r, body, ""))
	for r.Context().Err() == nil {
		if _, err := w.Write(make([]byte, 1<<10)); err != nil {
			return
		}
	}
}

func status(code int, header ...string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// faults that do not change bytes; any sequence of them shorter than tries must be survived.
var harmless = map[string]fault{
	"close mid-body": closeMidBody, "stall": stall, "stall at once": stallAtOnce, "stall at the end": stallAtTheEnd,
	"length too short": tooShort, "length too long": tooLong, "no length": noLength,
	"ignores Range": ignoreRange, "wrong offset": wrongOffset,
	"500": status(500), "502": status(502), "429": status(429, "Retry-After", "0"), "503": status(503), "408": status(408),
	"416": status(416),
}

func testFiles() map[string][]byte {
	return map[string][]byte{
		"LICENSE": []byte("free\n"), "a/one.json": []byte("{\n  \"n\": 1\n}\n"), "a/b/two words+.json": bytes.Repeat([]byte("0123456789"), 500),
		"empty": {},
	}
}

func recipe(mirror string, files map[string][]byte) Recipe {
	r := Recipe{Name: "small", Mirrors: []string{mirror}, Licence: "CC0-1.0", Attribution: "nobody", Archive: "https://example.org/a.zip"}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		r.List = append(r.List, File{name, int64(len(files[name])), digest(files[name])})
	}
	r.Content = content(r.List)
	return r
}

func (s *server) recipe() Recipe { return recipe(s.URL+"/data", s.files) }

// shortIdle is for servers that stall; a busy machine must not look like one elsewhere.
const shortIdle = 150 * time.Millisecond

func quick(cache string) Options {
	return Options{Cache: cache, Jobs: 3, Idle: time.Minute, Pause: time.Microsecond}
}

// holds compares a folder with the files it must hold, and no others.
func holds(t rapid.TB, dir string, files map[string][]byte) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == checksum.Name {
			return err
		}
		got, err := os.ReadFile(path)
		want, ok := files[filepath.ToSlash(rel)]
		if err != nil || !ok || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d (%v)", rel, len(got), len(want), err)
		}
		n++
		return nil
	})
	if err != nil || n != len(files) {
		t.Errorf("%s holds %d files, want %d (%v)", dir, n, len(files), err)
	}
}

func TestFetch(t *testing.T) {
	s := serve(t, testFiles())
	opt := quick(t.TempDir())
	var last int64
	opt.Progress = func(_ string, done, total int64) {
		if done < last || done > total {
			t.Errorf("progress went from %d to %d of %d", last, done, total)
		}
		last = done
	}
	res, err := Run(t.Context(), s.recipe(), opt)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Dir, s.files)
	r := s.recipe()
	if res.DownloadedFiles != 4 || res.DownloadedBytes != r.Bytes || res.FromCache != 0 || last != r.Bytes || res.Skipped == nil {
		t.Errorf("%+v, progress %d", res, last)
	}

	opt.Progress = nil
	before := s.requests()
	res, err = Run(t.Context(), s.recipe(), opt)
	if err != nil || res.FromCache != 4 || s.requests() != before {
		t.Errorf("the second run asks again: %+v, %d requests, %v", res, s.requests()-before, err)
	}

	// Files changed or lost on the disk are found and fetched again.
	damage := map[string]string{"LICENSE": "fine\n", "a/one.json": "longer than it was, by far\n"}
	for name, text := range damage {
		if err := os.WriteFile(filepath.Join(res.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(res.Dir, "empty")); err != nil {
		t.Fatal(err)
	}
	opt.Out = filepath.Join(t.TempDir(), "out")
	res, err = Run(t.Context(), s.recipe(), opt)
	if err != nil || res.FromCache != 1 || res.DownloadedFiles != 3 || res.Dir != opt.Out {
		t.Errorf("%+v, %v", res, err)
	}
	holds(t, opt.Out, s.files)
	if _, err = Run(t.Context(), s.recipe(), opt); !errors.Is(err, output.ErrExists) {
		t.Errorf("an output that is there: %v", err)
	}
}

func TestFaults(t *testing.T) {
	name := "a/b/two words+.json"
	for what, f := range harmless {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := serve(t, testFiles())
			s.script(name, f, closeMidBody, f, f)
			opt := quick(t.TempDir())
			if strings.HasPrefix(what, "stall") {
				opt.Idle = shortIdle
			}
			res, err := Run(t.Context(), s.recipe(), opt)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, res.Dir, s.files)
		})
	}
}

// A server that ignores Range is not asked more often.
func TestWholeFileForAPart(t *testing.T) {
	s := serve(t, map[string][]byte{"a": []byte("0123456789")})
	s.script("a", closeMidBody, ignoreRange)
	res, err := Run(t.Context(), s.recipe(), quick(t.TempDir()))
	if got := s.ranges("a"); err != nil || !slices.Equal(got, []string{"", "bytes=5-"}) || res.DownloadedBytes != 15 {
		t.Errorf("asked for %q; %+v, %v", got, res, err)
	}
}

// Whatever a server does first, a fetch that is answered in the end has the right bytes.
func TestAnyFaultsThenGood(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(harmless))
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return strings.HasPrefix(k, "stall") }) // they take their time
	rapid.Check(t, func(t *rapid.T) {
		files := map[string][]byte{}
		for i, b := range rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 2, 300), 1, 4).Draw(t, "files") {
			files[fmt.Sprintf("d%d/f", i)] = b
		}
		s := serve(t, files)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			seq := rapid.SliceOfN(rapid.SampledFrom(kinds), 0, tries-2).Draw(t, name)
			var faults []fault
			for _, k := range seq {
				faults = append(faults, harmless[k])
			}
			if at := rapid.IntRange(-1, len(seq)).Draw(t, "wrong bytes at"); at >= 0 {
				faults = slices.Insert(faults, at, wrongBytes)
			}
			s.script(name, faults...)
		}
		cache, err := os.MkdirTemp("", "fetch")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(cache)
		res, err := Run(context.Background(), s.recipe(), quick(cache))
		if err != nil {
			t.Fatal(err)
		}
		holds(t, res.Dir, files)
	})
}

func TestFailures(t *testing.T) {
	name := "a/one.json"
	for _, tt := range []struct {
		what     string
		f        fault
		requests int
		want     string
	}{
		{"404", status(404), 1, "404 Not Found"},
		{"403", status(403), 1, "403 Forbidden"},
		{"410", status(410), 1, "410 Gone"},
		{"206 unasked", status(206), 1, "206 Partial Content"},
		{"500", status(500), tries, "500 Internal Server Error"},
		{"429", status(429, "Retry-After", "86400"), 1, "429 Too Many Requests and asks to wait for 24h0m0s"},
		{"wrong bytes", wrongBytes, 2, "wrong bytes: SHA-256 "},
		{"endless", endless, 2, "(more than 13 bytes)"},
		{"stall", stallAtOnce, tries, "the server sent nothing for too long"},
		{"to a file", status(302, "Location", "file:///etc/passwd"), 1, "the redirect to file:///etc/passwd is not followed: it leads away from http and https"},
		{"round", status(302, "Location", "/data/a/one.json"), redirects + 1, "it is the one after 10"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			s := serve(t, testFiles())
			s.script(name, slices.Repeat([]fault{tt.f}, 2*redirects)...)
			opt := quick(t.TempDir())
			if tt.what == "stall" {
				opt.Idle = shortIdle
			}
			_, err := Run(t.Context(), s.recipe(), opt)
			var bad *IncompleteError
			if !errors.As(err, &bad) || len(bad.Failed) != 1 || bad.Failed[0].File != name || bad.Untried != 0 {
				t.Fatalf("%v", err)
			}
			for _, want := range []string{"1 of 4 files", name, tt.want, "run it again, it goes on where it stopped", "https://example.org/a.zip"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: does not say %q", err, want)
				}
			}
			var wrong *DigestError
			if errors.As(bad.Failed[0].Err, &wrong) && (wrong.File.SHA256 != digest(s.files[name]) || wrong.Bytes > wrong.File.Bytes+1) {
				t.Errorf("%+v", wrong)
			}
			if n := len(s.ranges(name)); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
			s.script(name)
			res, err := Run(t.Context(), s.recipe(), opt)
			if err != nil || res.FromCache != 3 || res.DownloadedFiles != 1 {
				t.Errorf("after the failure: %+v, %v", res, err)
			}
		})
	}
}

func TestHTTPSIsNotDowngraded(t *testing.T) {
	files := testFiles()
	plain := serve(t, files)
	secure := httptest.NewUnstartedServer(http.RedirectHandler(plain.URL+"/data/LICENSE", http.StatusFound))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that are given up
	secure.StartTLS()
	defer secure.Close()
	opt := quick(t.TempDir())
	opt.Transport = secure.Client().Transport
	_, err := Run(t.Context(), recipe(secure.URL, files), opt)
	if err == nil || !strings.Contains(err.Error(), "it leads from https to http") || plain.requests() > 0 {
		t.Errorf("%d requests to http, %v", plain.requests(), err)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	s := serve(t, map[string][]byte{"a": []byte("a")})
	s.script("a", status(429, "Retry-After", "1"))
	begin := time.Now()
	if _, err := Run(t.Context(), s.recipe(), quick(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d < time.Second {
		t.Errorf("asked again after %s, not 1 s", d)
	}
	s.script("a", status(429))
	opt := quick(t.TempDir())
	opt.Pause = time.Millisecond
	begin = time.Now()
	if _, err := Run(t.Context(), s.recipe(), opt); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d < longPauses*opt.Pause {
		t.Errorf("without Retry-After asked again after %s, not %s", d, longPauses*opt.Pause)
	}
	in := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	if d := retryAfter(in); d < 59*time.Minute || d > time.Hour {
		t.Errorf("%s: %s", in, d)
	}
	for value, want := range map[string]time.Duration{"": -1, "soon": -1, "-4": -1, "7": 7 * time.Second, "99999999999": 1 << 30 * time.Second} {
		if d := retryAfter(value); d != want {
			t.Errorf("%q: %s, want %s", value, d, want)
		}
	}
}

// The second mirror is asked for what the first one has not.
func TestSecondMirror(t *testing.T) {
	s := serve(t, testFiles())
	other := serve(t, map[string][]byte{"LICENSE": s.files["LICENSE"]})
	r := s.recipe()
	r.Mirrors = []string{other.URL + "/data/", s.URL + "/data/"}
	res, err := Run(t.Context(), r, quick(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Dir, s.files)
	if n := len(s.ranges("LICENSE")); n != 0 {
		t.Errorf("%d requests for a file that the first mirror has", n)
	}
}

// A mirror that is gone is not asked for thousands of files.
func TestGivesUp(t *testing.T) {
	files := map[string][]byte{}
	for i := range 500 {
		files[fmt.Sprintf("f%03d", i)] = []byte{byte(i)}
	}
	s := serve(t, nil)
	_, err := Run(t.Context(), recipe(s.URL+"/data", files), quick(t.TempDir()))
	var bad *IncompleteError
	if !errors.As(err, &bad) || len(bad.Failed)+bad.Untried != 500 || s.requests() > 2*failuresInRow {
		t.Fatalf("%d requests, %v", s.requests(), err)
	}
	if !strings.Contains(err.Error(), "were not tried after 8 failures in a row") {
		t.Error(err)
	}
}

// Files that fail here and there stop nothing.
func TestSomeFail(t *testing.T) {
	s := serve(t, nil)
	files := map[string][]byte{}
	s.files = map[string][]byte{}
	for i := range 6 * failuresInRow {
		name := fmt.Sprintf("f%03d", i)
		files[name] = []byte{byte(i)}
		if i%3 == 0 {
			s.files[name] = files[name]
		}
	}
	opt := quick(t.TempDir())
	opt.Jobs = 1
	res, err := Run(t.Context(), recipe(s.URL+"/data", files), opt)
	var bad *IncompleteError
	if !errors.As(err, &bad) || len(bad.Failed) != 4*failuresInRow || bad.Untried != 0 || res.DownloadedFiles != 2*failuresInRow {
		t.Fatalf("%+v, %v", res, err)
	}
	if want := "32 of 48 files could not be fetched (f001: " + strings.TrimPrefix(s.URL, "http://") + ": 404 Not Found, f002: "; !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ", and 29 more)") {
		t.Errorf("%v: does not say %q", err, want)
	}
}

// What comes slowly but steadily is not given up.
func TestSlowIsNotStalled(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string][]byte{"a": []byte("12345678")})
	s.script("a", func(w http.ResponseWriter, r *http.Request, body []byte) {
		for _, b := range begin(w, r, body, "") {
			_, _ = w.Write([]byte{b})
			_ = http.NewResponseController(w).Flush()
			time.Sleep(80 * time.Millisecond)
		}
	})
	opt := quick(t.TempDir())
	opt.Idle = 500 * time.Millisecond
	if _, err := Run(t.Context(), s.recipe(), opt); err != nil || s.requests() != 1 {
		t.Errorf("%d requests, %v", s.requests(), err)
	}
}

// A server that drips for ever is given up.
func TestDripping(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string][]byte{"a": bytes.Repeat([]byte("x"), 1000)})
	drip := func(w http.ResponseWriter, r *http.Request, body []byte) {
		for _, b := range begin(w, r, body, "") {
			_, _ = w.Write([]byte{b})
			if http.NewResponseController(w).Flush() != nil || r.Context().Err() != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	s.script("a", slices.Repeat([]fault{drip}, tries)...)
	opt := quick(t.TempDir())
	opt.Idle = 150 * time.Millisecond
	_, err := Run(t.Context(), s.recipe(), opt)
	if err == nil || !strings.Contains(err.Error(), errSlow.Error()) && !strings.Contains(err.Error(), errStalled.Error()) { // as on a busy machine
		t.Errorf("%d requests, %v", s.requests(), err)
	}
}

// A run that is stopped at any point is continued: no byte is asked for twice.
func TestResume(t *testing.T) {
	name := "a/b/two words+.json"
	s := serve(t, testFiles())
	size := len(s.files[name])
	opt := quick(t.TempDir())
	for step := 1; step < 5; step++ {
		ctx, stop := context.WithCancel(t.Context())
		s.script(name, func(w http.ResponseWriter, r *http.Request, body []byte) {
			rest := begin(w, r, body, "")
			_, _ = w.Write(rest[:size/5])
			_ = http.NewResponseController(w).Flush()
			part := filepath.Join(opt.Cache, "small-"+s.recipe().SHA256[:12], "a", "b", ".two words+.json.part")
			for { // until the client has written it
				if info, err := os.Stat(part); err == nil && info.Size() >= int64(step*size/5) {
					break
				}
				time.Sleep(time.Millisecond)
			}
			stop()
			<-r.Context().Done()
		})
		if _, err := Run(ctx, s.recipe(), opt); !errors.Is(err, context.Canceled) {
			t.Fatalf("step %d: %v", step, err)
		}
	}
	res, err := Run(t.Context(), s.recipe(), opt)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Dir, s.files)
	want := []string{"", "bytes=1000-", "bytes=2000-", "bytes=3000-", "bytes=4000-"}
	if got := s.ranges(name); !slices.Equal(got, want) || res.DownloadedBytes != 1000 {
		t.Errorf("asked for %q, the last run got %d bytes", got, res.DownloadedBytes)
	}
}

// A part that is not what the mirror has is thrown away.
func TestBadPart(t *testing.T) {
	for _, text := range []string{"junk", strings.Repeat("x", 13), strings.Repeat("x", 20), strings.Repeat("x", 99)} {
		s := serve(t, testFiles())
		opt := quick(t.TempDir())
		part := filepath.Join(opt.Cache, "small-"+s.recipe().SHA256[:12], "a", ".one.json.part")
		if err := os.MkdirAll(filepath.Dir(part), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(part, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if len(text) == 99 {
			opt.From = copies(t, "", s.files)[0]
		}
		res, err := Run(t.Context(), s.recipe(), opt)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, res.Dir, s.files)
	}
}

// A part that is a link leads to no writing elsewhere.
func TestPartIsALink(t *testing.T) {
	s := serve(t, testFiles())
	opt := quick(t.TempDir())
	dir := filepath.Join(opt.Cache, "small-"+s.recipe().SHA256[:12])
	other := filepath.Join(t.TempDir(), "other")
	err := os.MkdirAll(dir, 0o755)
	err = errors.Join(err, os.WriteFile(other, []byte("mine"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, ".LICENSE.part")); err != nil {
		t.Skip("skipped: no symbolic links here: ", err)
	}
	if _, err := Run(t.Context(), s.recipe(), opt); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "mine" {
		t.Errorf("the file elsewhere holds %q, %v", got, err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "LICENSE")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

// Of fetches on one cache one does the work.
func TestTwoAtOnce(t *testing.T) {
	s := serve(t, testFiles())
	cache := t.TempDir()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			res, err := Run(t.Context(), s.recipe(), quick(cache))
			if err != nil {
				t.Error(err)
				return
			}
			holds(t, res.Dir, s.files)
		})
	}
	group.Wait()
	if n := s.requests(); n != len(s.files) {
		t.Errorf("%d requests for %d files", n, len(s.files))
	}
}

func TestWaitingForTheCacheEnds(t *testing.T) {
	r := recipe("http://localhost", testFiles())
	cache := t.TempDir()
	_, release, err := openCache(t.Context(), cache, r)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := Run(ctx, r, quick(cache)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A cache that can't be written ends the fetch at once: asking again would not help.
func TestCacheCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := serve(t, testFiles())
	blocked := t.TempDir() // a folder stands where a file must go
	if err := os.MkdirAll(filepath.Join(blocked, "small-"+s.recipe().SHA256[:12], "LICENSE", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{file, blocked} {
		_, err := Run(t.Context(), s.recipe(), quick(cache))
		if err == nil || !strings.HasPrefix(err.Error(), "the cache can't be written") || !strings.Contains(err.Error(), "option cache") {
			t.Errorf("%s: %v", cache, err)
		}
	}
	if n := len(s.ranges("LICENSE")); n > 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestCacheCannotBeRead(t *testing.T) {
	s := serve(t, testFiles())
	opt := quick(t.TempDir())
	dir := filepath.Join(opt.Cache, "small-"+s.recipe().SHA256[:12])
	err := os.MkdirAll(dir, 0o755)
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "a"), nil, 0o644)) // where a folder must go
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), s.recipe(), opt)
	if err == nil || !strings.HasPrefix(err.Error(), "the cache can't be read") || !strings.Contains(err.Error(), "option cache") {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	for _, mirror := range []string{"ftp://example.org/x", "file:///data", "example.org", "https://", "http://a/?q", "http://a/#f", ":"} {
		opt := quick(t.TempDir())
		opt.Mirror = mirror
		if _, err := Run(t.Context(), recipe("", testFiles()), opt); !usage.Is(err) {
			t.Errorf("%s: %v", mirror, err)
		}
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.Jobs = -1 },
		func(o *Options) { o.Idle = -time.Second },
	} {
		opt := quick(t.TempDir())
		change(&opt)
		if _, err := Run(t.Context(), recipe("", testFiles()), opt); !usage.Is(err) {
			t.Error(err)
		}
	}
}

// A cache may be protected; what is made of it can be written all the same.
func TestOutOfReadOnlyFiles(t *testing.T) {
	s := serve(t, testFiles())
	opt := quick(t.TempDir())
	res, err := Run(t.Context(), s.recipe(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(res.Dir, "LICENSE"), 0o444); err != nil {
		t.Fatal(err)
	}
	opt.Out = filepath.Join(t.TempDir(), "out")
	if _, err := Run(t.Context(), s.recipe(), opt); err != nil {
		t.Fatal(err)
	}
	holds(t, opt.Out, s.files)
	if info, err := os.Stat(filepath.Join(opt.Out, "LICENSE")); err != nil || info.Mode().Perm()&0o200 == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// An output among the cached files would be read as a part of the dataset.
func TestOutInTheCache(t *testing.T) {
	s := serve(t, testFiles())
	name := "small-" + s.recipe().SHA256[:12]
	for _, out := range []string{".", name, filepath.Join(name, "a", "out")} {
		opt := quick(t.TempDir())
		opt.Out = filepath.Join(opt.Cache, out)
		if _, err := Run(t.Context(), s.recipe(), opt); !usage.Is(err) || s.requests() > 0 {
			t.Errorf("%s: %v", out, err)
		}
	}
	opt := quick(t.TempDir())
	opt.Out = filepath.Join(opt.Cache, "beside")
	if _, err := Run(t.Context(), s.recipe(), opt); err != nil {
		t.Error(err)
	}
}

func TestMirrorReplacesTheRecipes(t *testing.T) {
	s := serve(t, testFiles())
	opt := quick(t.TempDir())
	opt.Mirror = s.URL + "/data"
	res, err := Run(t.Context(), recipe("http://127.0.0.1:1", s.files), opt)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, res.Dir, s.files)
}

func BenchmarkVerify(b *testing.B) {
	c := cache{b.TempDir()}
	var files []File
	data := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	for i := range 256 {
		f := File{fmt.Sprintf("f%d", i), int64(len(data)), digest(data)}
		if err := c.put(f, data); err != nil {
			b.Fatal(err)
		}
		files = append(files, f)
	}
	b.SetBytes(int64(len(data) * len(files)))
	for b.Loop() {
		good, err := c.verify(b.Context(), files, 8)
		if err != nil || slices.Contains(good, false) {
			b.Fatal(err)
		}
	}
}

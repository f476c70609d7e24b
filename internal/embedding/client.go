package embedding

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Defaults of Options.
const (
	DefaultBatch    = 128
	DefaultTimeout  = 60 * time.Second
	DefaultAttempts = 6
)

// Options of a Client.
type Options struct {
	Endpoint string        // base URL, such as https://api.openai.com/v1
	Key      string        // bearer token; "" sends none
	Model    string        // as the endpoint names it
	Cache    string        // file; made when missing
	Batch    int           // texts per request; 0 means DefaultBatch
	Timeout  time.Duration // of one attempt, the whole response included; 0 means DefaultTimeout
	Attempts int           // per request, the first one included; 0 means DefaultAttempts

	// Wait waits between attempts; nil waits on the clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Usage counts what Vectors did.
type Usage struct {
	Cached   int64 // texts found in the cache
	Embedded int64 // texts sent and stored
	Requests int64 // attempts, failed ones included
}

// A Client embeds texts. It may be used from many goroutines.
type Client struct {
	opt   Options
	url   string
	http  *http.Client
	cache *cache

	cached, embedded, requests atomic.Int64
}

// New checks the options and opens the cache, without a word to the endpoint. Close the
// client after use.
func New(opt Options) (*Client, error) {
	base, err := url.Parse(opt.Endpoint)
	switch {
	case err != nil:
		return nil, errors.New("embeddings endpoint: not a URL; want one such as https://api.openai.com/v1")
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("embeddings endpoint %q: want an http or https URL such as https://api.openai.com/v1", base.Redacted())
	case opt.Model == "":
		return nil, errors.New("embeddings: no model is named")
	case opt.Batch < 0 || opt.Timeout < 0 || opt.Attempts < 0:
		return nil, errors.New("embeddings: batch, timeout and attempts can't be negative")
	case strings.ContainsFunc(opt.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("embeddings: the key holds characters that no key has, such as a line break")
	}
	opt.Batch = orDefault(opt.Batch, DefaultBatch)
	opt.Timeout = orDefault(opt.Timeout, DefaultTimeout)
	opt.Attempts = orDefault(opt.Attempts, DefaultAttempts)
	if opt.Wait == nil {
		opt.Wait = wait
	}
	c := &Client{opt: opt, url: base.JoinPath("embeddings").String(), http: &http.Client{}}
	if c.cache, err = openCache(opt.Cache); err != nil {
		return nil, err
	}
	return c, nil
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// Close closes the cache.
func (c *Client) Close() error { return c.cache.close() }

// Usage returns the counts so far.
func (c *Client) Usage() Usage {
	return Usage{Cached: c.cached.Load(), Embedded: c.embedded.Load(), Requests: c.requests.Load()}
}

// Vectors returns one vector per text, all of one length. Equal texts are sent once, and
// those in the cache not at all.
func (c *Client) Vectors(ctx context.Context, texts []string) ([][]float64, error) {
	digests := make([]digest, len(texts))
	var distinct []digest
	first := map[digest]int{} // a text with the digest
	for i, t := range texts {
		d := sha256.Sum256([]byte(t))
		digests[i] = d
		if _, ok := first[d]; !ok {
			first[d] = i
			distinct = append(distinct, d)
		}
	}
	known, err := c.cache.get(ctx, c.opt.Model, distinct)
	if err != nil {
		return nil, err
	}
	c.cached.Add(int64(len(known)))
	var missing []digest
	for _, d := range distinct {
		if known[d] == nil {
			missing = append(missing, d)
		}
	}
	length := 0
	for _, d := range distinct {
		if v := known[d]; v != nil {
			length = len(v)
			break
		}
	}
	for from := 0; from < len(missing); from += c.opt.Batch {
		batch := missing[from:min(from+c.opt.Batch, len(missing))]
		input := make([]string, len(batch))
		for i, d := range batch {
			input[i] = texts[first[d]]
		}
		vectors, err := c.request(ctx, input)
		if err != nil {
			return nil, err
		}
		if length == 0 {
			length = len(vectors[0])
		}
		if n := len(vectors[0]); n != length {
			return nil, fmt.Errorf("embeddings from %s: vectors of %d components, earlier ones of model %q have %d: the model has changed; use another cache file", c.where(), n, c.opt.Model, length)
		}
		if err := c.cache.put(ctx, c.opt.Model, batch, vectors); err != nil {
			return nil, err
		}
		c.embedded.Add(int64(len(batch)))
	}
	if len(missing) > 0 { // as stored, so that this run has the numbers the next one will have
		stored, err := c.cache.get(ctx, c.opt.Model, missing)
		if err != nil {
			return nil, err
		}
		for _, d := range missing {
			known[d] = stored[d]
		}
	}
	out := make([][]float64, len(texts))
	for i, d := range digests {
		out[i] = known[d]
		if len(out[i]) != len(out[0]) || len(out[i]) == 0 {
			return nil, fmt.Errorf("embeddings cache %s: vectors of model %q differ in length (%d and %d); delete the file, or name another one",
				c.cache.path, c.opt.Model, len(out[0]), len(out[i]))
		}
	}
	return out, nil
}

// where names the endpoint without secrets.
func (c *Client) where() string {
	u, err := url.Parse(c.url)
	if err != nil {
		return "the endpoint"
	}
	u.RawQuery = ""
	return u.Redacted()
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

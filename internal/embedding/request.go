package embedding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	firstDelay = time.Second      // after the first failed attempt; doubled after each
	maxDelay   = 30 * time.Second // of our own schedule
	maxAsked   = 10 * time.Minute // longest wait that an endpoint may ask for
	maxMessage = 300              // bytes of an endpoint's own words that an error quotes
)

// transient marks a failure that another attempt may not meet.
type transient struct {
	error
	after time.Duration // wait the endpoint asked for; 0 for none
}

// request embeds one batch, in as many attempts as it may take.
func (c *Client) request(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": c.opt.Model, "input": texts, "encoding_format": "float"},
		json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("embeddings: a text can't be sent: %w", err)
	}
	delay := firstDelay
	for attempt := 1; ; attempt++ {
		vectors, err := c.attempt(ctx, body, len(texts))
		if err == nil {
			return vectors, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var again transient
		if !errors.As(err, &again) {
			return nil, c.failed(err)
		}
		if attempt == c.opt.Attempts {
			return nil, c.failed(fmt.Errorf("%w (attempt %d, the last one); what has arrived is in the cache, so a later run goes on from here", err, attempt))
		}
		if again.after > maxAsked {
			return nil, c.failed(fmt.Errorf("%w; it asks to wait %v: try again then", err, again.after))
		}
		if err := c.opt.Wait(ctx, max(delay, again.after)); err != nil {
			return nil, err
		}
		delay = min(2*delay, maxDelay)
	}
}

// failed names the endpoint, and blots out the key where an endpoint or proxy echoes it.
func (c *Client) failed(err error) error {
	text := err.Error()
	if c.opt.Key != "" {
		text = strings.ReplaceAll(text, c.opt.Key, "***")
	}
	return fmt.Errorf("embeddings from %s: %s", c.where(), text)
}

func (c *Client) attempt(ctx context.Context, body []byte, n int) ([][]float32, error) {
	c.requests.Add(1)
	ctx, cancel := context.WithTimeout(ctx, c.opt.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.opt.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.opt.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, transient{error: c.reason(err)}
	}
	defer resp.Body.Close()
	// A component takes at most some 25 bytes; the bound is far above any real response.
	limit := int64(1<<20) + int64(n)*(1<<20)
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err != nil {
		return nil, transient{error: fmt.Errorf("the response breaks off: %w", c.reason(err))}
	}
	if resp.StatusCode != http.StatusOK {
		return nil, status(resp, text)
	}
	return vectors(text, n)
}

// reason drops the URL, which may hold a secret, and says what a timeout was.
func (c *Client) reason(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no complete response within %v", c.opt.Timeout)
	}
	return err
}

// status explains a response that is no success.
func status(resp *http.Response, text []byte) error {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	message := strings.TrimSpace(string(text))
	if json.Unmarshal(text, &body) == nil && body.Error.Message != "" {
		message = body.Error.Message
	}
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "..."
	}
	err := fmt.Errorf("status %s: %q", resp.Status, message)
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return transient{err, retryAfter(resp.Header, time.Now())}
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w; check the key", err)
	case http.StatusNotFound:
		return fmt.Errorf("%w; check the base URL, which ends before /embeddings, and the model's name", err)
	}
	return err
}

// retryAfter reads the header of that name, in seconds or as a date; 0 for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if s, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// vectors reads a response to n texts. Text that is no JSON may be a proxy's hiccup and is
// worth another attempt; JSON of the wrong shape is not.
func vectors(text []byte, n int) ([][]float32, error) {
	var body struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float64 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		var shape *json.SemanticError
		if errors.As(err, &shape) {
			return nil, fmt.Errorf("the response is not a list of embeddings: %w", err)
		}
		return nil, transient{error: fmt.Errorf("the response is no JSON: %w", err)}
	}
	if len(body.Data) != n {
		return nil, fmt.Errorf("the response has %d vectors for %d texts", len(body.Data), n)
	}
	out := make([][]float32, n)
	length := len(body.Data[0].Embedding)
	if length == 0 {
		return nil, errors.New("the response has a vector without components")
	}
	for i, d := range body.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		switch {
		case at < 0 || at >= n:
			return nil, fmt.Errorf("the response has an index %d for %d texts", at, n)
		case out[at] != nil:
			return nil, fmt.Errorf("the response has index %d twice", at)
		case len(d.Embedding) != length:
			return nil, fmt.Errorf("the response has vectors of %d and %d components", length, len(d.Embedding))
		}
		out[at] = make([]float32, length)
		for k, x := range d.Embedding {
			if x = float64(float32(x)); math.IsInf(x, 0) || math.IsNaN(x) {
				return nil, fmt.Errorf("component %d of vector %d is no single-precision number", k, at)
			}
			out[at][k] = float32(x)
		}
	}
	return out, nil
}

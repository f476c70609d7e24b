package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Limits of a download, for a mirror that answers badly.
const (
	tries         = 6 // requests for one file from one mirror
	firstPause    = 500 * time.Millisecond
	longestPause  = 30 * time.Second
	longestWait   = 5 * time.Minute // that a server may ask for
	longPauses    = 60              // first pauses, after too many requests
	failuresInRow = 8               // files, after which the rest is not tried
	redirects     = 10
)

// downloader gets files from mirrors.
type downloader struct {
	client  *http.Client
	cache   cache
	mirrors []*url.URL
	agent   string
	idle    time.Duration
	pause   time.Duration // before the second request, about; later ones wait longer

	received atomic.Int64 // bytes of bodies
}

func newTransport(jobs int) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = jobs
	return transport
}

// redirectError is a redirect that is not followed.
type redirectError struct{ to, why string }

func (e *redirectError) Error() string {
	return fmt.Sprintf("the redirect to %s is not followed: %s", e.to, e.why)
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	refuse := func(why string) error { return &redirectError{req.URL.Redacted(), why} }
	switch {
	case !overHTTP(req.URL):
		return refuse("it leads away from http and https")
	case via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
		return refuse("it leads from https to http")
	case len(via) > redirects:
		return refuse(fmt.Sprintf("it is the one after %d", redirects))
	}
	return nil
}

// statusError is an answer that brings no file.
type statusError struct {
	code  int
	after time.Duration // that the server asks to wait; negative when it does not
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%d %s", e.code, http.StatusText(e.code))
	if e.after > longestWait {
		text += fmt.Sprintf(" and asks to wait for %s", e.after)
	}
	return text
}

// Unwrap tells package backoff what to do about it.
func (e *statusError) Unwrap() error {
	if e.after < 0 {
		return nil
	}
	return &backoff.RetryAfterError{Duration: e.after}
}

// file gets one file from the first mirror that has it. A mirror that can't be reached is
// the last one asked.
func (d *downloader) file(ctx context.Context, f File) error {
	var failed error
	for _, mirror := range d.mirrors {
		err := d.from(ctx, mirror.JoinPath((&url.URL{Path: f.Path}).EscapedPath()).String(), f)
		var here localError
		if err == nil || errors.As(err, &here) {
			return err
		}
		failed = errors.Join(failed, fmt.Errorf("%s: %w", mirror.Host, err))
		var refused *statusError
		var wrong *DigestError
		if !errors.As(err, &refused) && !errors.As(err, &wrong) {
			break
		}
	}
	return failed
}

func (d *downloader) from(ctx context.Context, address string, f File) error {
	wrong := 0
	attempt := func() (struct{}, error) {
		err := d.attempt(ctx, address, f)
		var digest *DigestError
		var here localError
		var redirect *redirectError
		switch {
		case errors.As(err, &digest):
			if wrong++; wrong > 1 {
				err = backoff.Permanent(err)
			}
		case errors.As(err, &here), errors.As(err, &redirect):
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier = d.pause, longestPause, 2
	_, err := backoff.Retry(ctx, attempt, backoff.WithBackOff(pauses), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) { // of the last try
		err = permanent.Err
	}
	return err
}

// partial is the part of a file that is here, and the digest of its bytes.
type partial struct {
	*os.File
	hash hash.Hash
	n    int64
}

// restart throws the part away.
func (p *partial) restart() error {
	p.hash.Reset()
	p.n = 0
	_, err := p.Seek(0, io.SeekStart)
	return local(errors.Join(p.Truncate(0), err))
}

func (p *partial) Write(b []byte) (int, error) {
	n, err := p.File.Write(b)
	p.hash.Write(b[:n])
	p.n += int64(n)
	return n, local(err)
}

// attempt makes at most one request, and leaves the part for the next one unless the bytes
// are wrong.
func (d *downloader) attempt(ctx context.Context, address string, f File) error {
	file, err := d.cache.openPart(f)
	if err != nil {
		return err
	}
	defer file.Close()
	part := &partial{File: file, hash: sha256.New()}
	if part.n, err = io.Copy(part.hash, file); err != nil {
		return local(err)
	}
	if part.n < f.Bytes || f.Bytes == 0 {
		if err := d.receive(ctx, address, f, part); err != nil {
			return err
		}
	}
	if sum := hex.EncodeToString(part.hash.Sum(nil)); sum != f.SHA256 {
		wrong := &DigestError{File: f, Got: sum, Bytes: part.n}
		return errors.Join(part.restart(), wrong)
	}
	return d.cache.finish(f, file)
}

// Why a request is given up.
var (
	errStalled = errors.New("the server sent nothing for too long")
	errSlow    = errors.New("the server sends too slowly")
)

// patience is how long a request may take: a kilobyte a second, and some waiting.
func (d *downloader) patience(bytes int64) time.Duration {
	return 4*d.idle + time.Duration(bytes)*time.Millisecond
}

// receive appends to a part what the server sends of the rest, at most one byte too much.
func (d *downloader) receive(ctx context.Context, address string, f File, part *partial) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(d.idle, func() { cancel(errStalled) })
	defer stall.Stop()
	slow := time.AfterFunc(d.patience(f.Bytes-part.n), func() { cancel(errSlow) })
	defer slow.Stop()
	why := func(err error) error {
		if cause := context.Cause(ctx); cause == errStalled || cause == errSlow {
			return cause
		}
		if wrapped, ok := err.(*url.Error); ok { // the file is named anyway
			return wrapped.Err
		}
		return err
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", d.agent)
	if part.n > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", part.n))
		req.Header.Set("Accept-Encoding", "identity")
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return why(err)
	}
	defer resp.Body.Close()
	switch continues := resp.StatusCode == http.StatusPartialContent && part.n > 0; {
	case continues && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", part.n)):
	case continues, resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(part.restart(), errors.New("the server does not send the part that was asked for"))
	case resp.StatusCode == http.StatusOK:
		if err := part.restart(); err != nil {
			return err
		}
	default:
		return d.refusal(resp)
	}

	buf := make([]byte, 32<<10)
	for part.n <= f.Bytes {
		n, err := resp.Body.Read(buf[:min(int64(len(buf)), f.Bytes+1-part.n)])
		stall.Reset(d.idle)
		if _, err := part.Write(buf[:n]); err != nil {
			return err
		}
		d.received.Add(int64(n))
		if err == io.EOF {
			break
		}
		if err != nil {
			return why(err)
		}
	}
	if part.n < f.Bytes {
		return fmt.Errorf("the answer ends after %d of %d bytes", part.n, f.Bytes)
	}
	return nil
}

// refusal turns an answer without a file into an error; most are permanent. A server that has
// had too many requests and does not say for how long is given a long pause.
func (d *downloader) refusal(resp *http.Response) error {
	err := &statusError{code: resp.StatusCode, after: -1}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusServiceUnavailable:
		err.after = retryAfter(resp.Header.Get("Retry-After"))
		if err.after < 0 && resp.StatusCode == http.StatusTooManyRequests {
			err.after = longPauses * d.pause
		}
		if err.after <= longestWait {
			return err
		}
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusRequestTimeout, resp.StatusCode == http.StatusTooEarly:
		return err
	}
	return backoff.Permanent(err)
}

// retryAfter reads the header of that name, in seconds or a date; negative without one.
func retryAfter(value string) time.Duration {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 {
		return min(time.Duration(n), 1<<30) * time.Second
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(t))
	}
	return -1
}

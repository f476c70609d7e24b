package source

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipReader reads the members of a gzip file one after the other. As gzip(1) does, it passes
// over zeros behind the last one, and over any other data that is no member.
type gzipReader struct {
	body     *bufio.Reader
	z        *gzip.Reader
	trailing bool // there is data behind the members that is no padding
	ended    bool
}

func newGzipReader(body *bufio.Reader) (*gzipReader, error) {
	z, err := gzip.NewReader(body)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipReader{body: body, z: z}, nil
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for !g.ended {
		n, err := g.z.Read(p)
		if err != io.EOF {
			return n, err
		}
		if err := g.next(); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, io.EOF
}

// next goes to the next member, if there is one.
func (g *gzipReader) next() error {
	for padded := false; ; padded = true {
		head, err := g.body.Peek(1)
		if len(head) == 0 {
			g.ended = true
			if err == io.EOF {
				return nil
			}
			return err
		}
		if head[0] != 0 {
			if magic, _ := g.body.Peek(3); padded || !bytes.Equal(magic, []byte{0x1f, 0x8b, 8}) {
				g.ended, g.trailing = true, true
				return g.drain()
			}
			if err := g.z.Reset(g.body); err != nil {
				return err
			}
			g.z.Multistream(false)
			return nil
		}
		if _, err := g.body.Discard(1); err != nil {
			return err
		}
	}
}

// drain reads what is passed over, so that a failing file is noticed.
func (g *gzipReader) drain() error {
	_, err := io.Copy(io.Discard, g.body)
	return err
}

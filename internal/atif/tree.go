package atif

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value.
type node struct {
	kind    jsontext.Kind // { [ " 0 t f n
	text    string        // of a string; a number as written
	members []member
	elems   []*node
}

type member struct {
	name  string
	value *node
}

// parse reads one JSON value with nothing behind it.
func parse(data []byte) (*node, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	n, err := readNode(dec)
	if err == nil {
		if _, err = dec.ReadToken(); err == io.EOF {
			return n, nil
		} else if err == nil {
			err = errors.New("there is text behind the value")
		}
	}
	var syntax *jsontext.SyntacticError
	offset := dec.InputOffset()
	if errors.As(err, &syntax) {
		offset = syntax.ByteOffset
		if syntax.Err != nil {
			err = syntax.Err
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		err = errors.New("the text ends inside a value")
	}
	offset = min(max(offset, 0), int64(len(data)))
	return nil, fmt.Errorf("byte %d, line %d: %w", offset, 1+bytes.Count(data[:offset], []byte("\n")), err)
}

func readNode(dec *jsontext.Decoder) (*node, error) {
	t, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: t.Kind()}
	switch n.kind {
	case '"', '0':
		n.text = t.String()
	case '[':
		for dec.PeekKind() != ']' {
			e, err := readNode(dec)
			if err != nil {
				return nil, err
			}
			n.elems = append(n.elems, e)
		}
		_, err = dec.ReadToken()
	case '{':
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			value, err := readNode(dec)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, member{key, value})
		}
		_, err = dec.ReadToken()
	}
	return n, err
}

// whole returns a number without a fraction.
func (n *node) whole() (int64, bool) {
	if n == nil || n.kind != '0' {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != float64(int64(f)) || f < -1<<53 || f > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func (n *node) String() string {
	switch n.kind {
	case '"':
		const most = 40
		if len(n.text) > most {
			return fmt.Sprintf("%.40q...", n.text)
		}
		return strconv.Quote(n.text)
	case '0':
		return n.text
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return n.kind.String()
}

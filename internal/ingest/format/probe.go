package format

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Value is the raw text of one JSON value, seen from outside: its ends are known, its
// inside is not checked. The zero value stands for "absent".
type Value []byte

// Kind is the first byte that tells the type: { [ " 0 t f n, and 0 for anything else.
// Numbers are '0'.
func (v Value) Kind() byte {
	if len(v) == 0 {
		return 0
	}
	switch c := v[0]; {
	case c == '{', c == '[', c == '"', c == 't', c == 'f', c == 'n':
		return c
	case c == '-', c >= '0' && c <= '9':
		return '0'
	}
	return 0
}

// Get returns the member of an object, absent when v is no object or has no such member.
// Of duplicate keys the last counts, as it does for the readers.
func (v Value) Get(key string) Value {
	var found Value
	v.members(func(k string, value Value) bool {
		if k == key {
			found = value
		}
		return true
	})
	return found
}

// Has reports whether every key is a member of the object v.
func (v Value) Has(keys ...string) bool {
	for _, key := range keys {
		if v.Get(key) == nil {
			return false
		}
	}
	return true
}

// First returns the first element of an array, absent when there is none. The rest of
// the array is not looked at.
func (v Value) First() Value { return v.At(0) }

// At returns an element of an array by its number from 0, absent when there is none. What
// stands behind it is not looked at.
func (v Value) At(n int) Value {
	if v.Kind() != '[' {
		return nil
	}
	s := scanner{data: v, pos: 1}
	for ; ; n-- {
		value, ok := s.value()
		if !ok || n == 0 {
			return value
		}
		if s.next() != ',' {
			return nil
		}
		s.pos++
	}
}

// Text returns a string's text; false when v is no string or it is malformed.
func (v Value) Text() (string, bool) {
	var s string
	if v.Kind() != '"' || Decode(v, &s) != nil {
		return "", false
	}
	return s, true
}

func (v Value) members(yield func(key string, value Value) bool) (complete bool) {
	if v.Kind() != '{' {
		return false
	}
	s := scanner{data: v, pos: 1}
	for {
		switch s.next() {
		case '}':
			s.pos++
			return true
		case ',':
			s.pos++
			continue
		}
		key, ok := s.value()
		if !ok || key.Kind() != '"' || s.next() != ':' {
			return false
		}
		s.pos++
		value, ok := s.value()
		if !ok {
			return false
		}
		name := string(key[1 : len(key)-1])
		if bytes.IndexByte(key, '\\') >= 0 {
			if name, ok = key.Text(); !ok {
				return false
			}
		}
		if !yield(name, value) {
			return true
		}
	}
}

// Probe is the outline of one record.
type Probe struct {
	File string // inside the source; breaks ties, never decides alone
	Root Value

	keys   []string
	values []Value
}

// NewProbe outlines a record. It looks at the top level once and never fails: a
// malformed record has the members before the damage.
func NewProbe(file string, data []byte) *Probe {
	p := &Probe{File: file, Root: trimmed(data)}
	p.Root.members(func(key string, value Value) bool {
		p.keys = append(p.keys, key)
		p.values = append(p.values, value)
		return true
	})
	return p
}

// Get returns a member of the root object, absent when there is none. Of duplicate keys the
// last counts.
func (p *Probe) Get(key string) Value {
	for i, k := range slices.Backward(p.keys) {
		if k == key {
			return p.values[i]
		}
	}
	return nil
}

// Has reports whether every key is a member of the root object.
func (p *Probe) Has(keys ...string) bool {
	for _, key := range keys {
		if p.Get(key) == nil {
			return false
		}
	}
	return true
}

// Keys returns the names of the root object's members, in order.
func (p *Probe) Keys() []string { return p.keys }

// Seen describes the record for a message: its type and its first keys.
func (p *Probe) Seen() string {
	switch p.Root.Kind() {
	case '{':
		return "an object with " + describeKeys(p.keys)
	case '[':
		first := p.Root.First()
		if first.Kind() != '{' {
			return "an array of " + kindNameOf(first)
		}
		var keys []string
		first.members(func(key string, _ Value) bool {
			keys = append(keys, key)
			return true
		})
		return "an array whose first element has " + describeKeys(keys)
	}
	return kindNameOf(p.Root)
}

func describeKeys(keys []string) string {
	const shown = 8
	if len(keys) == 0 {
		return "no keys"
	}
	text := "the keys "
	for i, key := range keys[:min(len(keys), shown)] {
		if i > 0 {
			text += ", "
		}
		if len(key) > 40 {
			key = key[:40] + "..."
		}
		text += strconv.Quote(key)
	}
	if len(keys) > shown {
		text += ", ..."
	}
	return text
}

func trimmed(data []byte) Value { return Value(bytes.Trim(data, " \t\r\n")) }

// Complete reports whether data is one JSON value by its brackets and quotes alone.
func Complete(data []byte) bool {
	v := trimmed(data)
	if v.Kind() == 0 {
		return false
	}
	s := scanner{data: v}
	_, ok := s.value()
	return ok && s.pos == len(v)
}

// scanner finds the ends of JSON values by brackets and quotes, without checking the rest.
type scanner struct {
	data []byte
	pos  int
}

// next skips blanks and returns the byte there, 0 at the end.
func (s *scanner) next() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// value skips one value and returns its text.
func (s *scanner) value() (Value, bool) {
	c := s.next()
	start := s.pos
	switch c {
	case 0, ',', ':', ']', '}':
		return nil, false
	case '"':
		if !s.skipString() {
			return nil, false
		}
	case '{', '[':
		if !s.skipNested() {
			return nil, false
		}
	default:
		for s.pos < len(s.data) && !isDelimiter(s.data[s.pos]) {
			s.pos++
		}
	}
	return s.data[start:s.pos], true
}

func isDelimiter(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '[', '{', '"', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// skipString moves behind the string that begins here.
func (s *scanner) skipString() bool {
	i := s.pos + 1
	for {
		n := bytes.IndexByte(s.data[i:], '"')
		if n < 0 {
			return false
		}
		i += n
		escapes := 0
		for s.data[i-1-escapes] == '\\' {
			escapes++
		}
		i++
		if escapes%2 == 0 {
			s.pos = i
			return true
		}
	}
}

// skipNested moves behind the object or array that begins here.
func (s *scanner) skipNested() bool {
	depth := 0
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '"':
			if !s.skipString() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.pos++
		if depth == 0 {
			return true
		}
	}
	return false
}

func kindNameOf(v Value) string {
	if v.Kind() == 0 {
		return "something that is not JSON"
	}
	return kindName(jsontext.Kind(v.Kind()))
}

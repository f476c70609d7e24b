package parquetfile

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

var (
	errShort     = errors.New("ends too early")
	errMalformed = errors.New("is malformed")
)

// Types of Thrift's compact protocol.
const (
	compactTrue = iota + 1
	compactFalse
	compactI8
	compactI16
	compactI32
	compactI64
	compactDouble
	compactBinary
	compactList
	compactSet
	compactMap
	compactStruct
)

// walker passes over a value in Thrift's compact protocol without making room for anything,
// so that its decoder can be trusted with it.
type walker struct {
	b        []byte
	elements int // that lists and maps may still have
}

const deepest = 24 // nested structs of a footer or page header; the format needs 7

// measure returns the length of the struct at the start of b, which may have that many elements
// in its lists. It is errShort when the struct goes on after b.
func measure(b []byte, elements int) (int, error) {
	w := walker{b: b, elements: elements}
	err := w.structure(deepest)
	return len(b) - len(w.b), err
}

func (w *walker) byte() (byte, error) {
	if len(w.b) == 0 {
		return 0, errShort
	}
	c := w.b[0]
	w.b = w.b[1:]
	return c, nil
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.b)
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errMalformed
	}
	w.b = w.b[n:]
	return v, nil
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.b)) {
		return errShort
	}
	w.b = w.b[n:]
	return nil
}

func (w *walker) structure(depth int) error {
	if depth == 0 {
		return errMalformed
	}
	for {
		c, err := w.byte()
		if err != nil || c == 0 {
			return err
		}
		if c>>4 == 0 { // the field's number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if t := c & 0xf; t == compactTrue || t == compactFalse {
			continue // the type is the value
		}
		if err := w.value(c&0xf, depth); err != nil {
			return err
		}
	}
}

func (w *walker) value(t byte, depth int) error {
	switch t {
	case compactTrue, compactFalse, compactI8:
		return w.skip(1)
	case compactI16, compactI32, compactI64:
		_, err := w.varint()
		return err
	case compactDouble:
		return w.skip(8)
	case compactBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case compactList, compactSet:
		c, err := w.byte()
		if err != nil {
			return err
		}
		n := uint64(c >> 4)
		if n == 15 {
			if n, err = w.varint(); err != nil {
				return err
			}
		}
		return w.many(n, depth, c&0xf)
	case compactMap:
		n, err := w.varint()
		if err != nil || n == 0 {
			return err
		}
		c, err := w.byte()
		if err != nil {
			return err
		}
		return w.many(n, depth, c>>4, c&0xf)
	case compactStruct:
		return w.structure(depth - 1)
	}
	return errMalformed
}

// many passes over n elements, each of values of those types.
func (w *walker) many(n uint64, depth int, types ...byte) error {
	if depth == 0 || n > uint64(max(w.elements, 0)) {
		return errMalformed
	}
	w.elements -= int(n)
	for range n {
		for _, t := range types {
			if err := w.value(t, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func unmarshal(b []byte, into any) error {
	return thrift.Unmarshal(new(thrift.CompactProtocol), b, into)
}

func marshal(v any) ([]byte, error) { return thrift.Marshal(new(thrift.CompactProtocol), v) }

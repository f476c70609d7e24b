package openhands

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// The types below read members of logs whose types changed over the years, or were edited
// by hand: a value of another type is absent.

// text is a string, "" for anything else.
type text string

func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*t = ""
	if dec.PeekKind() != '"' {
		return dec.SkipValue()
	}
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	*t = text(token.String())
	return nil
}

// optText is a string that may be missing.
type optText struct {
	value text
	valid bool
}

func (t *optText) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	t.valid = dec.PeekKind() == '"'
	return t.value.UnmarshalJSONFrom(dec)
}

// identifier is a string, or a number as it is written, so that no digit is lost.
type identifier string

func (i *identifier) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*i = ""
	if dec.PeekKind() != '0' {
		return (*text)(i).UnmarshalJSONFrom(dec)
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*i = identifier(value)
	return nil
}

// number is a whole number.
type number struct{ trajectory.Int }

func (n *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	n.Int = trajectory.Int{}
	if dec.PeekKind() != '0' {
		return dec.SkipValue()
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	n.Int = wholeNumber(value)
	return nil
}

func wholeNumber(value jsontext.Value) trajectory.Int {
	if i, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return trajectory.Some(i)
	}
	const exact = 1 << 53
	if x, err := strconv.ParseFloat(string(value), 64); err == nil && x > -exact && x < exact && x == float64(int64(x)) {
		return trajectory.Some(int64(x))
	}
	return trajectory.Int{}
}

// flag is a boolean, also one written as a string.
type flag struct{ value, valid bool }

func (f *flag) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*f = flag{}
	switch strings.ToLower(string(value)) {
	case `true`, `"true"`:
		*f = flag{true, true}
	case `false`, `"false"`:
		*f = flag{false, true}
	}
	return nil
}

func (f flag) is() bool { return f.valid && f.value }

// lenient is an object, or an array when T is a slice.
type lenient[T any] struct{ V T }

func (l *lenient[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var zero T
	l.V = zero
	want := jsontext.Kind('{')
	if reflect.TypeFor[T]().Kind() == reflect.Slice {
		want = '['
	}
	if dec.PeekKind() != want {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, &l.V)
}

// object is a JSON object in its order; of duplicate names the last counts.
type object []member

// maxCompared bounds the search for duplicate names; no real call has as many arguments.
const maxCompared = 64

type member struct {
	name  string
	value jsontext.Value
}

func (o *object) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = nil
	return members(dec, func(name []byte) error {
		key := string(name)
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		o.set(key, value.Clone())
		return nil
	})
}

// members calls read for every member of an object, to read its value. The name is valid
// until then. Anything but an object is passed over.
func members(dec *jsontext.Decoder, read func(name []byte) error) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var name []byte
	for dec.PeekKind() == '"' {
		quoted, err := dec.ReadValue()
		if err != nil {
			return err
		}
		// The decoder has checked the name; a lone surrogate in it becomes U+FFFD.
		name, _ = jsontext.AppendUnquote(name[:0], quoted)
		if err := read(name); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func (o *object) set(name string, value jsontext.Value) {
	if len(*o) <= maxCompared {
		if at := o.find(name); at >= 0 {
			(*o)[at].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

func (o object) find(name string) int {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].name == name {
			return i
		}
	}
	return -1
}

// get returns a member, absent for null.
func (o object) get(name string) jsontext.Value {
	at := o.find(name)
	if at < 0 || o[at].value.Kind() == 'n' {
		return nil
	}
	return o[at].value
}

// text returns a string member, "" for none.
func (o object) text(name string) string { return unquote(o.get(name)) }

// unquote returns the text of a JSON string, "" for any other value. A lone surrogate
// becomes U+FFFD.
func unquote(value jsontext.Value) string {
	if len(value) == 0 || value.Kind() != '"' {
		return ""
	}
	out, _ := jsontext.AppendUnquote(nil, value)
	return string(out)
}

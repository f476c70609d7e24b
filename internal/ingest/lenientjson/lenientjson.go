package lenientjson

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Text is a string, "" for anything else.
type Text string

// UnmarshalJSONFrom reads the text.
func (t *Text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*t = ""
	if dec.PeekKind() != '"' {
		return dec.SkipValue()
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*t = Text(Unquote(value))
	return nil
}

// OptText is a string that may be missing.
type OptText struct {
	Value Text
	Valid bool
}

// UnmarshalJSONFrom reads the text.
func (t *OptText) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	t.Valid = dec.PeekKind() == '"'
	return t.Value.UnmarshalJSONFrom(dec)
}

// Ident is a string, or a number as it is written, so that no digit is lost.
type Ident string

// UnmarshalJSONFrom reads the identifier.
func (i *Ident) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*i = ""
	if dec.PeekKind() != '0' {
		return (*Text)(i).UnmarshalJSONFrom(dec)
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*i = Ident(value)
	return nil
}

// Int is a whole number, also one written as 3.0.
type Int struct{ trajectory.Int }

// UnmarshalJSONFrom reads the number.
func (n *Int) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	n.Int = trajectory.Int{}
	if dec.PeekKind() != '0' {
		return dec.SkipValue()
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	n.Int = whole(value)
	return nil
}

func whole(value jsontext.Value) trajectory.Int {
	if i, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return trajectory.Some(i)
	}
	const exact = 1 << 53
	if x, err := strconv.ParseFloat(string(value), 64); err == nil && x > -exact && x < exact && x == float64(int64(x)) {
		return trajectory.Some(int64(x))
	}
	return trajectory.Int{}
}

// Flag is a boolean, also one written as a string or as 0 or 1.
type Flag struct{ Value, Valid bool }

// UnmarshalJSONFrom reads the flag.
func (f *Flag) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*f = Flag{}
	if len(value) > len(`"false"`) {
		return nil
	}
	switch strings.ToLower(string(value)) {
	case `true`, `"true"`, `1`, `1.0`:
		*f = Flag{true, true}
	case `false`, `"false"`, `0`, `0.0`:
		*f = Flag{false, true}
	}
	return nil
}

// Is reports whether the flag is there and set.
func (f Flag) Is() bool { return f.Valid && f.Value }

// Int returns 1, 0 or missing.
func (f Flag) Int() trajectory.Int {
	switch {
	case !f.Valid:
		return trajectory.Int{}
	case f.Value:
		return trajectory.Some(1)
	}
	return trajectory.Some(0)
}

// Of is an object.
type Of[T any] struct{ V T }

// UnmarshalJSONFrom reads the object.
func (l *Of[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var zero T
	l.V = zero
	return object(dec, &l.V)
}

// object reads an object into a zero value; anything else is passed over.
func object(dec *jsontext.Decoder, v any) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	if own, ok := v.(json.UnmarshalerFrom); ok {
		return own.UnmarshalJSONFrom(dec)
	}
	return json.UnmarshalDecode(dec, v)
}

// List is an array of objects; an element of another type is a zero T, so that the others
// keep their place.
type List[T any] []T

// UnmarshalJSONFrom reads the array.
func (l *List[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*l = nil
	return Elements(dec, func() error {
		var zero T
		*l = append(*l, zero)
		return object(dec, &(*l)[len(*l)-1])
	})
}

// Content is what a message says: a string, or the texts of its parts, one below the
// other. Parts that are pictures count as nothing.
type Content struct {
	Text  string
	Valid bool // false for null and for anything but text and parts
}

// UnmarshalJSONFrom reads the content.
func (c *Content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = Content{}
	switch dec.PeekKind() {
	case '"':
		c.Valid = true
		return (*Text)(&c.Text).UnmarshalJSONFrom(dec)
	case '[':
		c.Valid = true
		var texts []string
		err := Elements(dec, func() error {
			var part Content
			var kind Text
			err := Members(dec, func(name []byte) error {
				switch string(name) {
				case "type":
					return kind.UnmarshalJSONFrom(dec)
				case "text", "content":
					return part.UnmarshalJSONFrom(dec)
				}
				return dec.SkipValue()
			})
			if part.Text != "" {
				texts = append(texts, part.Text)
			}
			return err
		})
		c.Text = strings.Join(texts, "\n")
		return err
	}
	return dec.SkipValue()
}

// Object is a JSON object in its order; of duplicate names the last counts.
type Object []Member

// Member is a name and its value.
type Member struct {
	Name  string
	Value jsontext.Value
}

// maxCompared bounds the search for duplicate names; no real call has as many arguments.
const maxCompared = 64

// UnmarshalJSONFrom reads the object; anything else gives nil.
func (o *Object) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*o = nil
	if dec.PeekKind() == '{' {
		*o = Object{}
	}
	return Members(dec, func(name []byte) error {
		key := string(name)
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		o.Set(key, value.Clone())
		return nil
	})
}

// Set gives a member its value, in its place when the name is known.
func (o *Object) Set(name string, value jsontext.Value) {
	if len(*o) <= maxCompared {
		if at := o.find(name); at >= 0 {
			(*o)[at].Value = value
			return
		}
	}
	*o = append(*o, Member{name, value})
}

// SetText gives a member a text.
func (o *Object) SetText(name, text string) { o.Set(name, Quote(text)) }

// SetInt gives a member a whole number.
func (o *Object) SetInt(name string, n int64) { o.Set(name, strconv.AppendInt(nil, n, 10)) }

func (o Object) find(name string) int {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Name == name {
			return i
		}
	}
	return -1
}

// Get returns a member, absent for null.
func (o Object) Get(name string) jsontext.Value {
	at := o.find(name)
	if at < 0 || o[at].Value.Kind() == 'n' {
		return nil
	}
	return o[at].Value
}

// Text returns a string member, "" for none.
func (o Object) Text(name string) string { return Unquote(o.Get(name)) }

// Int returns a whole number, also one written as a string; missing for none.
func (o Object) Int(name string) trajectory.Int {
	value := o.Get(name)
	if len(value) > 0 && value.Kind() == '"' {
		value = jsontext.Value(strings.TrimSpace(Unquote(value)))
	}
	return whole(value)
}

// Append writes the object as JSON.
func (o Object) Append(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, m.Name)
		b = append(b, ':')
		b = append(b, m.Value...)
	}
	return append(b, '}')
}

// Parse reads a text that should be an object, such as the arguments of a call. ok is
// false when it is something else or no JSON.
func Parse(text string) (o Object, ok bool) {
	if DecodeText(text, &o) != nil || o == nil {
		return nil, false
	}
	return o, true
}

// Members calls read for every member of an object, to read its value. The name is valid
// until then. Anything but an object is passed over.
func Members(dec *jsontext.Decoder, read func(name []byte) error) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == '"' {
		quoted, err := dec.ReadValue()
		if err != nil {
			return err
		}
		name := quoted[1 : len(quoted)-1]
		if bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) {
			// The decoder has checked the name; a lone surrogate in it becomes U+FFFD.
			name, _ = jsontext.AppendUnquote(nil, quoted)
		}
		if err := read(name); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// Elements calls read for every element of an array, to read it. Anything but an array is
// passed over.
func Elements(dec *jsontext.Decoder, read func() error) error {
	if dec.PeekKind() != '[' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for kind := dec.PeekKind(); kind != ']' && kind != 0; kind = dec.PeekKind() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// Quote returns a text as a JSON string.
func Quote(s string) jsontext.Value {
	out, _ := jsontext.AppendQuote(nil, s)
	return out
}

// Unquote returns the text of a JSON string, "" for any other value.
func Unquote(value jsontext.Value) string {
	if len(value) == 0 || value.Kind() != '"' {
		return ""
	}
	return unquote(value)
}

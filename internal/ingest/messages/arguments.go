package messages

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// arguments are those of a call: an object, or its text as JSON. raw is the text when it is
// no object.
type arguments struct {
	object lenientjson.Object
	raw    string
}

// UnmarshalJSONFrom reads the arguments.
func (a *arguments) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*a = arguments{}
	switch dec.PeekKind() {
	case '{':
		return a.object.UnmarshalJSONFrom(dec)
	case '"':
		var text lenientjson.Text
		if err := text.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		var ok bool
		if a.object, ok = lenientjson.Parse(string(text)); !ok {
			a.raw = string(text)
		}
		return nil
	}
	value, err := dec.ReadValue()
	if err == nil && value.Kind() != 'n' {
		a.raw = string(value)
	}
	return err
}

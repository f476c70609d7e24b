package rowtext

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendCSV appends a value as a field of a CSV line. NULL is the text null as it stands.
func AppendCSV(b []byte, v any, null string) []byte {
	if v == nil {
		return append(b, null...)
	}
	switch v := v.(type) {
	case string:
		return appendQuoted(b, v, null)
	case []byte:
		return hex.AppendEncode(b, v)
	}
	return append(b, Text(v)...)
}

// appendQuoted quotes a text where a reader would else take it for something else.
func appendQuoted(b []byte, s, null string) []byte {
	if s != "" && s != null && !strings.ContainsAny(s, ",\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

// ErrNoJSON is returned for a number that JSON can't hold.
var ErrNoJSON = errors.New("an infinite number has no form in JSON; write CSV or a table instead")

// AppendJSON appends a value as JSON; bytes become a text of hex digits.
func AppendJSON(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case string:
		return jsontext.AppendQuote(b, strings.ToValidUTF8(v, "\ufffd"))
	case []byte:
		b = append(b, '"')
		return append(hex.AppendEncode(b, v), '"'), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return b, ErrNoJSON
		}
	}
	return append(b, Text(v)...), nil
}

// Text writes a value as plain text, "" for NULL.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return real(v)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	case []byte:
		return hex.EncodeToString(v)
	}
	return fmt.Sprint(v)
}

func real(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if strings.ContainsAny(s, ".eIN") { // a point, an exponent, Inf or NaN
		return s
	}
	return s + ".0"
}

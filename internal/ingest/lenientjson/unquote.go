package lenientjson

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// plain are the characters that the letters after a backslash stand for.
var plain = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote returns the text of a JSON string as jsontext.AppendUnquote does, a lone
// surrogate and invalid UTF-8 as U+FFFD. It copies what stands between escapes in one go:
// texts are the bulk of every log.
func unquote(quoted []byte) string {
	if len(quoted) < 2 || quoted[len(quoted)-1] != '"' || !utf8.Valid(quoted) {
		return unquoteAny(quoted)
	}
	body := quoted[1 : len(quoted)-1]
	at := bytes.IndexByte(body, '\\')
	if at < 0 {
		return string(body)
	}
	var b strings.Builder
	b.Grow(len(body) - bytes.Count(body, []byte{'\\'})/2)
	for ; at >= 0; at = bytes.IndexByte(body, '\\') {
		b.Write(body[:at])
		body = body[at:]
		if len(body) < 2 {
			return unquoteAny(quoted)
		}
		if c := plain[body[1]]; c != 0 {
			b.WriteByte(c)
			body = body[2:]
			continue
		}
		r, ok := unit(body)
		if !ok {
			return unquoteAny(quoted)
		}
		body = body[6:]
		if utf16.IsSurrogate(r) {
			low, _ := unit(body)
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				body = body[6:]
			}
		}
		b.WriteRune(r)
	}
	b.Write(body)
	return b.String()
}

func unquoteAny(quoted []byte) string {
	out, _ := jsontext.AppendUnquote(nil, quoted)
	return string(out)
}

// unit returns the UTF-16 code unit that text begins with as \uXXXX.
func unit(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the deepest nesting of a record that is read.
const MaxDepth = 10_000

// Record is one JSON value of a source: a whole file, or a line of a JSON Lines file.
type Record struct {
	File   string // inside the source, slash-separated
	Line   int64  // 1-based, 0 when the file is the record
	Data   []byte // valid until Read returns
	SHA256 string // of the bytes in the source, hex
	Probe  *Probe // outline of Data; of joined lines, of the one that told what they are
}

// Format is one way to write records down.
type Format struct {
	ID          string // stable, such as openhands-v0; the value of --format
	Description string // one line, for help and messages

	// Detect says whether a record is of this format, and the key that decided.
	Detect func(*Probe) (key string, ok bool)

	// Companion marks records that hold no run: they are recognised even when --format
	// names another reader.
	Companion bool

	// Skip, when not empty, is the reason to pass over the records; Read is nil then.
	Skip string

	// Joined reports whether the lines of a JSON Lines file are one record, such as the
	// events of one run. It sees outlines of the first lines, one by one, until a line tells
	// what the file is: lines that no format knows do not. nil: every line is a record.
	Joined func(line *Probe) bool

	// Parts is set for formats whose runs may be spread over several records. Read is only
	// called for records that stand alone, then.
	Parts *Parts

	// Read returns the items of a record. An error refuses the whole record; a
	// *RecordError is reported as it is, with file and line filled in by the caller.
	// Trajectories get SourceFile, SourceRecord, SourceSHA256 and, from the evidence that
	// names them in the same record, their outcome from the caller.
	Read func(Record) ([]Item, error)
}

// Decode reads one JSON value into v: duplicate keys last wins, invalid UTF-8 becomes
// U+FFFD, unknown keys are ignored. The error is a *RecordError with code bad_json,
// non_finite_number, too_deep or bad_type.
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err == nil {
		return nil
	}
	return decodeError(data, err)
}

// Check reports whether data is one JSON value; the error is as of Decode.
func Check(data []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err := dec.SkipValue(); err != nil {
		return decodeError(data, err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		if err == nil {
			err = errors.New("there is text behind the value")
		}
		return decodeError(data, err)
	}
	return nil
}

func decodeError(data []byte, err error) *RecordError {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return syntaxError(data, syntax)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		at := string(semantic.JSONPointer)
		if at == "" {
			at = "the top level"
		}
		message := fmt.Sprintf("byte %d, at %s: got %s, which does not fit there", semantic.ByteOffset, at, kindName(semantic.JSONKind))
		if semantic.Err != nil {
			message += ": " + semantic.Err.Error()
		}
		return &RecordError{Code: "bad_type", Message: message, Hint: "fix the value, or choose another reader with option format"}
	}
	return &RecordError{Code: "bad_json", Message: err.Error()}
}

func syntaxError(data []byte, err *jsontext.SyntacticError) *RecordError {
	offset := min(max(err.ByteOffset, 0), int64(len(data)))
	line := 1 + bytes.Count(data[:offset], []byte{'\n'})
	where := fmt.Sprintf("byte %d, line %d of the record", offset, line)
	if token := nonFinite(data[offset:]); token != "" {
		return &RecordError{
			Code:    "non_finite_number",
			Message: fmt.Sprintf("%s: %s is not JSON", where, token),
			Hint:    "write null instead: Python's json.dumps(..., allow_nan=False) finds the place",
		}
	}
	reason := strings.TrimPrefix(err.Error(), "jsontext: ")
	if err.Err != nil {
		reason = strings.TrimPrefix(err.Err.Error(), "jsontext: ")
	}
	if strings.Contains(reason, "depth") {
		return &RecordError{Code: "too_deep", Message: fmt.Sprintf("%s: nested more than %d levels", where, MaxDepth)}
	}
	if offset == int64(len(data)) {
		reason = "the text ends inside a value"
	}
	return &RecordError{Code: "bad_json", Message: where + ": " + reason, Hint: "the file is damaged or cut; write it again"}
}

// nonFinite returns the Python number that data begins with, in one of its JSON spellings.
func nonFinite(data []byte) string {
	data = bytes.TrimLeft(data, "-")
	for _, token := range []string{"NaN", "Infinity", "Inf"} {
		if bytes.HasPrefix(data, []byte(token)) {
			return token
		}
	}
	return ""
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a value"
}

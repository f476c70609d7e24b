package format

import (
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// OptInt reads a whole number, also one written as 3.0 or 3e2. null is missing; anything
// else is an error.
type OptInt struct{ trajectory.Int }

// UnmarshalJSONFrom reads the number.
func (i *OptInt) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	i.Int = trajectory.Int{}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case 'n':
		return nil
	case '0':
		n, ok := wholeNumber(raw)
		if !ok {
			return fmt.Errorf("want a whole number, got %s", raw)
		}
		i.Int = trajectory.Some(n)
		return nil
	}
	return fmt.Errorf("want a whole number or null, got %s", kindName(raw.Kind()))
}

func wholeNumber(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) >= 1<<53 {
		return 0, false
	}
	return int64(x), true
}

// Args reads a tool call's arguments under canonical names. A value that is no object
// leaves everything but Raw empty.
type Args struct{ trajectory.Args }

// UnmarshalJSONFrom reads the arguments.
func (a *Args) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	a.Args = trajectory.Args{}
	if raw.Kind() != 'n' {
		*a = ArgsOf(raw)
	}
	return nil
}

// ArgsOf reads arguments that are known to be JSON.
func ArgsOf(raw []byte) Args {
	var a Args
	a.Raw = string(raw)
	Value(raw).members(func(key string, value Value) bool {
		a.set(key, value)
		return true
	})
	return a
}

func (a *Args) set(key string, value Value) {
	switch key {
	case "filePath":
		a.text(trajectory.HasFilePath, &a.FilePath, value)
	case "path":
		a.text(trajectory.HasPath, &a.Path, value)
	case "command":
		a.text(trajectory.HasCommand, &a.Command, value)
	case "query":
		a.text(trajectory.HasQuery, &a.Query, value)
	case "code":
		a.text(trajectory.HasCode, &a.Code, value)
	case "oldString":
		a.text(trajectory.HasOldString, &a.OldString, value)
	case "newString":
		a.text(trajectory.HasNewString, &a.NewString, value)
	case "content":
		a.text(trajectory.HasContent, &a.Content, value)
	case "startLine", "start_line":
		a.line(trajectory.HasStartLine, &a.StartLine, value, key == "startLine")
	case "endLine", "end_line":
		a.line(trajectory.HasEndLine, &a.EndLine, value, key == "endLine")
	}
}

func (a *Args) text(has trajectory.ArgSet, field *string, value Value) {
	a.Has |= has
	*field = lenientjson.Unquote(jsontext.Value(value))
}

// line reads a line number; startLine counts before start_line unless it is 0.
func (a *Args) line(has trajectory.ArgSet, field *int64, value Value, preferred bool) {
	a.Has |= has
	if value.Kind() != '0' {
		return
	}
	if n, ok := wholeNumber(value); ok && n != 0 && (preferred || *field == 0) {
		*field = n
	}
}

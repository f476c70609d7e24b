package rowtext

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppendCSV(t *testing.T) {
	for _, c := range []struct {
		v          any
		null, want string
	}{
		{nil, "", ""}, {nil, "NULL", "NULL"}, {"", "", `""`}, {"NULL", "NULL", `"NULL"`}, {"NULL", "", "NULL"},
		{int64(45), "", "45"}, {int64(math.MaxInt64), "", "9223372036854775807"}, {45.0, "", "45.0"}, {0.1, "", "0.1"}, {1e21, "", "1e+21"},
		{true, "", "true"}, {"a,b", "", `"a,b"`}, {`say "x"`, "", `"say ""x"""`}, {"two\nlines", "", "\"two\nlines\""}, {[]byte{1, 171}, "", "01ab"},
		{" padded", "", `" padded"`},
	} {
		if got := string(AppendCSV(nil, c.v, c.null)); got != c.want {
			t.Errorf("AppendCSV(%#v, null %q) = %s, want %s", c.v, c.null, got, c.want)
		}
	}
}

// Independent readers give the values back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z ,"\n;é]{0,12}`).Draw(t, "text")
		real := rapid.Float64().Draw(t, "real")
		n := rapid.Int64().Draw(t, "integer")
		line := AppendCSV(nil, text, "")
		for _, v := range []any{real, n} {
			line = AppendCSV(append(line, ','), v, "")
		}
		fields, err := csv.NewReader(strings.NewReader(string(line) + "\n")).Read()
		if err != nil || len(fields) != 3 || fields[0] != text {
			t.Fatalf("%q reads as %q, %v", line, fields, err)
		}
		if got, err := strconv.ParseFloat(fields[1], 64); err != nil || got != real {
			t.Fatalf("real %v reads as %q", real, fields[1])
		}
		if _, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			t.Fatalf("real %v looks like the integer %q", real, fields[1])
		}
		if got, err := strconv.ParseInt(fields[2], 10, 64); err != nil || got != n {
			t.Fatalf("integer %d reads as %q", n, fields[2])
		}
		quoted, err := AppendJSON(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != text {
			t.Fatalf("%q reads as %q, %v", quoted, back, err)
		}
	})
}

func TestJSONHasNoInfinity(t *testing.T) {
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if _, err := AppendJSON(nil, v); !errors.Is(err, ErrNoJSON) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

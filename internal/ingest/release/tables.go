package release

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/schema"
)

// IsTrajectoriesHeader reports whether a table's header is that of annotations/trajectories.csv.
func IsTrajectoriesHeader(header []string) bool {
	return slices.Equal(header, columns(reflect.TypeFor[schema.Published]()))
}

// IsTasksHeader reports whether a table's header is that of annotations/tasks.csv.
func IsTasksHeader(header []string) bool {
	return slices.Equal(header, columns(reflect.TypeFor[schema.PublishedTask]()))
}

// ReadTrajectories reads annotations/trajectories.csv: one row per assessed run, and what
// its passed column says about the outcome.
func ReadTrajectories(rec format.Record) []format.Item {
	return readTable(rec, func(row *schema.Published) []format.Item {
		items := []format.Item{{Published: row}}
		if row.Passed != nil {
			outcome := trajectory.Fail
			if *row.Passed {
				outcome = trajectory.Pass
			}
			items = append(items, format.Item{Evidence: &format.Evidence{
				Key: row.TrajectoryID, Rank: format.RankColumn, Outcome: outcome, Source: "annotations",
			}})
		}
		return items
	})
}

// ReadTasks reads annotations/tasks.csv.
func ReadTasks(rec format.Record) []format.Item {
	return readTable(rec, func(row *schema.PublishedTask) []format.Item { return []format.Item{{Task: row}} })
}

func columns(row reflect.Type) []string {
	names := make([]string, row.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(row.Field(i).Tag.Get("parquet"), ",")
	}
	return names
}

// vocabularies gives each column's closed vocabulary, nil for none.
func vocabularies(row reflect.Type) [][]string {
	out := make([][]string, row.NumField())
	for i := range out {
		for option := range strings.SplitSeq(row.Field(i).Tag.Get("sql"), ",") {
			if words, ok := strings.CutPrefix(option, "enum="); ok {
				out[i] = strings.Split(words, "|")
			}
		}
	}
	return out
}

// readTable reads rows into structs whose fields are the table's columns in order.
func readTable[T any](rec format.Record, items func(*T) []format.Item) []format.Item {
	names, enums := columns(reflect.TypeFor[T]()), vocabularies(reflect.TypeFor[T]())
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(rec.Data, []byte("\ufeff"))))
	r.FieldsPerRecord = len(names)
	var out []format.Item
	refuse := func(line int, record, message string) {
		out = append(out, format.Item{Refused: &format.RecordError{
			File: rec.File, Line: int64(line), Record: record, Code: "bad_row", Message: message,
			Hint: "take the table from the release again",
		}})
	}
	if _, err := r.Read(); err != nil {
		refuse(1, "", "no header: "+err.Error())
		return out
	}
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return out
		}
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			message := parse.Err.Error()
			if errors.Is(err, csv.ErrFieldCount) {
				message = fmt.Sprintf("%d cells, the header has %d", len(cells), len(names))
			}
			refuse(parse.StartLine, "", message)
			continue
		}
		row := new(T)
		v := reflect.ValueOf(row).Elem()
		bad := ""
		for i, cell := range cells {
			if want := setCell(v.Field(i), cell, enums[i]); want != "" {
				bad = fmt.Sprintf("column %s: %q: want %s", names[i], cell, want)
				break
			}
		}
		line, _ := r.FieldPos(0)
		if bad != "" {
			refuse(line, "", bad)
			continue
		}
		out = append(out, items(row)...)
	}
}

// setCell stores a cell in a field and returns what was expected when it does not fit. An
// empty cell is nil; enum is the column's vocabulary, nil for any text.
func setCell(field reflect.Value, cell string, enum []string) (want string) {
	if field.Kind() == reflect.Pointer {
		if cell == "" {
			return ""
		}
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	switch field.Kind() {
	case reflect.String:
		switch {
		case cell == "" || !utf8.ValidString(cell) || strings.IndexByte(cell, 0) >= 0:
			return "a text of valid UTF-8 without NUL"
		case enum != nil && !slices.Contains(enum, cell):
			return "one of " + strings.Join(enum, ", ")
		}
		field.SetString(cell)
	case reflect.Int64:
		n, err := strconv.ParseInt(cell, 10, 64)
		if err != nil {
			return "a whole number"
		}
		field.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(cell, 64)
		if err != nil || x-x != 0 {
			return "a finite number"
		}
		field.SetFloat(x + 0) // -0 becomes 0, which equals it
	case reflect.Bool:
		switch cell {
		case "True":
			field.SetBool(true)
		case "False":
			field.SetBool(false)
		default:
			return "True or False"
		}
	default:
		panic("release: no table has a column of kind " + field.Kind().String())
	}
	return ""
}

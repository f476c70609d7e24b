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

// readTable reads rows into structs whose fields are the table's columns in order.
func readTable[T any](rec format.Record, items func(*T) []format.Item) []format.Item {
	names := columns(reflect.TypeFor[T]())
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
			if want := setCell(v.Field(i), cell); want != "" {
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
// empty cell is nil.
func setCell(field reflect.Value, cell string) (want string) {
	if field.Kind() == reflect.Pointer {
		if cell == "" {
			return ""
		}
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	switch field.Kind() {
	case reflect.String:
		if cell == "" {
			return "a text"
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
		field.SetFloat(x)
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

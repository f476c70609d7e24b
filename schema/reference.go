package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Reference writes the column reference in Markdown.
func Reference(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Column reference

Generated from the structs in this folder, version %d of the tables. Do not edit.

Shared tables are `+"`data/<table>.parquet`"+`, the tables of a profile `+"`data/<profile>/<table>.parquet`"+`. In the SQLite file
`+"`agentlens.db`"+` every table is one table; those of a profile begin with a column `+"`profile`"+`, which is the first
part of their primary key. The views `+"`features_<profile>` and `signals_<profile>`"+` have exactly the columns listed here.

| type | SQLite (STRICT) | Parquet | JSON |
|---|---|---|---|
| text | TEXT | BYTE_ARRAY, UTF-8 | string |
| integer | INTEGER | INT64 | integer |
| real | REAL | DOUBLE | number |
| boolean | INTEGER, 0 or 1 | BOOLEAN | boolean |

Text holds no NUL byte. A real is finite. Key: PK is a part of the primary key, → TABLE a foreign key, index a column with
an index of its own. Log text marks columns that hold text of the log or a digest of it: a folder made with
`+"`agentlens publish --no-text`"+` lacks them. A published folder may lack other columns that can be null, and whole tables.

`, Version)
	for _, t := range Tables() {
		for _, v := range t.Variants {
			fmt.Fprintf(&b, "- [%s](#%s)\n", heading(t, v), strings.ReplaceAll(heading(t, v), " ", "-"))
		}
	}
	for _, t := range Tables() {
		for _, v := range t.Variants {
			fmt.Fprintf(&b, "\n## %s\n\n%s", heading(t, v), t.Doc)
			if t.PerProfile {
				b.WriteString(" Per profile.")
			}
			b.WriteString("\n\n| column | type | null | key | what it holds |\n|---|---|---|---|---|\n")
			for _, c := range v.Columns {
				null := ""
				if c.Nullable {
					null = "yes"
				}
				doc := c.Doc
				if c.Enum != nil {
					doc += " One of " + strings.Join(c.Enum, ", ") + "."
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Name, c.Kind, null, keyNote(c), cell(doc))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func heading(t Table, v Variant) string {
	if v.Profile != "" {
		return t.Name + " of " + v.Profile
	}
	return t.Name
}

func keyNote(c Column) string {
	var notes []string
	if c.PK {
		notes = append(notes, "PK")
	}
	if c.Ref != "" {
		notes = append(notes, "→ "+c.Ref)
	}
	if c.Index {
		notes = append(notes, "index")
	}
	if c.LogText {
		notes = append(notes, "log text")
	}
	return strings.Join(notes, ", ")
}

// cell makes text safe inside a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)
}

// JSONSchema writes a JSON Schema (draft 2020-12) with one definition per table: an object
// whose properties are the columns, all required, null where a value may be missing. Tables
// whose columns depend on the profile have a definition <table>_<profile> for each.
func JSONSchema(w io.Writer) error {
	var defs object
	for _, t := range Tables() {
		for _, v := range t.Variants {
			name := t.Name
			if v.Profile != "" {
				name += "_" + v.Profile
			}
			var properties object
			for _, c := range v.Columns {
				properties = append(properties, member{c.Name, columnSchema(c)})
			}
			defs = append(defs, member{name, object{
				{"description", t.Doc},
				{"type", "object"},
				{"properties", properties},
				{"required", names(v.Columns)},
				{"additionalProperties", false},
			}})
		}
	}
	text, err := json.MarshalIndent(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", fmt.Sprintf("urn:agentlens-bench:tables:%d", Version)},
		{"title", "Rows of an AgentLens-Bench dataset"},
		{"$defs", defs},
	}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func columnSchema(c Column) object {
	s := object{{"description", c.Doc}}
	if c.Nullable {
		s = append(s, member{"type", []string{c.Kind.JSON(), "null"}})
	} else {
		s = append(s, member{"type", c.Kind.JSON()})
	}
	if c.Enum != nil {
		var enum []any
		for _, e := range c.Enum {
			enum = append(enum, e)
		}
		if c.Nullable {
			enum = append(enum, nil)
		}
		s = append(s, member{"enum", enum})
	}
	return s
}

// object is a JSON object that keeps the order of its members.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

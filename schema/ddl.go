package schema

import (
	"fmt"
	"io"
	"strings"
)

// Object is one statement of the SQLite schema and the object it creates.
type Object struct {
	Type string // table, index or view, as in sqlite_schema
	Name string
	SQL  string // without the semicolon, as sqlite_schema stores it
}

// Objects returns the statements that create a dataset's SQLite schema, in order: tables,
// indexes, and for each of the profiles the views features_<profile> and signals_<profile>
// with exactly that profile's columns.
func Objects(profiles []string) ([]Object, error) { return objects(Tables(), profiles) }

func objects(tables []Table, profiles []string) ([]Object, error) {
	var out []Object
	for _, t := range tables {
		out = append(out, Object{"table", t.Name, createTable(t, tables)})
	}
	for _, t := range tables {
		for _, c := range t.SQLColumns() {
			if c.Index {
				name := t.Name + "_" + c.Name
				out = append(out, Object{"index", name, fmt.Sprintf("CREATE INDEX %s ON %s (%s)", name, t.Name, c.Name)})
			}
		}
	}
	for _, profile := range profiles {
		for _, t := range tables {
			if t.Name != "features" && t.Name != "signals" {
				continue
			}
			v, err := t.Variant(profile)
			if err != nil {
				return nil, err
			}
			name := t.Name + "_" + profile
			out = append(out, Object{"view", name, fmt.Sprintf("CREATE VIEW %s AS\nSELECT %s\nFROM %s\nWHERE %s = %s",
				name, strings.Join(names(v.Columns), ", "), t.Name, ProfileColumn, quote(profile))})
		}
	}
	return out, nil
}

// DDL writes the SQL that creates an empty dataset with every profile.
func DDL(w io.Writer) error {
	list, err := Objects(Profiles())
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n", ApplicationID, Version)
	for _, o := range list {
		fmt.Fprintf(&b, "\n%s;\n", o.SQL)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// createTable writes a STRICT table. Text keys make a table WITHOUT ROWID, so that rows lie
// in the order of the primary key whatever order they came in.
func createTable(t Table, tables []Table) string {
	columns := t.SQLColumns()
	key := keyOf(columns)
	rowid := len(key) == 1 && key[0].Kind == Integer

	type line struct{ sql, doc string }
	var lines []line
	for _, c := range columns {
		sql := c.Name + " " + c.Kind.SQL()
		if rowid && c.PK {
			sql += " PRIMARY KEY"
		}
		if !c.Nullable {
			sql += " NOT NULL"
		}
		switch {
		case c.Kind == Boolean:
			sql += " CHECK (" + c.Name + " IN (0, 1))"
		case c.Enum != nil:
			quoted := make([]string, len(c.Enum))
			for i, e := range c.Enum {
				quoted[i] = quote(e)
			}
			sql += " CHECK (" + c.Name + " IN (" + strings.Join(quoted, ", ") + "))"
		}
		lines = append(lines, line{sql, c.Doc})
	}
	if !rowid {
		lines = append(lines, line{sql: "PRIMARY KEY (" + strings.Join(names(key), ", ") + ")"})
	}
	for _, c := range columns {
		if c.Ref == "" {
			continue
		}
		parent := parentOf(c, tables)
		from := c.Name
		if parent.PerProfile {
			from = ProfileColumn + ", " + from
		}
		to := strings.Join(names(keyOf(parent.SQLColumns())), ", ")
		lines = append(lines, line{sql: fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", from, parent.Name, to)})
	}

	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s ( -- %s\n", t.Name, t.Doc)
	for i, l := range lines {
		b.WriteString("  " + l.sql)
		if i < len(lines)-1 {
			b.WriteByte(',')
		}
		if l.doc != "" {
			b.WriteString(" -- " + l.doc)
		}
		b.WriteByte('\n')
	}
	b.WriteString(") STRICT")
	if !rowid {
		b.WriteString(", WITHOUT ROWID")
	}
	return b.String()
}

// parentOf returns the table a column refers to.
func parentOf(c Column, tables []Table) Table {
	for _, t := range tables {
		if t.Name == c.Ref {
			return t
		}
	}
	panic("schema: column " + c.Name + " refers to " + c.Ref + ", which is no table")
}

func keyOf(columns []Column) []Column {
	var key []Column
	for _, c := range columns {
		if c.PK {
			key = append(key, c)
		}
	}
	return key
}

func names(columns []Column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Name
	}
	return out
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

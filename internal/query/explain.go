package query

import (
	sqlite3 "modernc.org/sqlite/lib"

	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/nearest"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// How SQLite names what it does not know.
var (
	unknownTable  = regexp.MustCompile(`no such table: "?([^" (]+)`)
	unknownColumn = regexp.MustCompile(`no such column: "?([^" (]+)`)
)

// explain adds the way out to an error of SQLite.
func (db *DB) explain(ctx context.Context, err error) error {
	if db.refused != "" {
		return usage.Errorf("", "%w, so %s is refused; to change something, work on a copy of the file", ErrReadOnly, db.refused)
	}
	if ctx.Err() != nil {
		return err
	}
	if m := unknownTable.FindStringSubmatch(err.Error()); m != nil {
		tables, terr := db.Tables(ctx)
		if terr != nil {
			return err
		}
		names := make([]string, len(tables))
		for i, t := range tables {
			names[i] = t.Name
		}
		return usage.Errorf("", "no table %q; %s", m[1], suggest(unqualified(m[1]), names, "the dataset has "))
	}
	if m := unknownColumn.FindStringSubmatch(err.Error()); m != nil {
		return db.explainColumn(ctx, err, m[1])
	}
	var sqlite interface{ Code() int }
	if errors.As(err, &sqlite) && sqlite.Code()&0xff == sqlite3.SQLITE_ERROR { // what the text of the query asks for
		return usage.Wrap(err)
	}
	return err
}

// explainColumn looks for the nearest columns, in all tables: which of them a query reads is
// more than the message tells.
func (db *DB) explainColumn(ctx context.Context, err error, column string) error {
	tables, terr := db.Tables(ctx)
	if terr != nil {
		return err
	}
	where := map[string][]string{} // tables of a column
	var names []string
	for _, t := range tables {
		if t.View {
			continue
		}
		for _, c := range t.Columns {
			if where[c] == nil {
				names = append(names, c)
			}
			where[c] = append(where[c], t.Name)
		}
	}
	name := unqualified(column)
	if in, ok := where[name]; ok {
		return usage.Errorf("", "no column %q in the tables of the query; %s is a column of %s. A text is written in single quotes", column, name, strings.Join(in, ", "))
	}
	near := nearest.Names(name, names)
	for i, n := range near {
		in := where[n]
		if len(in) > 3 {
			in = append(slices.Clone(in[:3]), "...")
		}
		near[i] = fmt.Sprintf("%s (of %s)", n, strings.Join(in, ", "))
	}
	if len(near) > 0 {
		return usage.Errorf("", "no column %q; did you mean %s?", column, strings.Join(near, " or "))
	}
	return usage.Errorf("", "no column %q; without a query, agentlens query lists the columns of every table. A text is written in single quotes", column)
}

func suggest(name string, names []string, have string) string {
	if near := nearest.Names(name, names); len(near) > 0 {
		return fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return have + strings.Join(names, ", ")
}

// unqualified drops what stands before the last point of a name.
func unqualified(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

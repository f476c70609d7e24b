// Package schema defines the tables of a dataset version: one Go struct per table.
//
// A struct's fields are its columns, in order. Three tags say everything about a column:
//
//   - parquet: the Parquet name and encoding, as parquet-go reads it. Text is plain: the
//     encoder of dictionary indexes cuts runs by the processor's instruction set, so that
//     dictionaries would give other bytes on other machines;
//   - sql: "pk" for a part of the primary key, "ref=TABLE" for a foreign key on the
//     single-column primary key of another table, "index" for an index of its own,
//     "enum=a|b|c" for a closed vocabulary; comma separated;
//   - doc: what the column holds, with unit, range and source.
//
// The Go type decides the rest: string, int64, float64 and bool are TEXT, INTEGER, REAL and
// INTEGER 0/1; a pointer is a column that may be NULL. No other types occur.
//
// The package imports nothing of this module. DDL, JSON Schema and the column reference are
// generated from Tables; a test keeps the committed reference current.
package schema

package params

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agentlens-bench/agentlens/internal/nearest"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
)

// maxBytes is far above any profile file.
const maxBytes = 1 << 20

// Set holds the parameters of a profile file; nil for a profile without a table in it.
type Set struct {
	Paper   *paper.Params   `toml:"paper"`
	Process *process.Params `toml:"process"`
}

// Read reads a profile file. name names it in errors, which also name the key, and the line
// where there is one.
func Read(r io.Reader, name string) (Set, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return Set{}, fmt.Errorf("profile file %s: %w", name, err)
	}
	if len(text) > maxBytes {
		return Set{}, fmt.Errorf("profile file %s: more than %d bytes: this is no profile file", name, maxBytes)
	}
	set, err := parse(string(text))
	if err != nil {
		return Set{}, fmt.Errorf("profile file %s: %w", name, err)
	}
	return set, nil
}

func parse(text string) (Set, error) {
	var file map[string]toml.Primitive
	md, err := toml.Decode(text, &file)
	if err != nil {
		return Set{}, err
	}
	known := keys(reflect.TypeFor[Set](), "")
	for _, k := range md.Keys() {
		if key := strings.Join(k, "."); !slices.Contains(known, key) {
			return Set{}, unknown(key, known)
		}
	}
	var set Set
	if p, ok := file["paper"]; ok {
		params := paper.DefaultParams()
		set.Paper = &params
		err = fill(&md, p, reflect.ValueOf(&params).Elem())
		if err == nil {
			err = params.Validate()
		}
	}
	if p, ok := file["process"]; ok && err == nil {
		params := process.DefaultParams()
		set.Process = &params
		err = fill(&md, p, reflect.ValueOf(&params).Elem())
		if err == nil {
			err = params.Validate()
		}
	}
	if err == nil && set == (Set{}) {
		err = errors.New("no parameters: want a table [paper] or [process]")
	}
	if err != nil {
		return Set{}, err
	}
	return set, nil
}

// table stands in the library's message for a value that is none.
type table struct{}

// fill sets the fields of a struct that the table has keys for, in the order of the fields.
// Decoding key by key makes the first mistake a fixed one.
func fill(md *toml.MetaData, p toml.Primitive, v reflect.Value) error {
	// A map accepts what is no table without a word, a struct does not.
	var entries map[string]toml.Primitive
	if err := md.PrimitiveDecode(p, new(table)); err != nil {
		return err
	}
	if err := md.PrimitiveDecode(p, &entries); err != nil {
		return err
	}
	for i := range v.NumField() {
		entry, ok := entries[tag(v.Type().Field(i))]
		if !ok {
			continue
		}
		decode := func() error { return md.PrimitiveDecode(entry, v.Field(i).Addr().Interface()) }
		if v.Field(i).Kind() == reflect.Struct {
			decode = func() error { return fill(md, entry, v.Field(i)) }
		}
		if err := decode(); err != nil {
			return err
		}
	}
	return nil
}

func tag(f reflect.StructField) string { return f.Tag.Get("toml") }

// keys lists the dotted keys of a struct's tables and values.
func keys(t reflect.Type, prefix string) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		if tag(f) == "-" {
			continue
		}
		out = append(out, prefix+tag(f))
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			out = append(out, keys(inner, prefix+tag(f)+".")...)
		}
	}
	return out
}

func unknown(key string, known []string) error {
	if key == "release" || strings.HasPrefix(key, "release.") {
		return errors.New("the release profile has no parameters: remove the table [release]")
	}
	best := slices.MinFunc(known, func(a, b string) int { return nearest.Distance(key, a) - nearest.Distance(key, b) })
	if nearest.Distance(key, best) > max(2, len(key)/3) {
		return fmt.Errorf("unknown key %q; the keys are %s", key, strings.Join(known, ", "))
	}
	return fmt.Errorf("unknown key %q; did you mean %q?", key, best)
}

// Write writes a profile file that Read gives back.
func Write(w io.Writer, set Set) error {
	e := toml.NewEncoder(w)
	e.Indent = ""
	return e.Encode(set)
}

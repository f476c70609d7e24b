package params

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agentlens-bench/agentlens/internal/nearest"
	"github.com/agentlens-bench/agentlens/internal/profile"
)

// maxBytes is far above any profile file.
const maxBytes = 1 << 20

// Read reads a profile file into the parameters of the profiles whose tables it has. name names
// it in errors, which also name the key, and the line where there is one. On an error the
// parameters are of no use.
func Read(r io.Reader, name string, profiles []profile.Profile) error {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(text) > maxBytes {
		err = fmt.Errorf("more than %d bytes: this is no profile file", maxBytes)
	}
	if err == nil {
		err = parse(string(text), profiles)
	}
	if err != nil {
		return fmt.Errorf("profile file %s: %w", name, err)
	}
	return nil
}

func parse(text string, profiles []profile.Profile) error {
	var file map[string]toml.Primitive
	md, err := toml.Decode(text, &file)
	if err != nil {
		return err
	}
	known := known(profiles)
	for _, k := range md.Keys() {
		if key := strings.Join(k, "."); !slices.Contains(known, key) {
			return unknown(key, known, profiles)
		}
	}
	var tables []string
	for _, p := range profiles {
		if p.Params() == nil {
			continue
		}
		tables = append(tables, "["+p.Name()+"]")
		table, ok := file[p.Name()]
		if !ok {
			continue
		}
		if err := fill(&md, table, reflect.ValueOf(p.Params()).Elem()); err != nil {
			return err
		}
		if err := p.Validate(); err != nil {
			return err
		}
	}
	if len(file) == 0 {
		return fmt.Errorf("no parameters: want a table %s", strings.Join(tables, " or "))
	}
	return nil
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
		out = append(out, prefix+tag(f))
		if f.Type.Kind() == reflect.Struct {
			out = append(out, keys(f.Type, prefix+tag(f)+".")...)
		}
	}
	return out
}

// known lists the dotted keys of a file.
func known(profiles []profile.Profile) []string {
	var out []string
	for _, p := range profiles {
		if params := p.Params(); params != nil {
			out = append(append(out, p.Name()), keys(reflect.TypeOf(params).Elem(), p.Name()+".")...)
		}
	}
	return out
}

func unknown(key string, known []string, profiles []profile.Profile) error {
	table, _, _ := strings.Cut(key, ".")
	for _, p := range profiles {
		if p.Name() == table && p.Params() == nil {
			return fmt.Errorf("the %s profile has no parameters: remove the table [%[1]s]", table)
		}
	}
	best := slices.MinFunc(known, func(a, b string) int { return nearest.Distance(key, a) - nearest.Distance(key, b) })
	if nearest.Distance(key, best) > max(2, len(key)/3) {
		return fmt.Errorf("unknown key %q; the keys are %s", key, strings.Join(known, ", "))
	}
	return fmt.Errorf("unknown key %q; did you mean %q?", key, best)
}

// Write writes the parameters of profiles as a file that Read gives back.
func Write(w io.Writer, profiles ...profile.Profile) error {
	tables := map[string]any{}
	for _, p := range profiles {
		if params := p.Params(); params != nil {
			tables[p.Name()] = params
		}
	}
	e := toml.NewEncoder(w)
	e.Indent = ""
	return e.Encode(tables)
}

// Own lists the parameters of a profile that differ from those of defaults, as "key value" with
// the keys of a profile file, comma separated; "" for none.
func Own(p, defaults profile.Profile) string {
	if p.Params() == nil {
		return ""
	}
	var out []string
	differing(reflect.ValueOf(p.Params()).Elem(), reflect.ValueOf(defaults.Params()).Elem(), "", &out)
	return strings.Join(out, ", ")
}

func differing(v, defaults reflect.Value, prefix string, out *[]string) {
	for i := range v.NumField() {
		name := prefix + tag(v.Type().Field(i))
		switch f, g := v.Field(i), defaults.Field(i); {
		case f.Kind() == reflect.Struct:
			differing(f, g, name+".", out)
		case !f.Equal(g):
			*out = append(*out, fmt.Sprintf("%s %v", name, f))
		}
	}
}

// Option is a parameter that is an option of the command line, too.
type Option struct {
	Name  string
	Usage string
	Value any // pointer to the parameter
}

// Options lists those of a profile.
func Options(p profile.Profile) []Option {
	if p.Params() == nil {
		return nil
	}
	var out []Option
	v := reflect.ValueOf(p.Params()).Elem()
	for i := range v.NumField() {
		if name, ok := v.Type().Field(i).Tag.Lookup("flag"); ok {
			out = append(out, Option{name, p.Name() + " profile: " + v.Type().Field(i).Tag.Get("usage"), v.Field(i).Addr().Interface()})
		}
	}
	return out
}

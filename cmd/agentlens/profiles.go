package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/params"
	"github.com/agentlens-bench/agentlens/internal/profile/registry"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// profileFlags choose profiles and their parameters.
type profileFlags struct {
	all   []profile.Profile
	names []string
	file  string
}

// addProfileFlags adds the choice of profiles, the file of their parameters, and an option for
// every parameter that is one.
func addProfileFlags(f *pflag.FlagSet) *profileFlags {
	p := &profileFlags{all: registry.All()}
	f.StringSliceVar(&p.names, "profile", nil, "profiles to compute: "+strings.Join(registry.Names(), ",")+" (default all)")
	var with []string
	for _, of := range p.all {
		if of.Params() != nil {
			with = append(with, of.Name())
		}
		for _, o := range params.Options(of) {
			addOption(f, o)
		}
	}
	inputFile(f, &p.file, "profile-file", "TOML file with parameters of the "+strings.Join(with, " and ")+" profiles, as calibrate writes it")
	return p
}

func addOption(f *pflag.FlagSet, o params.Option) {
	v := reflect.ValueOf(o.Value).Elem()
	switch v.Kind() {
	case reflect.Int:
		f.IntVar(o.Value.(*int), o.Name, int(v.Int()), o.Usage)
	case reflect.String:
		text := v.Addr().Convert(reflect.TypeFor[*string]()).Interface().(*string)
		f.StringVar(text, o.Name, *text, o.Usage)
	case reflect.Bool:
		f.BoolVar(o.Value.(*bool), o.Name, v.Bool(), o.Usage)
	case reflect.Float64:
		f.Float64Var(o.Value.(*float64), o.Name, v.Float(), o.Usage)
	default:
		panic("agentlens: option " + o.Name + " of a type that no flag has") // a test makes every command
	}
}

// read returns the profiles with their parameters: those of the file, with the options that
// were given on top.
func (p *profileFlags) read(ctx context.Context, f *pflag.FlagSet) ([]profile.Profile, error) {
	given := map[string]string{}
	for _, of := range p.all {
		for _, o := range params.Options(of) {
			if f.Changed(o.Name) {
				given[o.Name] = f.Lookup(o.Name).Value.String()
			}
		}
	}
	if err := readProfiles(ctx, p.file, p.all); err != nil {
		return nil, err
	}
	for name, value := range given {
		if err := f.Lookup(name).Value.Set(value); err != nil {
			return nil, err
		}
	}
	if len(p.names) == 0 {
		return p.all, nil
	}
	var out []profile.Profile
	for _, name := range p.names {
		i := slices.IndexFunc(p.all, func(of profile.Profile) bool { return of.Name() == name })
		if i < 0 {
			return nil, usage.Errorf("", "profile %q: want some of %s", name, strings.Join(registry.Names(), ", "))
		}
		out = append(out, p.all[i])
	}
	return out, nil
}

// readProfiles takes parameters from a profile file, "" for none. Parameters that the file
// leaves out keep their values.
func readProfiles(ctx context.Context, path string, into []profile.Profile) error {
	if path == "" {
		return nil
	}
	f, err := sidefile.Read(ctx, path)
	if err != nil {
		return fmt.Errorf("profile file: %w", err)
	}
	if err := params.Read(f.Reader(), path, into); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

// Package registry knows the profiles there are. It is the only place that lists them.
//
// Invariant: the profiles and their signals are those of package schema, in its order.
package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
)

// All returns a new value of every profile, with its default parameters, in the order of their
// tables.
func All() []profile.Profile {
	return []profile.Profile{
		release.New(),
		paper.New(),
		process.New(),
	}
}

// Names lists the profiles.
func Names() []string { return names(All()) }

// Weighted lists the profiles whose weights can be fitted.
func Weighted() []string {
	return names(slices.DeleteFunc(All(), func(p profile.Profile) bool { _, ok := p.(profile.Weighted); return !ok }))
}

// Having lists the profiles with a capability.
func Having(capability func(profile.Capabilities) bool) []string {
	return names(slices.DeleteFunc(All(), func(p profile.Profile) bool { return !capability(p.Capabilities()) }))
}

func names(of []profile.Profile) []string {
	out := make([]string, len(of))
	for i, p := range of {
		out[i] = p.Name()
	}
	return out
}

// New returns the profile of that name with its default parameters.
func New(name string) (profile.Profile, error) {
	all := All()
	if i := slices.IndexFunc(all, func(p profile.Profile) bool { return p.Name() == name }); i >= 0 {
		return all[i], nil
	}
	return nil, fmt.Errorf("profile %q: want some of %s", name, strings.Join(Names(), ", "))
}

// Default is the profile that is shown and curated by where none is named: the one of the
// authors' release where it is among those, else the first. It is "" for none.
func Default(have []string) string {
	switch {
	case slices.Contains(have, release.Name):
		return release.Name
	case len(have) > 0:
		return have[0]
	}
	return ""
}

// Named returns the profiles of those names, with their default parameters.
func Named(names ...string) ([]profile.Profile, error) {
	out := make([]profile.Profile, len(names))
	for i, name := range names {
		var err error
		if out[i], err = New(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

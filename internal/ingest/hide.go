package ingest

import (
	"reflect"

	"github.com/agentlens-bench/agentlens/internal/ingest/release"
	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// hide replaces in a run what its records did not show one by one: the names that its
// commands asked for, and what only stands in texts that a reader put together from several
// records. Records of the release are read as they are.
func (s *sourceReader) hide(t *trajectory.Trajectory, joined bool) {
	if t.Format == release.ID {
		return
	}
	counts := privacy.Counts{}
	for _, n := range told(s.privacy(), t) {
		eachString(reflect.ValueOf(t).Elem(), func(text string) string {
			out, count := n.HideName(text)
			if count > 0 {
				counts[n.Kind] += int64(count)
			}
			return out
		})
	}
	if joined {
		eachString(reflect.ValueOf(t).Elem(), func(text string) string {
			out, found := s.privacy().ScrubText(text)
			for kind, n := range found {
				counts[kind] += n
			}
			return out
		})
	}
	if len(counts) == 0 {
		return
	}
	states.Rederive(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, n := range counts {
		s.replaced[kind] += n
	}
}

func told(o privacy.Options, t *trajectory.Trajectory) []privacy.Name {
	var names []privacy.Name
	for i := range t.States {
		if l := t.States[i].Log; l != nil && l.Args.Command != "" {
			names = append(names, o.Told(l.Args.Command, t.States[i].Response)...)
		}
	}
	return names
}

// eachString replaces every text in a value with what change makes of it.
func eachString(v reflect.Value, change func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); len(text) > 2 && v.CanSet() {
			if out := change(text); out != text {
				v.SetString(out)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			eachString(v.Elem(), change)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachString(v.Index(i), change)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			eachString(v.Field(i), change)
		}
	}
}

package atif

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Severity says whether a problem makes a document invalid.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one broken rule.
type Problem struct {
	Severity Severity `json:"severity"`
	Path     string   `json:"path"` // such as $.steps[2].tool_calls[0].arguments
	Code     string   `json:"code"` // stable, snake_case
	Message  string   `json:"message"`
}

// Options of Validate.
type Options struct {
	// Exists reports whether a file that the document names by a path, relative to its own
	// folder or absolute, is there. nil leaves the files unchecked.
	Exists func(path string) bool
}

// newest is the minor version of the newest format that is known.
const newest = 7

// Validate returns the problems of a document, in the order of the document. It is valid when
// none is an Error.
func Validate(data []byte, opt Options) []Problem {
	v := validator{opt: opt, minor: newest}
	root, err := parse(data)
	if err != nil {
		v.err("$", "bad_json", "%s; want one JSON object", err)
		return v.problems
	}
	if version := find(root, "schema_version"); version != nil && version.kind == '"' {
		if minor, ok := strings.CutPrefix(version.text, "ATIF-v1."); ok {
			if n, err := strconv.Atoi(minor); err == nil && n >= 0 && n <= newest {
				v.minor = n
			}
		}
	}
	v.document("$", root, false)
	return v.problems
}

type validator struct {
	opt      Options
	minor    int // of the version of the outermost document
	embedded []map[string]bool
	problems []Problem
}

func (v *validator) err(path, code, format string, args ...any) {
	v.problems = append(v.problems, Problem{Error, path, code, fmt.Sprintf(format, args...)})
}

func (v *validator) warn(path, code, format string, args ...any) {
	v.problems = append(v.problems, Problem{Warning, path, code, fmt.Sprintf(format, args...)})
}

// find returns the last member of a name, as decoders do; nil for none.
func find(n *node, name string) *node {
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// field is a key of an object. check is called for values that are not null.
type field struct {
	name     string
	required bool
	since    int // minor version
	check    func(v *validator, path string, n *node) bool
}

// object checks the keys of an object and their values, and returns the values that are
// present and of the right type. It returns nil when n is no object.
func (v *validator) object(path string, n *node, fields []field) map[string]*node {
	if n.kind != '{' {
		v.err(path, "wrong_type", "got %s, want an object", n)
		return nil
	}
	good := map[string]*node{}
	seen := map[string]bool{}
	for i, m := range n.members {
		at := path + "." + m.name
		if seen[m.name] {
			v.warn(at, "duplicate_key", "the key occurs twice in its object; readers take the last one")
		}
		seen[m.name] = true
		if find(n, m.name) != n.members[i].value {
			continue
		}
		k := slices.IndexFunc(fields, func(f field) bool { return f.name == m.name })
		if k < 0 {
			v.err(at, "unknown_key", "key %q is not part of ATIF schema here; known are %s", m.name, names(fields))
			continue
		}
		f := &fields[k]
		if m.value.kind == 'n' {
			if f.required {
				v.err(at, "missing", "got null, but %q is required", m.name)
			}
			continue
		}
		if f.since > v.minor {
			v.warn(at, "newer_than_version", "key %q is known since ATIF-v1.%d, and the document says ATIF-v1.%d", m.name, f.since, v.minor)
		}
		if f.check(v, at, m.value) {
			good[m.name] = m.value
		}
	}
	for _, f := range fields {
		if f.required && !seen[f.name] {
			v.err(path+"."+f.name, "missing", "required key %q is missing", f.name)
		}
	}
	return good
}

func names(fields []field) string {
	var out []string
	for _, f := range fields {
		out = append(out, f.name)
	}
	return strings.Join(out, ", ")
}

// wants returns a check of a value's type.
func wants(what string, kinds ...byte) func(*validator, string, *node) bool {
	return func(v *validator, path string, n *node) bool {
		if slices.Contains(kinds, byte(n.kind)) {
			return true
		}
		v.err(path, "wrong_type", "got %s, want %s", n, what)
		return false
	}
}

var (
	text   = wants("a string", '"')
	flag   = wants("true or false", 't', 'f')
	number = wants("a number", '0')
	object = wants("an object", '{')
	effort = wants("a string or a number", '"', '0')
)

func whole(v *validator, path string, n *node) bool {
	if _, ok := n.whole(); !ok {
		v.err(path, "wrong_type", "got %s, want a whole number", n)
		return false
	}
	return true
}

func count(v *validator, path string, n *node) bool {
	i, ok := n.whole()
	if !ok || i < 0 {
		v.err(path, "wrong_type", "got %s, want a whole number of 0 or more", n)
		return false
	}
	return true
}

// list returns a check of an array whose elements pass a check.
func list(what string, elem func(v *validator, path string, n *node) bool) func(*validator, string, *node) bool {
	return func(v *validator, path string, n *node) bool {
		if n.kind != '[' {
			v.err(path, "wrong_type", "got %s, want an array of %s", n, what)
			return false
		}
		for i, e := range n.elems {
			elem(v, fmt.Sprintf("%s[%d]", path, i), e)
		}
		return true
	}
}

// one returns a check of a string that must be one of some words.
func one(words ...string) func(*validator, string, *node) bool {
	return func(v *validator, path string, n *node) bool {
		if n.kind == '"' && slices.Contains(words, n.text) {
			return true
		}
		v.err(path, "unknown_value", "got %s, want one of %s", n, strings.Join(words, ", "))
		return false
	}
}

func versions() []string {
	var out []string
	for i := range newest + 1 {
		out = append(out, fmt.Sprintf("ATIF-v1.%d", i))
	}
	return out
}

// array is a check of a type whose elements are checked elsewhere.
var array = wants("an array", '[')

var rootFields = []field{
	{"schema_version", true, 0, one(versions()...)},
	{"session_id", false, 0, text},
	{"trajectory_id", false, 7, text},
	{"agent", true, 0, agent},
	{"steps", true, 0, array},
	{"notes", false, 0, text},
	{"final_metrics", false, 0, finalMetrics},
	{"continued_trajectory_ref", false, 0, text},
	{"extra", false, 1, object},
	{"subagent_trajectories", false, 7, array},
}

// document checks a root object, or an embedded subagent.
func (v *validator) document(path string, n *node, embedded bool) {
	if n.kind != '{' {
		v.err(path, "wrong_type", "got %s, want the object of a trajectory", n)
		return
	}
	subs := find(n, "subagent_trajectories")
	ids := map[string]bool{}
	if subs != nil {
		for _, s := range subs.elems {
			id := find(s, "trajectory_id")
			if id == nil || id.kind != '"' {
				id = &node{} // reported where it stands; it may be the one that is referred to
			}
			ids[id.text] = true
		}
	}
	v.embedded = append(v.embedded, ids)
	defer func() { v.embedded = v.embedded[:len(v.embedded)-1] }()

	got := v.object(path, n, rootFields)
	if v.minor <= 6 && find(n, "session_id") == nil {
		v.err(path+".session_id", "missing", "required key \"session_id\" is missing; only since ATIF-v1.7 it may be")
	}
	if id := find(n, "trajectory_id"); embedded && (id == nil || id.kind == 'n') {
		v.err(path+".trajectory_id", "missing", "an embedded subagent needs a trajectory_id")
	}
	if steps := got["steps"]; steps != nil {
		v.steps(path+".steps", steps)
		v.totals(path, got)
	}
	if ref := got["continued_trajectory_ref"]; ref != nil {
		v.file(path+".continued_trajectory_ref", ref.text, Warning)
	}
	if subs := got["subagent_trajectories"]; subs != nil {
		taken := map[string]bool{}
		for i, s := range subs.elems {
			at := fmt.Sprintf("%s.subagent_trajectories[%d]", path, i)
			if id := find(s, "trajectory_id"); id != nil && id.kind == '"' {
				if taken[id.text] {
					v.err(at+".trajectory_id", "duplicate_id", "another subagent of the trajectory has the id %q too", id.text)
				}
				taken[id.text] = true
			}
			v.document(at, s, true)
		}
	}
}

// totals compares total_steps with the steps.
func (v *validator) totals(path string, got map[string]*node) {
	if got["final_metrics"] == nil || got["notes"] != nil {
		return
	}
	total, ok := find(got["final_metrics"], "total_steps").whole()
	if n := int64(len(got["steps"].elems)); ok && total != n {
		v.warn(path+".final_metrics.total_steps", "totals_differ", "is %d, but there are %d steps, and no notes explain it", total, n)
	}
}

func agent(v *validator, path string, n *node) bool {
	return v.object(path, n, []field{
		{"name", true, 0, text},
		{"version", true, 0, text},
		{"model_name", false, 0, text},
		{"tool_definitions", false, 5, list("objects", object)},
		{"extra", false, 0, object},
	}) != nil
}

func finalMetrics(v *validator, path string, n *node) bool {
	return v.object(path, n, []field{
		{"total_prompt_tokens", false, 0, whole},
		{"total_completion_tokens", false, 0, whole},
		{"total_cached_tokens", false, 0, whole},
		{"total_cost_usd", false, 0, number},
		{"total_steps", false, 0, count},
		{"extra", false, 0, object},
	}) != nil
}

var stepFields = []field{
	{"step_id", true, 0, whole},
	{"timestamp", false, 0, timestamp},
	{"source", true, 0, one("system", "user", "agent")},
	{"message", true, 0, content},
	{"model_name", false, 0, text},
	{"reasoning_effort", false, 0, effort},
	{"reasoning_content", false, 0, text},
	{"tool_calls", false, 0, list("calls", toolCall)},
	{"observation", false, 0, observation},
	{"metrics", false, 0, metrics},
	{"is_copied_context", false, 5, flag},
	{"llm_call_count", false, 7, count},
	{"extra", false, 0, object},
}

func (v *validator) steps(path string, n *node) {
	if len(n.elems) == 0 {
		v.err(path, "no_steps", "the array is empty, want at least one step")
	}
	last, lastText := time.Time{}, ""
	for i, e := range n.elems {
		at := fmt.Sprintf("%s[%d]", path, i)
		got := v.object(at, e, stepFields)
		if got == nil {
			continue
		}
		if id, ok := got["step_id"].whole(); ok && id != int64(i+1) {
			v.err(at+".step_id", "step_order", "is %d, want %d: steps are numbered from 1 in their order", id, i+1)
		}
		if source := got["source"]; source != nil {
			v.bySource(at, source.text, e)
		}
		v.calls(at, got)
		if calls, ok := got["llm_call_count"].whole(); ok && calls == 0 {
			for _, key := range [...]string{"metrics", "reasoning_content"} {
				if m := find(e, key); m != nil && m.kind != 'n' {
					v.err(at+"."+key, "without_model", "must be absent in a step with llm_call_count 0")
				}
			}
		}
		if stamp := got["timestamp"]; stamp != nil {
			t, _ := parseTime(stamp.text)
			if t.Before(last) && sameZone(stamp.text, lastText) {
				v.warn(at+".timestamp", "time_order", "is before that of an earlier step, %s", lastText)
			} else {
				last, lastText = t, stamp.text
			}
		}
	}
}

// bySource checks the keys that only some sources may have.
func (v *validator) bySource(path, source string, step *node) {
	for _, m := range step.members {
		if m.value.kind == 'n' {
			continue
		}
		switch m.name {
		case "model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics":
			if source != SourceAgent {
				v.err(path+"."+m.name, "agent_only", "only steps of the source agent may have %q, this one is of %s", m.name, source)
			}
		case "observation":
			switch {
			case source == SourceUser:
				v.err(path+".observation", "agent_only", "only steps of the sources agent and system may have an observation, this one is of user")
			case source == SourceSystem && v.minor < 2:
				v.warn(path+".observation", "newer_than_version", "observations of system steps are known since ATIF-v1.2, and the document says ATIF-v1.%d", v.minor)
			}
		}
	}
}

func toolCall(v *validator, path string, n *node) bool {
	return v.object(path, n, []field{
		{"tool_call_id", true, 0, text},
		{"function_name", true, 0, text},
		{"arguments", true, 0, object},
		{"extra", false, 7, object},
	}) != nil
}

func observation(v *validator, path string, n *node) bool {
	return v.object(path, n, []field{{"results", true, 0, list("results", result)}}) != nil
}

func result(v *validator, path string, n *node) bool {
	return v.object(path, n, []field{
		{"source_call_id", false, 0, text},
		{"content", false, 0, content},
		{"subagent_trajectory_ref", false, 0, list("references", reference)},
		{"extra", false, 7, object},
	}) != nil
}

func reference(v *validator, path string, n *node) bool {
	got := v.object(path, n, []field{
		{"trajectory_id", false, 7, text},
		{"trajectory_path", false, 0, text},
		{"session_id", false, 0, text},
		{"extra", false, 0, object},
	})
	if got == nil {
		return false
	}
	has := func(key string) bool { m := find(n, key); return m != nil && m.kind != 'n' }
	switch {
	case v.minor >= 7 && !has("trajectory_id") && !has("trajectory_path"):
		v.err(path, "unresolvable", "want a trajectory_id or a trajectory_path to find the subagent by")
	case v.minor < 7 && !has("session_id"):
		v.err(path+".session_id", "missing", "required key \"session_id\" is missing; only since ATIF-v1.7 it may be")
	}
	if id := got["trajectory_id"]; id != nil && !has("trajectory_path") && !v.isEmbedded(id.text) {
		v.warn(path+".trajectory_id", "no_such_subagent", "no embedded subagent has the id %q", id.text)
	}
	if p := got["trajectory_path"]; p != nil {
		v.file(path+".trajectory_path", p.text, Warning)
	}
	return true
}

func (v *validator) isEmbedded(id string) bool {
	return slices.ContainsFunc(v.embedded, func(ids map[string]bool) bool { return ids[id] || ids[""] })
}

// calls checks what ties calls and results together.
func (v *validator) calls(path string, got map[string]*node) {
	ids := map[string]bool{}
	if calls := got["tool_calls"]; calls != nil {
		for i, c := range calls.elems {
			id := find(c, "tool_call_id")
			if id == nil || id.kind != '"' {
				continue
			}
			if ids[id.text] {
				v.warn(fmt.Sprintf("%s.tool_calls[%d].tool_call_id", path, i), "duplicate_id", "another call of the step has the id %q too", id.text)
			}
			ids[id.text] = true
		}
	}
	if got["observation"] == nil {
		return
	}
	results := find(got["observation"], "results")
	if results == nil {
		return
	}
	for i, r := range results.elems {
		if id := find(r, "source_call_id"); id != nil && id.kind == '"' && !ids[id.text] {
			v.err(fmt.Sprintf("%s.observation.results[%d].source_call_id", path, i), "no_such_call", "no call of the step has the id %q", id.text)
		}
	}
}

func metrics(v *validator, path string, n *node) bool {
	got := v.object(path, n, []field{
		{"prompt_tokens", false, 0, whole},
		{"completion_tokens", false, 0, whole},
		{"cached_tokens", false, 0, whole},
		{"cost_usd", false, 0, number},
		{"prompt_token_ids", false, 4, list("whole numbers", whole)},
		{"completion_token_ids", false, 3, list("whole numbers", whole)},
		{"logprobs", false, 0, list("numbers", number)},
		{"extra", false, 0, object},
	})
	if got == nil {
		return false
	}
	for _, kind := range [...]string{"prompt", "completion"} {
		ids := got[kind+"_token_ids"]
		if n, ok := got[kind+"_tokens"].whole(); ok && ids != nil && n != int64(len(ids.elems)) {
			v.warn(path+"."+kind+"_token_ids", "lengths_differ", "has %d ids, but %s_tokens is %d", len(ids.elems), kind, n)
		}
	}
	cached, ok := got["cached_tokens"].whole()
	if prompt, known := got["prompt_tokens"].whole(); ok && known && cached > prompt {
		v.warn(path+".cached_tokens", "lengths_differ", "is %d, more than the %d prompt_tokens that it is a part of", cached, prompt)
	}
	return true
}

// content checks a text or an array of content parts.
func content(v *validator, path string, n *node) bool {
	switch n.kind {
	case '"':
		return true
	case '[':
		if v.minor < 6 {
			v.warn(path, "newer_than_version", "content parts are known since ATIF-v1.6, and the document says ATIF-v1.%d", v.minor)
		}
		return list("content parts", part)(v, path, n)
	}
	v.err(path, "wrong_type", "got %s, want a string or an array of content parts", n)
	return false
}

func part(v *validator, path string, n *node) bool {
	got := v.object(path, n, []field{
		{"type", true, 0, one("text", "image")},
		{"text", false, 0, text},
		{"source", false, 0, imageSource},
	})
	if got["type"] == nil {
		return false
	}
	needs, forbids := "text", "source"
	if got["type"].text == "image" {
		needs, forbids = forbids, needs
	}
	if m := find(n, needs); m == nil || m.kind == 'n' {
		v.err(path+"."+needs, "missing", "a part of type %s needs %q", got["type"].text, needs)
	}
	if m := find(n, forbids); m != nil && m.kind != 'n' {
		v.err(path+"."+forbids, "wrong_part", "a part of type %s must not have %q", got["type"].text, forbids)
	}
	return true
}

func imageSource(v *validator, path string, n *node) bool {
	got := v.object(path, n, []field{
		{"media_type", true, 0, one("image/jpeg", "image/png", "image/gif", "image/webp")},
		{"path", true, 0, text},
	})
	if p := got["path"]; p != nil {
		v.file(path+".path", p.text, Error)
	}
	return got != nil
}

// file checks that a local file is there.
func (v *validator) file(path, name string, severity Severity) {
	if v.opt.Exists == nil || strings.Contains(name, "://") || v.opt.Exists(name) {
		return
	}
	v.problems = append(v.problems, Problem{severity, path, "no_such_file", fmt.Sprintf("the file %q is not there", name)})
}

func timestamp(v *validator, path string, n *node) bool {
	if n.kind != '"' {
		v.err(path, "wrong_type", "got %s, want a string", n)
		return false
	}
	if _, ok := parseTime(n.text); !ok {
		v.err(path, "bad_timestamp", "got %s, want a time in ISO 8601, such as 2025-11-28T12:00:00Z", n)
		return false
	}
	return true
}

var isoTime = regexp.MustCompile(`^(\d{4})-?(\d{2})-?(\d{2})(?:.(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9})\d*)?)?)?(Z|[+-]\d{2}(?::?\d{2}(?::?\d{2}(?:\.\d+)?)?)?)?)?$`)

// parseTime reads an ISO 8601 time; one without a zone is taken for UTC.
func parseTime(s string) (time.Time, bool) {
	m := isoTime.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	n := func(i int) int { x, _ := strconv.Atoi(m[i]); return x } // digits or nothing
	nanos, _ := strconv.Atoi((m[7] + "000000000")[:9])
	t := time.Date(n(1), time.Month(n(2)), n(3), n(4), n(5), n(6), nanos, time.UTC)
	if n(1) == 0 || int(t.Month()) != n(2) || t.Day() != n(3) || n(4) > 23 || n(5) > 59 || n(6) > 59 {
		return time.Time{}, false
	}
	zone := strings.ReplaceAll(m[8], ":", "")
	if len(zone) >= 3 {
		hours, _ := strconv.Atoi(zone[1:3])
		minutes := 0
		if len(zone) >= 5 {
			minutes, _ = strconv.Atoi(zone[3:5])
		}
		if hours > 23 || minutes > 59 {
			return time.Time{}, false
		}
		shift := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
		if zone[0] == '+' {
			shift = -shift
		}
		t = t.Add(shift)
	}
	return t, true
}

// sameZone reports whether two times can be compared: both with a zone, or both without.
func sameZone(a, b string) bool {
	zoned := func(s string) bool { return isoTime.FindStringSubmatch(s)[8] != "" }
	return zoned(a) == zoned(b)
}

// IsTimestamp reports whether a text is a time as the format wants it.
func IsTimestamp(s string) bool {
	_, ok := parseTime(s)
	return ok
}

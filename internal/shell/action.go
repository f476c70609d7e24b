package shell

// Kind is what an action does.
type Kind uint8

// The kinds of actions.
const (
	Other Kind = iota
	Search
	Find
	List
	Read
	Test
	Run
	Code
	Write
	GitDiff
	GitLog
	GitRestore
	FS
	Install
	Lint
	Info
)

var kinds = [...]struct{ name, group string }{
	Other:      {"OTHER", ""},
	Search:     {"SEARCH", "search"},
	Find:       {"FIND", "find"},
	List:       {"LIST", "list"},
	Read:       {"READ", "view"},
	Test:       {"TEST", "test"},
	Run:        {"RUN", "exec"},
	Code:       {"CODE", "exec"},
	Write:      {"WRITE", "write"},
	GitDiff:    {"GITDIFF", "vcs"},
	GitLog:     {"GITLOG", "vcs"},
	GitRestore: {"GITRESTORE", "vcs"},
	FS:         {"FS", "fs"},
	Install:    {"INSTALL", "install"},
	Lint:       {"LINT", "lint"},
	Info:       {"INFO", "info"},
}

// String returns the kind's name in capitals, such as GITDIFF.
func (k Kind) String() string { return kinds[k].name }

// Action is one thing a command does.
type Action struct {
	Kind  Kind
	Paths []string // of Write and Read, normalised; may be empty
	Name  string   // of Other: the command's name
	Text  string   // of Write: the written text, or the arguments that state the change
}

// KindSet is a set of kinds.
type KindSet uint32

// KindsOf returns the kinds that occur.
func KindsOf(actions []Action) KindSet {
	var set KindSet
	for _, a := range actions {
		set |= 1 << a.Kind
	}
	return set
}

// Any reports whether the set holds at least one of the kinds.
func (s KindSet) Any(ks ...Kind) bool {
	for _, k := range ks {
		if s&(1<<k) != 0 {
			return true
		}
	}
	return false
}

// Group returns the terminal group of a command: that of its first action, "none" without
// one (docs/spec/paper.md, section 3). The group of a step without any command text is GroupCode.
func Group(actions []Action) string {
	if len(actions) == 0 {
		return "none"
	}
	if a := actions[0]; a.Kind == Other {
		return "other:" + a.Name
	}
	return kinds[actions[0].Kind].group
}

// GroupCode is the terminal group of a terminal step that carries code and no command.
const GroupCode = "code"

// Written returns the distinct paths of the Write actions, in order.
func Written(actions []Action) []string { return paths(actions, Write) }

// Viewed returns the distinct paths of the Read actions, in order.
func Viewed(actions []Action) []string { return paths(actions, Read) }

func paths(actions []Action, k Kind) []string {
	var out []string
	for _, a := range actions {
		if a.Kind == k {
			for _, p := range a.Paths {
				out = appendNew(out, p)
			}
		}
	}
	return out
}

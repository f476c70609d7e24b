package synth

import (
	"fmt"
	"slices"
	"strings"
)

// world is one invented task: a repository, its bug and the ways to repair it. It does not
// change after newWorld.
type world struct {
	index   int    // task number, from 0
	id      string // synth__webshop-0001
	pkg     string // webshop
	version string
	root    string // /workspace/synth__webshop__1.4
	commit  string
	files   []file
	listing string // what a view of the root shows

	target, helper, caller, tests int   // indices into files
	distant                       []int // files that have nothing to do with the bug
	difficulty                    int   // permille taken from every model's chance to pass

	title, report string
	fn            string // the faulty function
	callerFn      string
	helperName    string
	segment       [variants]string // what may stand at the bug's place, all distinct
	helperCode    string
	importOld     string // in target, for a delegated repair
	importNew     string
	callerOld     string
	callerNew     string
	call          string
	failure       string
	raised        string // source line a traceback shows
}

type file struct{ path, text string } // path is relative to the root

// variant is a state of the code at the bug's place.
type variant int

const (
	buggy     variant = iota
	fixed             // correct, in place
	delegated         // correct, with a helper in another module
	partial           // passes the reproduction, not the hidden tests
	variants
)

func (v variant) correct() bool { return v == fixed || v == delegated }

const (
	nModules = 18
	nTested  = 6
)

func newWorld(seed uint64, index int) *world {
	r := newRNG(seed, 1, uint64(index))
	w := &world{index: index, difficulty: r.between(0, 220)}
	w.pkg = packages[(index+int(mix(seed)%uint64(len(packages))))%len(packages)]
	w.version = fmt.Sprintf("%d.%d", r.between(0, 4), r.between(0, 9))
	w.id = fmt.Sprintf("synth__%s-%04d", w.pkg, index+1)
	w.root = fmt.Sprintf("/workspace/synth__%s__%s", w.pkg, w.version)
	w.commit = string(r.hex(nil, 40))

	names := append([]string(nil), topics...)
	shuffle(r, names)
	names = names[:nModules]
	kind := bugKinds[r.below(len(bugKinds))]

	dirs := []string{w.pkg + "/", w.pkg + "/core/", w.pkg + "/io/"}
	for i, topic := range names {
		dir := dirs[0]
		if i >= 4 {
			dir = pick(r, dirs)
		}
		w.files = append(w.files, file{dir + topic + ".py", w.module(r, i, topic, kind)})
	}
	w.target, w.helper, w.caller = 0, 1, 2
	w.tests = len(w.files)
	for _, topic := range names[:nTested] {
		w.files = append(w.files, file{"tests/test_" + topic + ".py", w.testModule(r, topic)})
	}
	w.distant = append(w.distant, 3)
	for i := 4; i < nModules; i++ {
		w.distant = append(w.distant, i)
	}
	for i, topic := range names[4:10] {
		w.distant = append(w.distant, len(w.files))
		w.files = append(w.files, file{
			[]string{"docs/", "examples/", "scripts/"}[i%3] + topic + []string{".md", "_demo.py", "_import.py"}[i%3],
			w.prose(r, topic)})
	}
	w.files = append(w.files,
		file{"README.md", "# " + w.pkg + "\n\nAn invented package for synthetic agent runs. It does not exist.\n"},
		file{"pyproject.toml", "[project]\nname = \"" + w.pkg + "\"\nversion = \"" + w.version + "\"\nrequires-python = \">=3.10\"\n"},
		file{w.pkg + "/__init__.py", "\"\"\"" + w.pkg + ", version " + w.version + ".\"\"\"\n\n__version__ = \"" + w.version + "\"\n"})
	w.listing = w.list()
	return w
}

// list names the files and folders up to two levels deep, as the editor's view does.
func (w *world) list() string {
	seen := map[string]bool{}
	var paths []string
	for _, f := range w.files {
		parts := strings.SplitN(f.path, "/", 3)
		for depth := 1; depth <= min(len(parts), 2); depth++ {
			p := strings.Join(parts[:depth], "/")
			if !seen[p] {
				seen[p] = true
				paths = append(paths, w.root+"/"+p)
			}
		}
	}
	slices.Sort(paths)
	return "Here's the files and directories up to 2 levels deep in " + w.root + ", excluding hidden items:\n" +
		w.root + "\n" + strings.Join(paths, "\n")
}

// module writes the source of one module. The first three hold the bug, a place for a
// helper, and a caller.
func (w *world) module(r rng, i int, topic string, kind bugKind) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\"\"\"Everything about the %s of a %s.\"\"\"\n\nimport csv\nimport logging\n\nlog = logging.getLogger(__name__)\n", topic, w.pkg)
	names := append([]string(nil), verbs...)
	shuffle(r, names)
	expand := func(code, fn string) string {
		return strings.NewReplacer("$F", fn, "$A", topic+"s", "$N", topic, "$P", w.pkg,
			"$K", strings.ToUpper(topic[:1])+topic[1:]+"Log").Replace(code)
	}
	n := r.between(3, 5)
	special := r.below(n)
	start := r.below(len(ordinary))
	for j := range n {
		fn := names[j] + "_" + topic
		code := ordinary[(start+j)%len(ordinary)]
		if i == 0 && j == special {
			w.fn, code = fn, kind.body
			w.segment = [variants]string{buggy: kind.buggy, fixed: kind.fixed, delegated: kind.delegated, partial: kind.partial}
			for v := range w.segment {
				w.segment[v] = expand(w.segment[v], fn)
			}
			w.title, w.report = expand(kind.title, fn), expand(kind.report, fn)
			w.call, w.failure, w.raised = expand(kind.call, fn), kind.failure, expand(kind.raisedLine, fn)
			w.helperName, w.helperCode = kind.helperName, kind.helper
			w.importOld = "import csv\nimport logging\n"
		}
		if i == 1 && j == 0 {
			w.importNew = "import csv\nimport logging\n\nfrom " + w.pkg + "." + topic + " import " + w.helperName + "\n"
		}
		if i == 2 && j == special {
			w.callerFn = fn
			w.callerOld = "    return " + w.fn + "(data)"
			w.callerNew = "    result = " + w.fn + "(data)\n    log.debug(\"" + fn + ": %r\", result)\n    return result"
			code = "def $F(source):\n    \"\"\"Entry point of the command line for a $N.\"\"\"\n    data = list(source)\n" + w.callerOld
		}
		b.WriteString("\n\n")
		b.WriteString(expand(code, fn))
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *world) testModule(r rng, topic string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "import %s\n\nfrom tests.builders import make_item, make_items\n", w.pkg)
	for range r.between(3, 6) {
		verb := pick(r, verbs)
		fmt.Fprintf(&b, "\n\ndef test_%s_%s_%d():\n    items = make_items(%d, %d)\n    assert len(items) == 2\n    assert items[0].amount == %[4]d\n",
			verb, topic, r.between(1, 99), r.between(1, 9), r.between(1, 9))
	}
	return b.String()
}

func (w *world) prose(r rng, topic string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The %s\n\n", topic)
	for i := range r.between(4, 9) {
		fmt.Fprintf(&b, "# %d. Each %s belongs to one %s; see %s_%s.\n", i+1, topic, pick(r, topics), pick(r, verbs), topic)
	}
	return b.String()
}

// taskText is what the agent is asked.
func (w *world) taskText() string {
	return "This task was invented by a program (agentlens synth). The repository, the report and the agents are synthetic; nothing here happened.\n\n" +
		"<uploaded_files>\n" + w.root + "\n</uploaded_files>\n\n<issue_description>\n" + w.title + "\n\n" + w.report +
		"\n\nExample:\n\n    " + w.call + "\n    # " + w.failure + "\n</issue_description>\n\n" +
		"Change the package so that the report is answered. The hidden tests decide; leave the existing tests as they are."
}

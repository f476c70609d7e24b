package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// interpreter turns the records of one command into actions.
type interpreter struct {
	*Parser
	cwd     string // absolute; cd holds for the rest of the command
	depth   int    // of bash -c and bash heredocs
	actions []Action
}

// call is a simple command after its wrappers.
type call struct {
	*record
	argv0 string
	name  string   // last component of argv0
	args  []string // after argv0
	late  bool     // reads what an earlier action of the command printed
}

func (in *interpreter) norm(p string) string { return relative(in.root, join(in.cwd, p)) }

func (in *interpreter) norms(ps []string) []string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = in.norm(p)
	}
	return out
}

func (in *interpreter) add(k Kind) { in.actions = append(in.actions, Action{Kind: k}) }

func (in *interpreter) addWrite(paths []string, text string) {
	in.actions = append(in.actions, Action{Kind: Write, Paths: paths, Text: text})
}

func (in *interpreter) addRead(files []string) {
	in.actions = append(in.actions, Action{Kind: Read, Paths: in.norms(files)})
}

// record appends the actions of one record: the first rule of docs/spec/process.md,
// section 2, that applies.
func (in *interpreter) record(r *record) {
	argv := unwrap(r.argv)
	if len(argv) == 0 {
		if len(r.out) > 0 {
			in.addWrite(in.norms(r.out), r.heredoc)
		}
		return
	}
	c := call{
		record: r,
		argv0:  argv[0],
		name:   argv[0][strings.LastIndexByte(argv[0], '/')+1:],
		args:   argv[1:],
		late:   r.piped && len(in.actions) > 0,
	}
	switch c.name {
	case "cd", "pushd":
		in.changeDir(c)
		return
	case "cat", "echo", "printf", "tee":
		targets := slices.Clip(r.out)
		if c.name == "tee" {
			targets = append(targets, plain(c.args)...)
		}
		if len(targets) > 0 {
			in.addWrite(in.norms(targets), c.body())
			return
		}
	}
	if testNames[c.name] || testScript(c.argv0) {
		in.add(Test)
		return
	}
	if isPython(c.name) {
		in.python(c)
		return
	}
	if rule, ok := in.rules[c.name]; ok {
		rule(in, c)
		return
	}
	if strings.HasPrefix(c.argv0, "./") || strings.HasPrefix(c.argv0, "../") || strings.HasPrefix(c.argv0, "/") {
		in.add(Run)
		return
	}
	in.actions = append(in.actions, Action{Kind: Other, Name: c.name})
}

// body is the heredoc, or the arguments joined by spaces.
func (c *call) body() string {
	if c.hasDoc {
		return c.heredoc
	}
	return strings.Join(c.args, " ")
}

// plain returns the non-empty arguments that are not options.
func plain(args []string) []string {
	var out []string
	for _, a := range args {
		if a != "" && a[0] != '-' {
			out = append(out, a)
		}
	}
	return out
}

var (
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	duration   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?[smhd]?$`)
)

// unwrap drops assignments and the commands that only run another one.
func unwrap(argv []string) []string {
	for len(argv) > 0 {
		switch argv[0] {
		case "sudo", "nohup", "env", "exec", "xvfb-run", "nice", "stdbuf":
			argv = argv[1:]
			for len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
				argv = argv[1:]
			}
		case "timeout":
			argv = argv[1:]
			for len(argv) > 0 && (strings.HasPrefix(argv[0], "-") || duration.MatchString(argv[0])) {
				argv = argv[1:]
			}
		default:
			if !strings.Contains(argv[0], "=") || !assignment.MatchString(argv[0]) {
				return argv
			}
			argv = argv[1:]
		}
	}
	return nil
}

func (in *interpreter) changeDir(c call) {
	if ps := plain(c.args); len(ps) > 0 && ps[0][0] != '~' {
		in.cwd = join(in.cwd, ps[0])
	} else {
		in.cwd = in.root
	}
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

var (
	testNames   = set("pytest", "py.test", "tox", "nosetests", "nose2", "unittest", "jest", "mocha", "vitest", "runtests.py")
	testModules = set("pytest", "unittest", "nose", "nose2", "tox", "doctest")
	lintNames   = set("pylint", "flake8", "mypy", "black", "isort", "ruff", "pyflakes", "pycodestyle")
)

// testScript recognises the test runners that projects keep in their tree.
func testScript(argv0 string) bool {
	for _, s := range []string{"bin/test", "bin/doctest", "runtests"} {
		if dir, ok := strings.CutSuffix(argv0, s); ok && (dir == "" || strings.HasSuffix(dir, "/")) {
			return true
		}
	}
	return false
}

func isPython(name string) bool {
	version, ok := strings.CutPrefix(name, "python")
	return ok && strings.Trim(version, "0123456789.") == "" || name == "ipython"
}

var (
	fileWriting = regexp.MustCompile(`open\([^)]*,\s*(mode\s*=\s*)?['"][wa]\+?b?['"]|\.write_text\(|\.write_bytes\(|fileinput\.input\([^)]*inplace`)
	pathLiteral = regexp.MustCompile(`['"]([\w./-]+\.(?:py|pyx|rst|txt|cfg|toml|ini|c|h|cpp|js|css|html|tex|sty))['"]`)
)

func (in *interpreter) python(c call) {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-c" && args[0] != "-m" && args[0] != "-" {
		if (args[0] == "-W" || args[0] == "-X") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	switch {
	case len(args) == 0 || args[0] == "-":
		switch {
		case c.hasDoc:
			in.pythonCode(c.heredoc)
		case c.piped:
			in.add(Code)
		default:
			in.add(Info)
		}
	case args[0] == "-c":
		code := ""
		if len(args) > 1 {
			code = args[1]
		}
		in.pythonCode(code)
	case args[0] == "-m":
		module := ""
		if len(args) > 1 {
			module = args[1]
		}
		switch {
		case testModules[module]:
			in.add(Test)
		case module == "pip":
			in.add(Install)
		case lintNames[module] || module == "py_compile":
			in.add(Lint)
		default:
			in.add(Run)
		}
	default:
		in.pythonScript(in.norm(args[0]), args[1:])
	}
}

// writesFile reports whether Python code matches fileWriting; the substrings spare most
// code the slow search.
func writesFile(code string) bool {
	return (strings.Contains(code, "open(") || strings.Contains(code, ".write_") || strings.Contains(code, "fileinput.")) &&
		fileWriting.MatchString(code)
}

func (in *interpreter) pythonCode(code string) {
	if !writesFile(code) {
		in.add(Code)
		return
	}
	var paths []string
	for _, m := range pathLiteral.FindAllStringSubmatch(code, -1) {
		paths = appendNew(paths, in.norm(m[1]))
	}
	in.addWrite(paths, code)
}

func (in *interpreter) pythonScript(script string, args []string) {
	name := path.Base(script)
	switch {
	case name == "setup.py" && !slices.Contains(args, "test"):
		in.add(Install)
	case name == "manage.py" && !slices.Contains(args, "test"):
		in.add(Run)
	case name == "setup.py", name == "manage.py", name == "runtests.py",
		strings.HasPrefix(script, "bin/test"), strings.HasPrefix(script, "bin/doctest"),
		in.Class(script) == ClassTest:
		in.add(Test)
	default:
		in.add(Run)
	}
}

type rule func(in *interpreter, c call)

// ruleTable has the rule of every command known by its name alone.
func ruleTable() map[string]rule {
	m := map[string]rule{}
	on := func(r rule, names ...string) {
		for _, n := range names {
			m[n] = r
		}
	}
	always := func(k Kind) rule { return func(in *interpreter, _ call) { in.add(k) } }
	unlessLate := func(k Kind) rule {
		return func(in *interpreter, c call) {
			if !c.late {
				in.add(k)
			}
		}
	}
	on((*interpreter).build, "make", "npm", "yarn", "pnpm", "npx", "cargo", "go", "mvn", "gradle", "dotnet")
	on((*interpreter).script, "node", "ruby", "perl", "php", "java")
	on((*interpreter).sed, "sed")
	on((*interpreter).view, "cat", "head", "tail", "less", "more", "nl", "bat")
	on((*interpreter).git, "git")
	on(unlessLate(Search), "grep", "egrep", "fgrep", "rg", "ag", "ack")
	on(always(Find), "find", "fd", "locate")
	on(unlessLate(List), "ls", "tree", "dir", "du")
	on(always(FS), "rm", "mkdir", "rmdir", "touch", "chmod", "unlink", "ln")
	on((*interpreter).move, "mv", "cp")
	on((*interpreter).patch, "patch", "apply_patch")
	on(always(Install), "pip", "pip2", "pip3", "conda", "apt", "apt-get", "uv", "poetry")
	on((*interpreter).inspect, "wc", "file", "stat", "diff", "awk")
	on(unlessLate(Info), "which", "pwd", "whoami", "uname", "type", "realpath", "jq", "cut", "sort", "uniq", "xargs",
		"hexdump", "xxd", "od", "tr", "id", "ps", "date", "df", "command", "basename", "dirname")
	for n := range lintNames {
		on(always(Lint), n)
	}
	on(func(*interpreter, call) {}, "echo", "printf", "export", "declare", "local", "readonly", "typeset", "nameref",
		"source", ".", "set", "unset", "true", "false", ":", "sleep", "wait", "exit", "return", "test", "[", "[[",
		"read", "ulimit", "alias", "activate", "deactivate", "C-c", "C-d", "C-z", "q", "kill", "pkill", "killall")
	on((*interpreter).subshell, "bash", "sh", "zsh", "dash")
	return m
}

func (in *interpreter) build(c call) {
	tests := slices.Contains(c.args, "test")
	if ps := plain(c.args); c.name == "npx" && len(ps) > 0 {
		tests = tests || testNames[ps[0]] || testScript(ps[0])
	}
	if tests {
		in.add(Test)
	} else {
		in.add(Run)
	}
}

var (
	perlInPlace  = regexp.MustCompile(`^-[a-zA-Z0-9]*i`)
	inlineScript = regexp.MustCompile(`^-[a-zA-Z]*e`)
)

func (in *interpreter) script(c call) {
	switch {
	case c.name == "perl" && slices.ContainsFunc(c.args, perlInPlace.MatchString):
		var file []string
		if ps := plain(c.args); len(ps) >= 2 {
			file = ps[len(ps)-1:]
		}
		in.addWrite(in.norms(file), strings.Join(c.args, " "))
	case slices.ContainsFunc(c.args, inlineScript.MatchString):
		in.add(Code)
	default:
		in.add(Run)
	}
}

var sedInPlace = regexp.MustCompile(`^(-[nErsuz]*i|--in-place)`)

func (in *interpreter) sed(c call) {
	inPlace, scripted := slices.ContainsFunc(c.args, sedInPlace.MatchString), false
	var files []string
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		if a == "" {
			continue
		}
		if a[0] != '-' {
			files = append(files, a)
			continue
		}
		switch {
		case a == "-e" || a == "-f" || a == "--expression" || a == "--file":
			scripted = true
			i++
		case strings.HasPrefix(a, "--expression=") || strings.HasPrefix(a, "--file="):
			scripted = true
		}
	}
	if !scripted && len(files) > 0 {
		files = files[1:]
	}
	switch {
	case inPlace:
		in.addWrite(in.norms(files), strings.Join(c.args, " "))
	case len(files) > 0:
		in.addRead(files)
	}
}

var lineCount = regexp.MustCompile(`^[+-]?[0-9]+$`)

func (in *interpreter) view(c call) {
	files := slices.DeleteFunc(plain(c.args), lineCount.MatchString)
	if len(files) > 0 {
		in.addRead(files)
	}
}

func (in *interpreter) git(c call) {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if (args[0] == "-C" || args[0] == "-c") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	subcommand := ""
	if len(args) > 0 {
		subcommand = args[0]
	}
	switch subcommand {
	case "diff", "status":
		in.add(GitDiff)
	case "log", "show", "blame", "rev-parse", "branch", "describe", "ls-files", "remote", "reflog":
		in.add(GitLog)
	case "grep":
		if !c.late {
			in.add(Search)
		}
	case "apply":
		in.addWrite(in.patchPaths(c.heredoc), c.heredoc)
	case "stash", "checkout", "restore", "reset", "clean", "revert":
		in.add(GitRestore)
	default:
		in.add(FS)
	}
}

func (in *interpreter) move(c call) {
	if ps := plain(c.args); len(ps) >= 2 {
		if to := in.norm(ps[len(ps)-1]); to != "" && in.Class(to) != ClassScratch {
			in.addWrite([]string{to}, strings.Join(c.args, " "))
			return
		}
	}
	in.add(FS)
}

func (in *interpreter) patch(c call) {
	body := c.body()
	in.addWrite(in.patchPaths(body), body)
}

func (in *interpreter) patchPaths(text string) []string {
	var out []string
	for _, m := range patchPath.FindAllStringSubmatch(text, -1) {
		out = append(out, in.norm(m[1]))
	}
	return out
}

func (in *interpreter) inspect(c call) {
	if c.late {
		return
	}
	files := plain(c.args)
	if c.name == "awk" && len(files) > 0 {
		files = files[1:]
	}
	if len(files) > 0 {
		in.addRead(files)
	} else {
		in.add(Info)
	}
}

var commandOption = regexp.MustCompile(`^-[a-z]*c$`)

func (in *interpreter) subshell(c call) {
	switch {
	case len(c.args) > 0 && commandOption.MatchString(c.args[0]):
		if len(c.args) > 1 {
			in.nested(c.args[1])
		}
	case len(plain(c.args)) > 0:
		in.add(Run)
	case c.heredoc != "":
		in.nested(c.heredoc)
	}
}

// nested appends the actions of a command handed to another shell.
func (in *interpreter) nested(command string) {
	if in.depth == maxNesting {
		in.actions = append(in.actions, Action{Kind: Other, Name: firstWord(command)})
		return
	}
	in.actions = append(in.actions, in.parse(command, in.cwd, in.depth+1).Actions...)
}

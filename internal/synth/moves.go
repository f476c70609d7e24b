package synth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// style is how an agent writes its commands.
type style struct {
	cd       bool // every command starts with cd
	absolute bool // paths in commands are absolute
	tests    int  // which test command it prefers
	script   string
}

const nTestCommands = 4

// content is the run's version of a file.
func (s *session) content(f int) string {
	if s.text[f] != "" {
		return s.text[f]
	}
	return s.files[f].text
}

func (s *session) abs(f int) string { return s.root + "/" + s.files[f].path }

// shellPath is how the agent writes a path in a command.
func (s *session) shellPath(path string) string {
	if s.style.absolute {
		return s.root + "/" + path
	}
	return path
}

// remark returns what the agent says beside a call, "" now and then.
func (s *session) remark(a act, about string) string {
	if len(thoughts[a]) == 0 || s.chance(180) {
		return ""
	}
	return strings.ReplaceAll(pick(s.rng, thoughts[a]), "%s", about)
}

// shell returns a finished command in the agent's style.
func (s *session) shell(command, output string, exit int) call {
	if s.style.cd {
		command = "cd " + s.root + " && " + command
	}
	return call{kind: kindRun, command: command, content: output, exit: exit, seconds: 1}
}

func (s *session) list() {
	s.do(s.remark(actList, ""), call{kind: kindRead, command: "view", path: s.root, content: s.listing})
}

func (s *session) viewCall(f int) call {
	return call{kind: kindRead, command: "view", path: s.abs(f),
		content: "Here's the result of running `cat -n` on " + s.abs(f) + ":\n" + numbered(s.content(f), 1, 1<<30)}
}

func (s *session) view(f int) { s.do(s.remark(actView, s.files[f].path), s.viewCall(f)) }

// viewAround shows the lines around the first occurrence of text.
func (s *session) viewAround(f int, text string) {
	at := lineOf(s.content(f), text)
	span := [2]int{max(1, at-s.between(3, 9)), at + s.between(8, 16)}
	span[1] = min(span[1], strings.Count(s.content(f), "\n"))
	s.do(s.remark(actView, s.files[f].path), call{kind: kindRead, command: "view", path: s.abs(f), span: span,
		content: "Here's the result of running `cat -n` on " + s.abs(f) + ":\n" + numbered(s.content(f), span[0], span[1])})
}

func (s *session) grepCall(word, where string) call {
	var out strings.Builder
	for f := range s.files {
		path := s.files[f].path
		if !strings.HasPrefix(path, where) {
			continue
		}
		n := 1
		for line := range strings.SplitSeq(s.content(f), "\n") {
			if strings.Contains(line, word) {
				fmt.Fprintf(&out, "%s:%d:%s\n", s.shellPath(path), n, line)
			}
			n++
		}
	}
	exit := 0
	if out.Len() == 0 {
		exit = 1
	}
	return s.shell("grep -rn \""+word+"\" "+s.shellPath(where), strings.TrimSuffix(out.String(), "\n"), exit)
}

func (s *session) grep(word string) {
	s.do(s.remark(actGrep, word), s.grepCall(word, s.pkg))
}

// look is some other way to find one's way around, always a shell command.
func (s *session) look() {
	f := pick(s.rng, s.distant)
	path := s.shellPath(s.files[f].path)
	thought := s.remark(actOther, "")
	switch s.below(6) {
	case 0:
		var out []string
		for _, f := range s.files {
			if strings.HasSuffix(f.path, ".py") {
				out = append(out, "./"+f.path)
			}
		}
		s.do(thought, s.shell("find . -name \"*.py\" | head -40", strings.Join(out, "\n"), 0))
	case 1:
		s.do(thought, s.shell("ls "+s.shellPath("tests"), s.namesIn("tests/"), 0))
	case 2:
		s.do(thought, s.shell("cat "+path, strings.TrimSuffix(s.content(f), "\n"), 0))
	case 3:
		from := s.between(1, 20)
		s.do(thought, s.shell(fmt.Sprintf("sed -n '%d,%dp' %s", from, from+12, path), cut(s.content(f), from, from+12), 0))
	case 4:
		s.do(thought, s.shell("git log --oneline | head -3", "3f2a9c1 Prepare the next version\n9b77e02 Tidy the imports\n51d0cc8 First import", 0))
	case 5:
		s.do(thought, s.grepCall(pick(s.rng, verbs)+"_", "tests/"))
	}
}

func (s *session) namesIn(dir string) string {
	var out []string
	for _, f := range s.files {
		if rest, ok := strings.CutPrefix(f.path, dir); ok {
			out = append(out, rest)
		}
	}
	return strings.Join(out, "\n")
}

// reproduce creates the script that shows the problem.
func (s *session) reproduce() {
	s.script = s.style.script
	module := strings.ReplaceAll(strings.TrimSuffix(s.files[s.target].path, ".py"), "/", ".")
	text := "\"\"\"Shows the reported problem.\"\"\"\nfrom " + module + " import " + s.fn +
		"\nfrom tests.builders import *\n\nresult = " + s.call + "\nprint(\"result:\", result)\n"
	s.create(s.script, text)
}

func (s *session) create(path, text string) {
	s.created = append(s.created, file{path, text})
	path = s.root + "/" + path
	s.do(s.remark(actRepro, ""), call{kind: kindEdit, command: "create", path: path, text: text,
		content: "File created successfully at: " + path})
}

// works tells whether the agent's own check accepts the code as it stands.
func (s *session) works() bool { return s.at.correct() || s.at == partial && s.sloppy }

func (s *session) traceback(from string) string {
	return fmt.Sprintf("Traceback (most recent call last):\n  File \"%s\", line 5, in <module>\n    result = %s\n  File \"%s\", line %d, in %s\n    %s\n%s",
		from, s.call, s.abs(s.target), lineOf(s.content(s.target), s.raised), s.fn, s.raised, s.failure)
}

func (s *session) runScript() {
	path := s.shellPath(s.script)
	out, exit := "result: as the report asks", 0
	if !s.works() {
		out, exit = s.traceback(s.root+"/"+s.script), 1
	}
	s.do(s.remark(actRun, ""), s.shell("python "+path, out, exit))
}

// inline checks the repair without a file.
func (s *session) inline() {
	module := strings.ReplaceAll(strings.TrimSuffix(s.files[s.target].path, ".py"), "/", ".")
	out, exit := "ok", 0
	if !s.works() {
		out, exit = s.traceback("<string>"), 1
	}
	if s.chance(200) {
		s.do(s.remark(actRun, ""), call{kind: kindCell, command: "from " + module + " import *\n" + s.call, content: out, seconds: 1})
		return
	}
	s.do(s.remark(actRun, ""), s.shell("python -c \"from "+module+" import *; print("+s.call+")\"", out, exit))
}

// edit is one replacement of text in a file.
type edit struct {
	file     int
	old, new string
}

func (s *session) replace(e edit) {
	before := s.content(e.file)
	after := strings.Replace(before, e.old, e.new, 1)
	s.text[e.file] = after
	at := lineOf(before, e.old)
	path := s.abs(e.file)
	s.do(s.remark(actEdit, s.files[e.file].path), call{kind: kindEdit, command: "str_replace", path: path, old: e.old, new: e.new, existed: true,
		content: edited(path, after, at, strings.Count(e.new, "\n"))})
}

func edited(path, text string, at, extra int) string {
	return "The file " + path + " has been edited. Here's the result of running `cat -n` on a snippet of " + path + ":\n" +
		numbered(text, max(1, at-4), at+extra+4) + "\nReview the changes and make sure they are as expected. Edit the file again if necessary."
}

// rewrite brings the bug's place into another state. Nothing happens when it is there.
func (s *session) rewrite(to variant) {
	if to == s.at {
		return
	}
	if to == delegated && !strings.Contains(s.content(s.helper), s.helperCode) {
		before := s.content(s.helper)
		s.text[s.helper] = before + "\n\n" + s.helperCode + "\n"
		at := strings.Count(before, "\n")
		path := s.abs(s.helper)
		s.do(s.remark(actEdit, s.files[s.helper].path), call{kind: kindEdit, command: "insert", path: path, line: at, existed: true,
			new: "\n\n" + s.helperCode + "\n", content: edited(path, s.text[s.helper], at, 8)})
		s.replace(edit{s.target, s.importOld, s.importNew})
	}
	from := s.at
	s.at = to
	s.replace(edit{s.target, s.segment[from], s.segment[to]})
}

// bySed makes the in-place repair with a script in the shell.
func (s *session) bySed(to variant) {
	before := s.content(s.target)
	s.text[s.target] = strings.Replace(before, s.segment[s.at], s.segment[to], 1)
	path := s.shellPath(s.files[s.target].path)
	at := lineOf(before, s.segment[s.at])
	last := at + strings.Count(s.segment[s.at], "\n")
	lines := strings.ReplaceAll(s.segment[to], "\n", "\\n")
	s.at = to
	s.do(s.remark(actEdit, s.files[s.target].path), s.shell(fmt.Sprintf("sed -i '%d,%dc\\%s' %s", at, last, lines, path), "", 0))
}

// miss is an edit whose old text isn't in the file.
func (s *session) miss() {
	old := "    # " + pick(s.rng, verbs) + " the " + s.fn + " result\n" + s.segment[s.at]
	path := s.abs(s.target)
	s.do(s.remark(actEdit, s.files[s.target].path), call{kind: kindEdit, command: "str_replace", path: path, old: old, new: s.segment[fixed],
		content: "ERROR:\nNo replacement was performed, old_str `" + old + "` did not appear verbatim in " + path + "."})
}

// undo takes back the last edit of the target.
func (s *session) undo() {
	path := s.abs(s.target)
	before := s.content(s.target)
	s.text[s.target] = strings.Replace(before, s.segment[s.at], s.segment[buggy], 1)
	at := lineOf(before, s.segment[s.at])
	s.at = buggy
	s.do(s.remark(actEdit, s.files[s.target].path), call{kind: kindEdit, command: "undo_edit", path: path, existed: true,
		content: "Last edit to " + path + " undone successfully. Here's the result of running `cat -n` on " + path + ":\n" + numbered(s.text[s.target], max(1, at-4), at+8)})
}

// harden also changes the caller.
func (s *session) harden() {
	if strings.Contains(s.content(s.caller), s.callerOld) {
		s.replace(edit{s.caller, s.callerOld, s.callerNew})
	}
}

// addTest adds a test file of the agent's own.
func (s *session) addTest() {
	s.ownTest = true
	s.create("tests/test_"+s.fn+"_report.py", "from tests.builders import *\n\nimport "+s.pkg+
		"\n\n\ndef test_reported_case():\n    result = "+s.call+"\n    assert result is not Ellipsis\n")
}

// test runs tests: those beside the target, or all of them.
func (s *session) test(all bool) { s.testWith(s.style.tests, all) }

func (s *session) testWith(command int, all bool) {
	path := s.files[s.tests].path
	if all {
		path = "tests"
	}
	n := strings.Count(s.files[s.tests].text, "def test_")
	if all {
		n *= nTested
	}
	failed := 0
	if s.ownTest && !s.works() {
		failed = 1
	}
	dots := strings.Repeat(".", n) + strings.Repeat("F", failed)
	summary := fmt.Sprintf("%d passed in 0.%02ds", n, s.between(8, 97))
	if failed > 0 {
		summary = fmt.Sprintf("FAILED tests/test_%s_report.py::test_reported_case - %s\n%d failed, %s", s.fn, s.failure, failed, summary)
	}
	banner := "============================= test session starts ==============================\nplatform linux -- Python 3.11.9, pytest-8.2.0, pluggy-1.5.0\nrootdir: " + s.root + "\n"
	exit := failed
	var line, out string
	switch command {
	case 0:
		line, out = "python -m pytest "+s.shellPath(path)+" -q", dots+"\n"+summary
	case 1:
		line, out = "pytest "+s.shellPath(path), fmt.Sprintf("%scollected %d items\n\n%s %s\n\n%s", banner, n+failed, path, dots, summary)
	case 2:
		line, out, exit = "python -m pytest "+s.shellPath(path)+" -x 2>&1 | tail -15", banner+"\n"+path+" "+dots+"\n\n"+summary, 0
	default:
		line, out = "make test", "python -m pytest tests\n"+dots+"\n"+summary
	}
	c := s.shell(line, out, exit)
	c.seconds = 12
	s.do(s.remark(actTest, s.fn), c)
}

// hang runs a command that doesn't end, and interrupts it.
func (s *session) hang() {
	c := s.shell("python -m "+s.pkg+" serve", "serving on port 8000", -1)
	c.timeout = 120
	s.do(s.remark(actOther, ""), c)
	s.do("", call{kind: kindRun, command: "C-c", input: true, content: "^C\nKeyboardInterrupt", exit: 130, seconds: 1})
}

func (s *session) diff() {
	s.do(s.remark(actDiff, ""), s.shell("git diff", strings.TrimSuffix(s.changes(), "\n"), 0))
}

func (s *session) cleanup() {
	if s.script == "" {
		return
	}
	s.created = slices.DeleteFunc(s.created, func(f file) bool { return f.path == s.script })
	s.do(s.remark(actCleanup, ""), s.shell("rm "+s.shellPath(s.script), "", 0))
}

func (s *session) think() {
	text := strings.NewReplacer("$F", s.fn, "$T", s.files[s.target].path).Replace(pick(s.rng, reflections))
	s.do("", call{kind: kindThink, text: text, content: "Your thought has been logged."})
}

func (s *session) track() {
	items := []string{"Reproduce the report", "Change " + s.fn, "Run the tests"}
	s.do("", call{kind: kindTrack, items: items,
		content: fmt.Sprintf("Task list has been updated with %d items.", len(items))})
}

func (s *session) finish() {
	text := "I changed " + s.files[s.target].path + " so that " + s.fn + " answers the report."
	if s.at == buggy {
		text = "I could not find a change that answers the report."
	}
	s.do("", call{kind: kindFinish, text: text})
}

// patch is the unified diff of the run's result: its changes and its new files.
func (s *session) patch() string {
	var b strings.Builder
	b.WriteString(s.changes())
	for _, f := range s.created {
		fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%d @@\n", f.path, strings.Count(f.text, "\n"))
		for line := range strings.Lines(f.text) {
			b.WriteString("+" + line)
		}
	}
	return b.String()
}

// changes is the unified diff of the files the repository had: one hunk per file.
func (s *session) changes() string {
	var b strings.Builder
	for f := range s.files {
		if s.text[f] == "" || s.text[f] == s.files[f].text {
			continue
		}
		old := strings.Split(strings.TrimSuffix(s.files[f].text, "\n"), "\n")
		now := strings.Split(strings.TrimSuffix(s.text[f], "\n"), "\n")
		head := 0
		for head < min(len(old), len(now)) && old[head] == now[head] {
			head++
		}
		tail := 0
		for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
			tail++
		}
		from, after := max(0, head-3), min(tail, 3)
		fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%d,%d +%d,%d @@\n", s.files[f].path,
			from+1, len(old)-tail+after-from, from+1, len(now)-tail+after-from)
		for _, line := range old[from:head] {
			b.WriteString(" " + line + "\n")
		}
		for _, line := range old[head : len(old)-tail] {
			b.WriteString("-" + line + "\n")
		}
		for _, line := range now[head : len(now)-tail] {
			b.WriteString("+" + line + "\n")
		}
		for _, line := range old[len(old)-tail : len(old)-tail+after] {
			b.WriteString(" " + line + "\n")
		}
	}
	return b.String()
}

// numbered shows lines from..to (1-based, inclusive) the way cat -n does.
func numbered(text string, from, to int) string {
	b := make([]byte, 0, len(text)+len(text)/3)
	n := 1
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if n >= from && n <= to {
			if len(b) > 0 {
				b = append(b, '\n')
			}
			for limit := 100_000; limit > n && limit > 1; limit /= 10 {
				b = append(b, ' ')
			}
			b = strconv.AppendInt(b, int64(n), 10)
			b = append(b, '\t')
			b = append(b, line...)
		}
		n++
	}
	return string(b)
}

// cut returns lines from..to (1-based, inclusive).
func cut(text string, from, to int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	from, to = min(from-1, len(lines)), min(to, len(lines))
	return strings.Join(lines[from:to], "\n")
}

// lineOf returns the 1-based line on which text first occurs, 1 when it doesn't.
func lineOf(content, text string) int {
	at := strings.Index(content, text)
	return strings.Count(content[:max(at, 0)], "\n") + 1
}

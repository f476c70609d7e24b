package sweagent

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
)

// Bash is the tool of a command line that is none of SWE-agent's own commands.
const Bash = "bash"

var lineEdit = regexp.MustCompile(`^edit(?:[^\S\n]+(\d+):(\d+)[^\n]*|[^\S\n]*)\n(?s:(.*))$`)

// Command takes a command line of SWE-agent apart: the tool, Bash for anything but its own
// commands, and the arguments.
func Command(line string) (tool string, args lenientjson.Object) {
	line = strings.TrimRight(line, " \r\n")
	name := line
	if end := strings.IndexAny(line, " \t\n"); end >= 0 {
		name = line[:end]
	}
	var ok bool
	switch name {
	case "edit":
		args, ok = edit(line)
	case "insert":
		args, ok = insert(line)
	case "str_replace_editor":
		args, ok = editor(line)
	case "open":
		args, ok = positional(line, 1, "path", "line_number")
	case "goto":
		args, ok = positional(line, 1, "line_number")
	case "scroll_up", "scroll_down", "exit_forfeit":
		args, ok = positional(line, 0)
	case "submit":
		args, ok = flag(line)
	case "create":
		args, ok = positional(line, 1, "filename")
	case "find_file":
		args, ok = positional(line, 1, "file_name", "dir")
	case "search_dir":
		args, ok = positional(line, 1, "search_term", "dir")
	case "search_file":
		args, ok = positional(line, 1, "search_term", "file")
	case "set_cursors":
		args, ok = positional(line, 2, "start_line", "end_line")
	case "filemap":
		args, ok = positional(line, 1, "file_path")
	}
	if ok {
		return name, args
	}
	args = nil
	args.SetText("command", line)
	return Bash, args
}

// positional reads a command with arguments by their place.
func positional(line string, required int, names ...string) (lenientjson.Object, bool) {
	list, ok := words(line)
	if !ok || len(list)-1 < required || len(list)-1 > len(names) {
		return nil, false
	}
	args := lenientjson.Object{}
	for i, word := range list[1:] {
		args.SetText(names[i], word)
	}
	return args, true
}

// flag reads submit, which takes a flag in capture-the-flag tasks, often without quotes.
func flag(line string) (lenientjson.Object, bool) {
	list, ok := words(line)
	if !ok {
		return nil, false
	}
	args := lenientjson.Object{}
	if len(list) > 1 {
		args.SetText("flag", strings.Join(list[1:], " "))
	}
	return args, true
}

// edit reads the three forms of edit: a range and a body, a body alone (for the range of
// the cursors), and a text to search and one to put in its place.
func edit(line string) (lenientjson.Object, bool) {
	args := lenientjson.Object{}
	if m := lineEdit.FindStringSubmatch(line); m != nil {
		if m[1] != "" {
			number(&args, "start_line", m[1])
			number(&args, "end_line", m[2])
		}
		args.SetText("replacement_text", body(m[3], "end_of_edit"))
		return args, true
	}
	list, ok := words(line)
	if !ok || len(list) < 3 || len(list) > 4 {
		return nil, false
	}
	args.SetText("search", list[1])
	args.SetText("replace", list[2])
	if len(list) == 4 {
		args.SetText("replace_all", list[3])
	}
	return args, true
}

func insert(line string) (lenientjson.Object, bool) {
	if list, ok := words(line); ok && (len(list) == 2 || len(list) == 3) {
		args := lenientjson.Object{}
		args.SetText("text", list[1])
		if len(list) == 3 {
			number(&args, "line", list[2])
		}
		return args, true
	}
	return nil, false
}

// body removes the mark at the end of a body.
func body(text, mark string) string {
	if at := strings.LastIndex(text, mark); at >= 0 && strings.TrimSpace(text[at+len(mark):]) == "" && (at == 0 || text[at-1] == '\n') {
		text = text[:max(at-1, 0)]
	}
	return text
}

// editor reads str_replace_editor COMMAND PATH --flag value...
func editor(line string) (lenientjson.Object, bool) {
	list, ok := words(line)
	if !ok || len(list) < 3 {
		return nil, false
	}
	args := lenientjson.Object{}
	args.SetText("command", list[1])
	args.SetText("path", list[2])
	for i := 3; i < len(list); {
		name, ok := strings.CutPrefix(list[i], "--")
		if !ok {
			return nil, false
		}
		values := 1
		if name == "view_range" {
			values = 2
		}
		if i+values >= len(list) {
			return nil, false
		}
		switch name {
		case "view_range":
			first, err1 := strconv.ParseInt(list[i+1], 10, 64)
			last, err2 := strconv.ParseInt(list[i+2], 10, 64)
			if err1 != nil || err2 != nil {
				return nil, false
			}
			pair := strconv.AppendInt([]byte{'['}, first, 10)
			pair = strconv.AppendInt(append(pair, ','), last, 10)
			args.Set(name, append(pair, ']'))
		case "insert_line":
			number(&args, name, list[i+1])
		default:
			args.SetText(name, list[i+1])
		}
		i += 1 + values
	}
	return args, true
}

// number gives an argument a number, or its text when it is none.
func number(args *lenientjson.Object, name, text string) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		args.SetInt(name, n)
		return
	}
	args.SetText(name, text)
}

// words splits a simple command by the quoting of POSIX shells; values may span lines. ok
// is false for a line that a shell would do more with: several commands, redirections,
// substitutions, or an open quote.
func words(line string) (list []string, ok bool) {
	var word strings.Builder
	open := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			if open {
				list = append(list, word.String())
				word.Reset()
				open = false
			}
			continue
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+end])
			i += 1 + end
		case '"':
			end, ok := quoted(&word, line[i+1:])
			if !ok {
				return nil, false
			}
			i += 1 + end
		case '\\':
			if i++; i == len(line) {
				return nil, false
			}
			if line[i] != '\n' {
				word.WriteByte(line[i])
			}
		case ';', '&', '|', '<', '>', '(', ')', '`', '\n':
			return nil, false
		default:
			word.WriteByte(c)
		}
		open = true
	}
	if open {
		list = append(list, word.String())
	}
	return list, true
}

// quoted reads what double quotes hold and returns where they end.
func quoted(word *strings.Builder, text string) (end int, ok bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i, true
		case '\\':
			if i+1 == len(text) {
				return 0, false
			}
			i++
			switch text[i] {
			case '"', '\\', '$', '`':
			case '\n':
				continue
			default:
				word.WriteByte('\\')
			}
		}
		word.WriteByte(text[i])
	}
	return 0, false
}

// Window tells what an answer shows of a file: its path, "" when it does not say, and the
// first and last line with a number.
func Window(text string) (file string, first, last int64) {
	_, rest, ok := strings.Cut(text, "[File: ")
	if !ok {
		return "", 0, 0
	}
	header, rest, _ := strings.Cut(rest, "\n")
	file, _, ok = strings.Cut(header, " (")
	if !ok || !strings.HasSuffix(strings.TrimRight(header, "\r"), " lines total)]") {
		return "", 0, 0
	}
	for line := range strings.Lines(rest) {
		digits, _, ok := strings.Cut(line[:min(len(line), 20)], ":")
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		switch {
		case err != nil:
		case first == 0:
			first, last = n, n
		case n == last+1:
			last = n
		}
	}
	return file, first, last
}

// Prompt takes the shell's prompt off the end of an answer: the open file, "" for none, and
// the folder it stands in.
func Prompt(text string) (output, openFile, dir string) {
	at := strings.LastIndex(text, "(Open file: ")
	if at < 0 || !strings.HasSuffix(strings.TrimRight(text, " \r\n"), "$") {
		return text, "", ""
	}
	for line := range strings.Lines(text[at:]) {
		line = strings.TrimRight(line, " \r\n")
		if path, ok := strings.CutPrefix(line, "(Open file: "); ok {
			openFile = strings.TrimSuffix(path, ")")
		}
		if path, ok := strings.CutPrefix(line, "(Current directory: "); ok {
			dir = strings.TrimSuffix(path, ")")
		}
	}
	if openFile == "n/a" {
		openFile = ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(text[:at], "\n"), "\r"), openFile, dir
}

// Place completes the arguments of a call by the open file and by what the answer shows:
// commands that work on the open file get its path, views the lines they showed.
func Place(tool string, args *lenientjson.Object, openFile, answer string) {
	file, first, last := "", int64(0), int64(0)
	switch tool {
	case "open", "goto", "scroll_up", "scroll_down", "set_cursors":
		file, first, last = Window(answer)
	case "edit", "insert", "search_file":
		if openFile == "" {
			file, _, _ = Window(answer)
		}
	default:
		return
	}
	if openFile == "" {
		openFile = file
	}
	if openFile != "" && args.Get("path") == nil && args.Get("file") == nil {
		args.SetText("filePath", openFile)
	}
	if first > 0 && args.Get("start_line") == nil {
		args.SetInt("startLine", first)
		args.SetInt("endLine", last)
	}
}

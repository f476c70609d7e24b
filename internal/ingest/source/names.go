package source

import (
	"path"
	"strings"
)

// Kind says what a file may be by its name.
type Kind uint8

// The kinds.
const (
	Unknown Kind = iota // the content decides
	JSON                // JSON or JSON Lines
	Lines               // JSON Lines
	Table               // comma-separated values
	Text                // a text that states outcomes
	Parquet             // a table whose rows may be runs
	Other               // no log
)

// Classify returns the kind of a file and, for Other, the reason to skip it.
func Classify(file string) (Kind, string) {
	base := strings.ToLower(path.Base(file))
	if IsOutcomeText(file) {
		return Text, ""
	}
	switch ext := path.Ext(base); ext {
	case ".json", ".traj":
		return JSON, ""
	case ".jsonl", ".ndjson":
		return Lines, ""
	case ".csv":
		return Table, ""
	case ".md", ".rst", ".txt", ".log", ".logs", ".html", ".htm", ".pdf":
		return Other, "text file (" + ext + ")"
	case ".parquet":
		return Parquet, ""
	case ".arrow", ".feather", ".db", ".sqlite", ".tsv", ".xlsx", ".pkl", ".npy", ".npz":
		return Other, "data file in another format (" + ext + ")"
	case ".yaml", ".yml", ".toml", ".ini", ".cfg", ".xml", ".lock", ".bib", ".cff":
		return Other, "configuration or description (" + ext + ")"
	case ".patch", ".diff", ".py", ".sh", ".go", ".js", ".ts", ".ipynb", ".sql":
		return Other, "code or patch (" + ext + ")"
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".mp4", ".wav":
		return Other, "picture or sound (" + ext + ")"
	}
	switch base {
	case "license", "licence", "readme", "makefile", "dockerfile", "changelog", "notice", "copying", "sha256sums":
		return Other, "text file (" + base + ")"
	}
	return Unknown, ""
}

// IsOutcomeText reports whether a file is a report of an OpenHands evaluation that is
// written for people: <output>.swebench_eval.md, or the log of one instance in
// <output>.swebench_eval.logs.
func IsOutcomeText(file string) bool {
	if strings.HasSuffix(file, ".swebench_eval.md") {
		return true
	}
	return strings.HasSuffix(file, ".log") && strings.HasSuffix(path.Dir(file), ".swebench_eval.logs")
}

// agentFolders are the hidden folders that agents keep their logs in.
var agentFolders = map[string]bool{
	".aider": true, ".amp": true, ".claude": true, ".cline": true, ".codex": true, ".continue": true, ".copilot": true,
	".crush": true, ".cursor": true, ".factory": true, ".gemini": true, ".goose": true, ".kilocode": true, ".kimi": true,
	".opencode": true, ".openhands": true, ".pi": true, ".qwen": true, ".roo": true, ".swe-agent": true, ".trae": true,
	".vibe": true,
}

// InAgentFolder reports whether a file is in a hidden folder of a known agent, which holds
// settings and notes beside logs.
func InAgentFolder(file string) bool {
	for part := range strings.SplitSeq(path.Dir(file), "/") {
		if agentFolders[part] {
			return true
		}
	}
	return false
}

// ignored reports whether a path of a folder or archive belongs to its container and not to
// the logs: a list of checksums, or what leads through a file or folder that systems hide,
// such as .git, .DS_Store or __MACOSX. Hidden folders of agents are not ignored. folder is the
// path of the hidden folder that the file is in and that may hold logs; "" for none, and for
// what version control and systems keep, which leaves no trace: a checkout is its files.
func ignored(file string) (ignore bool, folder string) {
	if path.Base(file) == "SHA256SUMS" {
		return true, ""
	}
	at := 0
	for part := range strings.SplitSeq(file, "/") {
		at += len(part) + 1
		switch {
		case part == "__MACOSX", part == ".git", part == ".hg", part == ".svn":
			return true, ""
		case strings.HasPrefix(part, ".") && !agentFolders[part]:
			if at > len(file) { // a hidden file, or the folder itself
				return true, ""
			}
			return true, file[:at-1]
		}
	}
	return false, ""
}

// skipHidden counts a hidden folder that is passed over, once.
func (w *walker) skipHidden(folder string) {
	if folder == "" || w.hidden[folder] {
		return
	}
	if w.hidden == nil {
		w.hidden = map[string]bool{}
	}
	w.hidden[folder] = true
	w.Skip("hidden folder " + path.Base(folder) + ", of no known agent: give it as a source of its own if it holds logs")
}

// PlainName drops the suffix of a compressed file.
func PlainName(file string) string {
	for _, suffix := range []string{".gz", ".zst", ".zstd"} {
		if n := len(file) - len(suffix); n > 0 && strings.EqualFold(file[n:], suffix) && file[n-1] != '/' {
			return file[:n]
		}
	}
	return file
}

// validPath makes a file name fit for messages and tables: it is valid UTF-8.
func validPath(file string) string { return strings.ToValidUTF8(file, "\ufffd") }

// unsafePath returns why an archive entry's name is refused, "" when it is fine.
func unsafePath(name string) string {
	slashed := strings.ReplaceAll(name, `\`, "/")
	switch {
	case name == "":
		return "has an empty name"
	case strings.ContainsRune(name, 0):
		return "has a NUL character in its name"
	case strings.HasPrefix(slashed, "/"):
		return "has an absolute path"
	case len(slashed) >= 2 && slashed[1] == ':':
		return "has a path with a drive letter"
	}
	for part := range strings.SplitSeq(slashed, "/") {
		if part == ".." {
			return "leads out of the archive"
		}
	}
	return ""
}

package session

import (
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/states"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// judge sets the exit code of a call and whether it failed.
func (r *Run) judge(call *states.Call, c *Call) {
	terminal := call.Tool == states.RunInTerminal
	if c.ExitCode.Or(0) != -1 {
		call.ExitCode = c.ExitCode
	}
	if terminal && !call.ExitCode.Valid {
		call.ExitCode = Footer(c.Response)
	}
	switch {
	case !c.Answered:
	case call.ExitCode.Valid:
		call.IsError, call.ErrorSource = truth(call.ExitCode.Value != 0), "exit_code"
	case c.Failed.Valid:
		call.IsError, call.ErrorSource = c.Failed, "flag"
	case terminal && r.NoExitCodes && printedFailure(c.Response), saysFailure(call.Tool, c.Response):
		call.IsError, call.ErrorSource = trajectory.Some(1), "text"
	case !terminal:
		call.IsError, call.ErrorSource = trajectory.Some(0), "text"
	}
}

func truth(b bool) trajectory.Int {
	if b {
		return trajectory.Some(1)
	}
	return trajectory.Some(0)
}

// Footer returns the exit code that a shell's last line gives, as OpenHands writes it;
// missing when there is none, and when the command has not ended.
func Footer(text string) trajectory.Int {
	const near = 400 // bytes of the end that a footer stands in
	text = text[max(0, len(text)-near):]
	for _, footer := range [...]string{"[The command completed with exit code ", "[Command finished with exit code "} {
		if !strings.Contains(text, footer) { // many times as fast as LastIndex, and mostly all there is to do
			continue
		}
		at := strings.LastIndex(text, footer)
		digits := text[at+len(footer):]
		if end := strings.IndexAny(digits, ".]"); end >= 0 {
			return Number(digits[:end])
		}
	}
	return trajectory.Int{}
}

// Number returns the exit code that digits write; missing when they are none, and for -1,
// which stands for a command that has not ended.
func Number(digits string) trajectory.Int {
	if n, err := strconv.ParseInt(digits, 10, 32); err == nil && n != -1 {
		return trajectory.Some(n)
	}
	return trajectory.Int{}
}

// isListing tells a directory from a file by what the editor of OpenHands and
// SWE-agent showed.
func isListing(response string) bool {
	const listing = "Here's the files and directories up to "
	return strings.HasPrefix(response, listing) || strings.HasPrefix(strings.TrimPrefix(response, "OBSERVATION:\n"), listing)
}

// refusals are the beginnings of answers with which editors and search tools refuse a call:
// those of OpenHands, of SWE-agent's command bundles and of the command line agents.
var refusals = [...]string{
	"ERROR", "Error:", "Error executing", "error:", "<tool_use_error>", "Usage:", "usage:",
	"No replacement was performed", "Invalid `", "Parameter `", "No edit history found for", "Ran into ",
	"Your proposed edit has introduced new syntax error", "Your edit was not applied", "Text not found",
	"No file open", "File does not exist", "File has not been read yet", "String to replace not found",
	"apply_patch verification failed", "Failed to ",
}

// saysFailure reports whether the answer of a tool begins as a refusal does. An answer that
// shows the text of a file is none.
func saysFailure(tool, response string) bool {
	text := strings.TrimLeft(strings.TrimPrefix(response, "OBSERVATION:\n"), " \r\n")
	if tool == states.RunInTerminal {
		return strings.HasPrefix(text, "ERROR:") || strings.HasPrefix(text, "[An error occurred during execution.]")
	}
	if strings.HasPrefix(text, "[An error occurred during execution.]") {
		return true
	}
	for _, refusal := range refusals {
		if strings.HasPrefix(text, refusal) {
			return true
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	line = strings.TrimRight(line, "\r")
	switch tool {
	case states.ReadFile, states.ReplaceString, states.CreateFile, states.FileSearch, states.GrepSearch:
		// SWE-agent: File x.py not found, Directory src not found
		return (strings.HasPrefix(line, "File ") || strings.HasPrefix(line, "Directory ")) && strings.HasSuffix(line, " not found")
	}
	return false
}

// printedFailure reports whether what a command printed shows that it failed: a Python
// traceback, the last line of a failed test run, or a shell's complaint. Where exit codes
// are kept it is not asked.
func printedFailure(text string) bool {
	const traceback = "Traceback (most recent call last):"
	if strings.HasPrefix(text, traceback) || strings.Contains(text, "\n"+traceback) {
		return true
	}
	if strings.Contains(text, "bash: ") || strings.Contains(text, "/bin/sh: ") {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "bash: ") || strings.HasPrefix(line, "/bin/bash: ") || strings.HasPrefix(line, "/bin/sh: ") {
				return true
			}
		}
	}
	last := lastLine(text)
	switch {
	case strings.HasSuffix(last, ": command not found"), strings.HasSuffix(last, ": No such file or directory"),
		strings.HasSuffix(last, ": Permission denied"), strings.HasPrefix(last, "FAILED ("), strings.HasPrefix(last, "SyntaxError: "):
		return true
	case strings.HasPrefix(last, "=") && strings.HasSuffix(last, "="):
		return strings.Contains(last, " failed") || strings.Contains(last, " error")
	}
	return false
}

// lastLine returns the last line that is not blank, a shell's prompt or the state that
// SWE-agent prints below; "" for none.
func lastLine(text string) string {
	for text != "" {
		at := strings.LastIndexByte(text, '\n')
		line := strings.TrimSpace(text[at+1:])
		if line != "" && line != "bash-$" && !strings.HasPrefix(line, "(Open file: ") && !strings.HasPrefix(line, "(Current directory: ") {
			return line
		}
		text = text[:max(0, at)]
	}
	return ""
}

package claudecode

import "strings"

// givenUp marks the lines of branches that a user left by going back: a prompt whose parent
// is not what was said last begins the conversation anew from there, and what was said since
// is no part of the run.
//
// Only prompts do so. A call that runs beside another one is a branch too, and so are answers:
// a message of the model stays with each of its lines. A parent that the file does not hold
// stands for the line before, so that a log with holes loses nothing.
func givenUp(lines []*line) []bool {
	out := make([]bool, len(lines))
	at := make(map[string]int, len(lines))
	parents := make([]int, len(lines))
	chained := false
	for i, l := range lines {
		parents[i] = i - 1
		switch parent := string(l.Parent.Value); {
		case l.UUID == "":
		case parent != "":
			if p, ok := at[parent]; ok {
				parents[i], chained = p, true
			}
		case l.Logical != "":
			if p, ok := at[string(l.Logical)]; ok {
				parents[i] = p
			}
		case l.isMessage() && !l.Compact.Is() && !l.Parent.absent():
			parents[i] = -1
		}
		if l.UUID != "" {
			if _, copied := at[string(l.UUID)]; !copied {
				at[string(l.UUID)] = i
			}
		}
	}
	if !chained {
		return out
	}
	for i, l := range lines {
		if !l.isTurn() || parents[i] == i-1 {
			continue
		}
		leave(lines, parents, out, i)
	}
	return out
}

// leave marks what was said before a prompt and does not lead to it.
func leave(lines []*line, parents []int, out []bool, prompt int) {
	leads := make(map[int]bool)
	responses := make(map[string]bool)
	for p := parents[prompt]; p >= 0 && !leads[p]; p = parents[p] {
		leads[p] = true
		if id := lines[p].response(); id != "" {
			responses[id] = true
		}
	}
	for i, l := range lines[:prompt] {
		if l.isMessage() && !l.Sidechain.Is() && !leads[i] && !l.answers() && !responses[l.response()] {
			out[i] = true
		}
	}
}

func (l *line) isMessage() bool { return l.Type == "user" || l.Type == "assistant" }

// response is the id of the model's message that a line is of, "" for other lines.
func (l *line) response() string {
	if l.Type != "assistant" {
		return ""
	}
	if l.Message.V.ID != "" {
		return string(l.Message.V.ID)
	}
	return string(l.RequestID)
}

// answers reports whether a line holds answers to calls.
func (l *line) answers() bool {
	if l.Type != "user" {
		return false
	}
	for i := range l.Message.V.Content {
		if l.Message.V.Content[i].Type == "tool_result" {
			return true
		}
	}
	return false
}

// isTurn reports whether a line is what a user sent: a prompt or a command.
func (l *line) isTurn() bool {
	if l.Type != "user" || l.Sidechain.Is() || l.Meta.Is() || l.Compact.Is() || l.answers() {
		return false
	}
	for i := range l.Message.V.Content {
		b := &l.Message.V.Content[i]
		if b.Type == "text" && (isPrompt(string(b.Text)) || strings.HasPrefix(string(b.Text), "<command-")) {
			return true
		}
	}
	return false
}

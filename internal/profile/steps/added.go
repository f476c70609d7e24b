package steps

import (
	"strings"

	"github.com/agentlens-bench/agentlens/internal/shell"
	"github.com/agentlens-bench/agentlens/internal/stage"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// addedTokens counts the tokens of the lines a source edit adds (docs/spec/process.md,
// section 5, part S).
func (l *loader) addedTokens(step *stage.CleanStep, counts map[ID]int32) {
	s := step.State
	if len(step.Actions) == 0 {
		if s.Log == nil {
			return
		}
		args := &s.Log.Args
		before, after := args.OldString, args.NewString
		if args.Has&trajectory.HasNewString == 0 {
			after = args.Content
		}
		l.countLines(before, after, counts)
		return
	}
	for _, a := range step.Actions {
		if a.Kind != shell.Write || !l.writesSource(a.Paths) {
			continue
		}
		text := a.Text
		if shell.HasPatchPath(text) {
			text = patchAdditions(text)
		}
		l.countLines("", text, counts)
	}
}

func (l *loader) writesSource(paths []string) bool {
	for _, p := range paths {
		if l.parser.Class(p) == shell.ClassSource {
			return true
		}
	}
	return false
}

// patchAdditions returns the lines a patch adds, without their mark.
func patchAdditions(patch string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(patch, "\n") {
		if text, ok := strings.CutPrefix(line, "+"); ok && !strings.HasPrefix(line, "+++") {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// countLines counts the words of the lines of after that are not lines of before, up to a
// comment sign.
func (l *loader) countLines(before, after string, counts map[ID]int32) {
	known := map[string]bool{"": true}
	if before != "" {
		for line := range strings.SplitSeq(before, "\n") {
			known[strings.TrimSpace(line)] = true
		}
	}
	for line := range strings.SplitSeq(after, "\n") {
		if known[strings.TrimSpace(line)] {
			continue
		}
		code, _, _ := strings.Cut(line, "#")
		for word := range strings.FieldsFuncSeq(code, notWord) {
			counts[l.id(word)]++
		}
	}
}

func notWord(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

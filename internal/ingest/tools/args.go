package tools

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Args returns a call's arguments under canonical names. Arguments that are null are
// dropped. A command that is an array becomes a command line. place turns a path of the
// log into one of the workspace.
func (t Tool) Args(args lenientjson.Object, place func(string) string) trajectory.Args {
	out := make(lenientjson.Object, 0, len(args)+2)
	start, count := trajectory.Int{}, trajectory.Int{}
	for _, m := range args {
		if len(m.Value) == 0 || m.Value.Kind() == 'n' {
			continue
		}
		switch to := t.target(m.Name); to {
		case toNothing:
		case "filePath", "path":
			if m.Value.Kind() == '"' {
				m.Value = lenientjson.Quote(place(lenientjson.Unquote(m.Value)))
			}
			out.Set(to, m.Value)
		case "command":
			out.Set(to, commandLine(m.Value))
		case toLines:
			if first, last, ok := lineRange(m.Value); ok {
				out.Set("startLine", first)
				out.Set("endLine", last)
			}
		case "startLine", "endLine", toStartLine0, toLineCount:
			n := args.Int(m.Name)
			switch {
			case !n.Valid:
				out.Set(m.Name, m.Value)
			case to == toLineCount:
				count = n
			case to == "endLine":
				out.SetInt(to, n.Value)
			default:
				if to == toStartLine0 {
					n.Value++
				}
				start = n
				out.SetInt("startLine", n.Value)
			}
		case toEdits:
			before, after := joinEdits(m.Value)
			out.Set(m.Name, m.Value)
			out.SetText("oldString", before)
			out.SetText("newString", after)
		default:
			out.Set(to, m.Value)
		}
	}
	if count.Valid && count.Value > 0 {
		if !start.Valid {
			out.SetInt("startLine", 1)
		}
		out.SetInt("endLine", max(start.Or(1), 1)+count.Value-1)
	}
	size := len("{}")
	for _, m := range out {
		size += len(m.Name) + len(`"":,`) + len(m.Value)
	}
	return format.ArgsOf(out.Append(make([]byte, 0, size))).Args // made of values that were read already
}

// target returns the name an argument gets.
func (t Tool) target(name string) string {
	for _, r := range t.args {
		if r.from == name {
			return r.to
		}
	}
	return name
}

// Unread returns the arguments of a call whose text is no JSON object: the text is kept.
func Unread(text string) trajectory.Args {
	if text == "" {
		return trajectory.Args{}
	}
	return trajectory.Args{Raw: string(lenientjson.Quote(text))}
}

// commandLine makes an array of words a command line: of a shell's -c its script, else the
// words, quoted where a shell needs it.
func commandLine(value jsontext.Value) jsontext.Value {
	var words []string
	if value.Kind() != '[' || lenientjson.Decode(value, &words) != nil {
		return value
	}
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && (words[1] == "-lc" || words[1] == "-c") {
		return lenientjson.Quote(words[2])
	}
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return lenientjson.Quote(strings.Join(words, " "))
}

// lineRange returns the two ends of a range, also of one written as a string.
func lineRange(value jsontext.Value) (first, last jsontext.Value, ok bool) {
	if value.Kind() == '"' {
		value = jsontext.Value(lenientjson.Unquote(value))
	}
	var ends []lenientjson.Int
	if lenientjson.Decode(value, &ends) != nil || len(ends) != 2 || !ends[0].Valid || !ends[1].Valid {
		return nil, nil, false
	}
	number := func(i lenientjson.Int) jsontext.Value { return strconv.AppendInt(nil, i.Value, 10) }
	return number(ends[0]), number(ends[1]), true
}

// joinEdits joins the texts of edits of one file.
func joinEdits(value jsontext.Value) (before, after string) {
	var edits lenientjson.List[struct {
		Old      lenientjson.Text `json:"old_string"`
		New      lenientjson.Text `json:"new_string"`
		OldCamel lenientjson.Text `json:"oldString"`
		NewCamel lenientjson.Text `json:"newString"`
	}]
	// The value was read already, so it is JSON.
	_ = lenientjson.Decode(value, &edits)
	var old, new []string
	for _, e := range edits {
		old, new = append(old, string(e.Old+e.OldCamel)), append(new, string(e.New+e.NewCamel))
	}
	return strings.Join(old, "\n"), strings.Join(new, "\n")
}

package tools

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/lenientjson"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Canonical tools that give no step.
const (
	LeftOut = "-"      // work the step model leaves out, such as planning and delegation
	Finish  = "finish" // the end of the run
)

// Tool is what a call of a tool becomes.
type Tool struct {
	Canonical string // LeftOut and Finish give no step
	args      []rename
}

type rename struct{ from, to string }

// Targets of arguments that are no names.
const (
	toLines      = "lines"
	toStartLine0 = "startLine0"
	toLineCount  = "lineCount"
	toEdits      = "edits"
	toNothing    = "-"
)

// Table is a mapping of tools. It is immutable.
type Table struct {
	rows     map[key]Tool
	narrowed map[key]string // the argument that narrows a tool
}

type key struct{ family, tool, value string }

//go:embed tools.tsv
var shipped string

var defaults = mustParse(shipped)

func mustParse(text string) *Table {
	t, err := (&Table{}).with(strings.NewReader(text))
	if err != nil {
		panic("tools.tsv: " + err.Error())
	}
	return t
}

// Default returns the mapping that ships with the program.
func Default() *Table { return defaults }

// Load returns the shipped mapping with the rows of r added; a row of r replaces a shipped
// one. The error names the line.
func Load(r io.Reader) (*Table, error) { return defaults.with(r) }

func (t *Table) with(r io.Reader) (*Table, error) {
	out := &Table{rows: maps.Clone(t.rows), narrowed: maps.Clone(t.narrowed)}
	if out.rows == nil {
		out.rows, out.narrowed = map[key]Tool{}, map[key]string{}
	}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(strings.TrimPrefix(lines.Text(), "\ufeff"), "\r\n\t ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := out.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// add adds one row.
func (t *Table) add(line string) error {
	fields := strings.Split(line, "\t")
	if len(fields) == 3 {
		fields = append(fields, toNothing)
	}
	if len(fields) != 4 {
		return fmt.Errorf("%d fields, want 4 between tabs: format (or *), tool, canonical tool, arguments (or -)", len(fields))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	k := key{family: fields[0], tool: fields[1]}
	if k.family == "" || k.tool == "" {
		return fmt.Errorf("format or tool is empty; * stands for every format")
	}
	if name, condition, ok := strings.Cut(strings.TrimSuffix(k.tool, "]"), "["); ok {
		argument, value, ok := strings.Cut(condition, "=")
		if !ok || argument == "" || value == "" {
			return fmt.Errorf("tool %q: want tool[argument=value]", k.tool)
		}
		k.tool = name
		if other := t.narrowed[k]; other != "" && other != argument {
			return fmt.Errorf("tool %q is narrowed by %q and by %q; want one argument", name, other, argument)
		}
		t.narrowed[k] = argument
		k.value = value
	}
	tool := Tool{Canonical: fields[2]}
	if tool.Canonical != LeftOut && tool.Canonical != Finish && !trajectory.LookupTool(tool.Canonical).Exact {
		return fmt.Errorf("canonical tool %q is not known; want a tool such as run_in_terminal, read_file or replace_string_in_file, or - to leave the call out", tool.Canonical)
	}
	if fields[3] != toNothing {
		for pair := range strings.SplitSeq(fields[3], ",") {
			from, to, ok := strings.Cut(strings.TrimSpace(pair), "=")
			if !ok || from == "" || to == "" {
				return fmt.Errorf("argument %q: want old=new", pair)
			}
			tool.args = append(tool.args, rename{from, to})
		}
	}
	t.rows[k] = tool
	return nil
}

// Lookup returns what a call of a tool becomes, by the row of its family, else by that of
// all formats. ok is false when no row names it: then it keeps its name and arguments.
func (t *Table) Lookup(family, tool string, args lenientjson.Object) (found Tool, ok bool) {
	for _, family := range [...]string{family, "*"} {
		k := key{family: family, tool: tool}
		if argument := t.narrowed[k]; argument != "" {
			narrow := k
			narrow.value = args.Text(argument)
			if found, ok = t.rows[narrow]; ok && narrow.value != "" {
				return found, true
			}
		}
		if found, ok = t.rows[k]; ok {
			return found, true
		}
	}
	return Tool{Canonical: tool}, false
}

// Tools returns the names a family's rows and those of all formats know, sorted.
func (t *Table) Tools(family string) []string {
	var names []string
	for k := range t.rows {
		if k.family == family || k.family == "*" {
			names = append(names, k.tool)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

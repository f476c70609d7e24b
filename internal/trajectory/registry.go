package trajectory

import (
	_ "embed"
	"fmt"
	"strings"
)

// Category is what kind of work a tool does (the paper's Table 6).
type Category uint8

// The categories. The zero value is General, which unknown tools get.
const (
	General Category = iota
	Read
	Edit
	Search
	Execute
	Validation
)

// Comparison says which arguments tell two calls of a tool apart.
type Comparison uint8

// The comparisons. The zero value is Identity, which unknown tools get.
const (
	Identity Comparison = iota
	ByNothing
	ByFilePath
	ByQuery
	ByCommand
)

// Tool is what is known of a canonical tool name (docs/spec/release.md, section 2).
type Tool struct {
	Category   Category
	Hint       Stage  // stage of a tool whose intent never depends on context, else NoStage
	Group      string // tools of one group can do the same work; "" is no group
	Operation  string // read, modify, create, delete, search, terminal, other
	Comparison Comparison
	Context    bool // whether the stage depends on what came before
	Exact      bool // whether the name itself is registered, not only a prefix of it
}

type prefixRule struct {
	prefix string
	tool   Tool
}

//go:embed tools.tsv
var toolTable string

var exactTools, prefixTools = mustParseTools(toolTable)

var unknownTool = Tool{Hint: Orchestration, Operation: "other"}

// LookupTool returns what is known of a tool: its own entry, else that of the first
// matching prefix rule, else that of an unknown tool (General, orchestration, Identity).
func LookupTool(name string) Tool {
	if t, ok := exactTools[name]; ok {
		return t
	}
	for _, r := range prefixTools {
		if strings.HasPrefix(name, r.prefix) {
			return r.tool
		}
	}
	return unknownTool
}

// mustParseTools reads the embedded table; it panics on a bad line, which a test would see.
func mustParseTools(table string) (map[string]Tool, []prefixRule) {
	categories := map[string]Category{
		"general": General, "read": Read, "edit": Edit, "search": Search,
		"execute": Execute, "validation": Validation,
	}
	comparisons := map[string]Comparison{
		"identity": Identity, "none": ByNothing, "file_path": ByFilePath,
		"query": ByQuery, "command": ByCommand,
	}
	exact := make(map[string]Tool)
	var prefixes []prefixRule
	for n, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 7 {
			panic(fmt.Sprintf("tools.tsv:%d: %d fields, want 7", n+1, len(f)))
		}
		category, okCategory := categories[f[1]]
		comparison, okComparison := comparisons[f[5]]
		hint, err := ParseStage(f[2])
		if !okCategory || !okComparison || err != nil {
			panic(fmt.Sprintf("tools.tsv:%d: unknown category, comparison or stage", n+1))
		}
		group := f[3]
		if group == "-" {
			group = ""
		}
		t := Tool{
			Category: category, Hint: hint, Group: group, Operation: f[4],
			Comparison: comparison, Context: f[6] == "context",
		}
		if prefix, ok := strings.CutSuffix(f[0], "*"); ok {
			prefixes = append(prefixes, prefixRule{prefix, t})
			continue
		}
		t.Exact = true
		exact[f[0]] = t
	}
	return exact, prefixes
}

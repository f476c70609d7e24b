package stage

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentlens-bench/agentlens/schema"
)

// The columns that hold a rule list every rule there is, and no other.
func TestColumnsListTheRules(t *testing.T) {
	for _, c := range []struct{ column, file, prefix string }{{"rule_release", "release.go", "Rule"}, {"rule_clean", "clean.go", "Clean"}} {
		file, err := parser.ParseFile(token.NewFileSet(), c.file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var rules []string
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, c.prefix) {
				return true
			}
			rule, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, rule)
			return true
		})
		slices.Sort(rules)
		var doc string
		for _, table := range schema.Tables() {
			for _, column := range table.SQLColumns() {
				if table.Name == "states" && column.Name == c.column {
					doc = column.Doc
				}
			}
		}
		_, list, _ := strings.Cut(doc, ". ") // behind what the column is
		listed := regexp.MustCompile(`[a-z]+(_[a-z]+)+`).FindAllString(list, -1)
		if strings.Contains(list, "No label: initial.") {
			listed = append(listed, RuleInitial)
		}
		slices.Sort(listed)
		if !slices.Equal(listed, rules) {
			t.Errorf("%s lists %v\nwant %v", c.column, listed, rules)
		}
	}
}

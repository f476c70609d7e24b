package fetch

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentlens-bench/agentlens/datasets"
	"github.com/agentlens-bench/agentlens/internal/ingest/source"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Every recipe agrees with its list, and states what a build of it will state.
func TestRecipes(t *testing.T) {
	names, err := Names(datasets.Recipes())
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		r, err := Load(datasets.Recipes(), name)
		if err != nil {
			t.Error(err)
			continue
		}
		var reads []File
		folded := map[string]bool{}
		for _, f := range r.List {
			if kind, _ := source.Classify(f.Path); kind != source.Other && kind != source.Parquet {
				reads = append(reads, f)
			}
			if lower := strings.ToLower(f.Path); folded[lower] {
				t.Errorf("%s: two files are one where case does not count: %s", name, f.Path)
			} else {
				folded[lower] = true
			}
		}
		if got := content(reads); got != r.Build {
			t.Errorf("%s: a build reads %+v, the recipe says %+v", name, got, r.Build)
		}
		list, err := fs.ReadFile(datasets.Recipes(), name+"/files.tsv")
		if err != nil || len(list) > 2_000_000 {
			t.Errorf("%s: the list has %d bytes, %v", name, len(list), err)
		}
	}
}

func TestUnknownName(t *testing.T) {
	_, err := Load(datasets.Recipes(), "agentlens-bnech")
	if !usage.Is(err) || !strings.Contains(err.Error(), `did you mean agentlens-bench?`) {
		t.Error(err)
	}
	for _, name := range []string{"swe-bench-verified", "", "..", "agentlens-bench/"} {
		if _, err := Load(datasets.Recipes(), name); !usage.Is(err) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

const goodRecipe = `name = "x"
mirrors = ["https://example.org/x"]
licence = "CC0-1.0"
attribution = "nobody"
files = 1
bytes = 5
sha256 = "%s"
`

func TestBadRecipe(t *testing.T) {
	list := listHeader + digest(nil) + "\t5\ta.json\n"
	files, err := parseList(list)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(goodRecipe, content(files).SHA256)
	for _, tt := range []struct{ recipe, list, want string }{
		{text, list, ""},
		{text + "colour = 1\n", list, `x/recipe.toml: unknown key "colour"`},
		{strings.Replace(text, "https", "ftp", 1), list, "want the http or https address"},
		{strings.Replace(text, "attribution", "citation", 1), list, "mirrors, licence and attribution are needed"},
		{strings.Replace(text, "bytes = 5", "bytes = 6", 1), list, "x/files.tsv: it lists 1 files, 5 bytes"},
		{strings.Replace(text, `name = "x"`, `name = "y"`, 1), list, "the recipe of y"},
		{"=", list, "x/recipe.toml: "},
		{text, list + "\n", "x/files.tsv: line 3: 1 fields, want 3"},
		{text, "", "x/files.tsv: line 1: want the header"},
	} {
		_, err := Load(fstest.MapFS{"x/recipe.toml": {Data: []byte(tt.recipe)}, "x/files.tsv": {Data: []byte(tt.list)}}, "x")
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

func TestBadList(t *testing.T) {
	sum := digest(nil)
	line := func(size, path string) string { return sum + "\t" + size + "\t" + path + "\n" }
	for text, want := range map[string]string{
		line("0", "a"):                           "",
		line("0", "a") + line("1", "b/c"):        "",
		"":                                       "lists no file",
		line("0", "b") + line("0", "a"):          "line 3: path \"a\" does not sort after",
		line("0", "a") + line("0", "a"):          "line 3: ",
		line("-1", "a"):                          `"-1" is no size`,
		line("01", "a"):                          `"01" is no size`,
		line("99999999999", "a"):                 "is no size",
		line("0", "/a"):                          "want a relative path",
		line("0", "../a"):                        "want a relative path",
		line("0", "a/../b"):                      "want a relative path",
		line("0", "a//b"):                        "want a relative path",
		line("0", "."):                           "want a relative path",
		line("0", ".a"):                          "no hidden part",
		line("0", "a/.b"):                        "no hidden part",
		line("0", `a\b`):                         "want a relative path",
		line("0", "c:a"):                         "want a relative path",
		line("0", "a\r"):                         "want a relative path",
		line("0", "a\xff"):                       "want a relative path",
		strings.ToUpper(sum) + "\t0\ta\n":        "is no SHA-256",
		sum[1:] + "\t0\ta\n":                     "is no SHA-256",
		strings.TrimSuffix(line("0", "a"), "\n"): "end with a line feed",
	} {
		_, err := parseList(listHeader + text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Whatever the list says, what is read from it writes the same list again.
func FuzzParseList(f *testing.F) {
	f.Add(listHeader + digest(nil) + "\t0\ta\n" + digest([]byte("b")) + "\t1\tb/c d.json\n")
	f.Add(listHeader + digest(nil) + "\t0\t../a\n")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := parseList(text)
		if err != nil {
			return
		}
		again := listHeader
		for _, file := range files {
			again += fmt.Sprintf("%s\t%d\t%s\n", file.SHA256, file.Bytes, file.Path)
		}
		if again != text {
			t.Errorf("%q became %q", text, again)
		}
	})
}

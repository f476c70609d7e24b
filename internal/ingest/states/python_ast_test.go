package states

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// astScript prints, as JSON Lines, what CPython's ast says of a sample of the standard
// library: first the version and the number of files and windows that are no Python, then
// per file its text, its outline and pieces of it with the scope they define. A piece that
// begins in a block is parsed below as many "if" headers as it leaves blocks; one that ends
// in a header gets a body.
const astScript = `
import ast, json, os, random, sys, warnings
warnings.simplefilter("ignore")
if sys.version_info < (3, 8):
    sys.exit(0)  # its ast does not tell where a node ends
files, bound, definitions, windows = map(int, sys.argv[1:])
root = os.path.dirname(os.__file__)
paths = []
for folder, inner, names in os.walk(root):
    inner[:] = sorted(d for d in inner if d not in ("site-packages", "dist-packages", "__pycache__"))
    paths += [os.path.join(folder, n) for n in names if n.endswith(".py")]
paths = sorted(p for p in paths if 0 < os.path.getsize(p) < 200000)
paths = paths[::max(1, len(paths) // files)][:files]
DEF = (ast.FunctionDef, ast.AsyncFunctionDef)
BLANK = " \t\f\r"

def outline(tree, lines=None):
    found = []
    def visit(node, owner):
        for child in ast.iter_child_nodes(node):
            inside = owner
            if isinstance(child, DEF):
                found.append((child.lineno, child.col_offset, "def", child.name, owner))
            elif isinstance(child, ast.ClassDef):
                found.append((child.lineno, child.col_offset, "class", child.name, ""))
                inside = child.name
            elif lines and isinstance(child, (ast.Import, ast.ImportFrom)):
                part = [l.encode() for l in lines[child.lineno - 1:child.end_lineno]]
                if not part[0][:child.col_offset].strip():
                    part[-1] = part[-1][:child.end_col_offset]
                    part[0] = part[0][child.col_offset:]
                    found.append((child.lineno, child.col_offset, "import", b"\n".join(part).decode(), ""))
            visit(child, inside)
    visit(tree, "")
    found.sort()
    return {
        "functions": [n for _, _, k, n, _ in found if k == "def"],
        "classes": [n for _, _, k, n, _ in found if k == "class"],
        "imports": [n for _, _, k, n, _ in found if k == "import"],
        "methods": [[o, n] for _, _, k, n, o in found if k == "def" and o],
    }

def parsed(lines):
    first = next((l for l in lines if l.strip()), "")
    width = len(first) - len(first.lstrip())
    left = []
    for l in lines:
        n = len(l) - len(l.lstrip(BLANK))
        if l.strip() and n < min(left + [width]):
            left.append(n)
    head = "".join(" " * n + "if 1:\n" for n in reversed(left))
    if width and 0 not in left:
        head = "if 1:\n" + "".join(" " * n + "if 1:\n" for n in reversed(left))
    text = head + "\n".join(lines)
    last = next((l for l in reversed(lines) if l.strip()), "")
    for tail in "", "\n" + " " * (len(last) - len(last.lstrip()) + 1) + "pass":
        try:
            return ast.parse(text + tail)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass

def cut(tree, a, b):
    """The outline of the lines a to b of a file by its tree, None when a header crosses b."""
    found = []
    def visit(node, owner):
        for child in ast.iter_child_nodes(node):
            inside = owner
            if isinstance(child, DEF + (ast.ClassDef,)):
                if child.lineno <= b < child.body[0].lineno - 1:
                    raise ValueError
                if a < child.lineno <= b:
                    if isinstance(child, DEF):
                        found.append((child.lineno, "def", child.name, owner))
                    else:
                        inside = child.name
                        found.append((child.lineno, "class", child.name, ""))
            visit(child, inside)
    try:
        visit(tree, "")
    except ValueError:
        return None
    found.sort()
    return {
        "functions": [n for _, k, n, _ in found if k == "def"],
        "classes": [n for _, k, n, _ in found if k == "class"],
        "methods": [[o, n] for _, k, n, o in found if k == "def" and o],
    }

def scope(o):
    if o["methods"]:
        return o["methods"][0]
    return [min(o["classes"], default=""), min(o["functions"], default="")]

out, bad, unknown, total = [], 0, 0, 0
for path in paths:
    with open(path, "rb") as f:
        data = f.read()
    try:
        text = data.decode()
        if total + len(data) > bound or "\r" in text.replace("\r\n", ""):
            continue
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        bad += 1
        continue
    total += len(data)
    lines = text.lstrip("\ufeff").split("\n")
    pieces = []
    for node in ast.walk(tree):
        if isinstance(node, DEF + (ast.ClassDef,)):
            pieces.append((node.lineno - 1, node.end_lineno))
    pieces = sorted(pieces)[:definitions]
    name = os.path.relpath(path, root).replace(os.sep, "/")
    rng = random.Random(name)
    for _ in range(windows):
        a = rng.randrange(len(lines))
        pieces.append((a, min(len(lines), a + rng.randrange(1, 40))))
    known = []
    for a, b in pieces:
        tree_of = parsed(lines[a:b])
        o = outline(tree_of) if tree_of else cut(tree, a, b)
        if o:
            known.append({"from": a, "to": b, "broken": not tree_of, "scope": scope(o)})
        else:
            unknown += 1
    out.append({"file": name, "text": text, "outline": outline(tree, lines), "pieces": known})
print(json.dumps({"version": sys.version.split()[0], "unparsed": bad, "unknown": unknown}))
for o in out:
    print(json.dumps(o))
`

type astFile struct {
	File    string `json:"file"`
	Text    string `json:"text"`
	Outline struct {
		Functions []string    `json:"functions"`
		Classes   []string    `json:"classes"`
		Imports   []string    `json:"imports"`
		Methods   [][2]string `json:"methods"`
	} `json:"outline"`
	Pieces []struct {
		From   int       `json:"from"`
		To     int       `json:"to"`
		Broken bool      `json:"broken"` // no Python by itself
		Scope  [2]string `json:"scope"`
	} `json:"pieces"`
}

// agreement counts comparisons and names the first that differ.
type agreement struct {
	what          string
	total, differ int
}

func (a *agreement) compare(t *testing.T, same bool, format string, args ...any) {
	t.Helper()
	a.total++
	if same {
		return
	}
	if a.differ++; a.differ <= 5 {
		t.Logf("%s: %s", a.what, fmt.Sprintf(format, args...))
	}
}

// The scanner says of real source what CPython's own parser says: the functions, classes,
// methods and imports of whole files, and the scope of functions, classes and windows of
// lines cut out of them. A window that is no Python by itself, mostly because it begins or
// ends inside of a docstring, is compared with what the file's tree says of its lines: the
// piece alone does not always tell a quote that opens from one that closes, so a few may
// differ; even of windows that are Python when the first quote is taken to open.
func TestOutlineIsThatOfCPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on PATH to compare with")
	}
	files := "150"
	if testing.Short() {
		files = "40"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, python, "-I", "-c", astScript, files, "3000000", "10", "10")
	cmd.Stderr = &complaint
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", python, err, complaint.String())
	}
	if len(printed) == 0 {
		t.Skipf("%s is older than 3.8", python)
	}
	in := jsontext.NewDecoder(bytes.NewReader(printed))
	var head struct {
		Version  string `json:"version"`
		Unparsed int    `json:"unparsed"`
		Unknown  int    `json:"unknown"`
	}
	if err := json.UnmarshalDecode(in, &head); err != nil {
		t.Fatal(err)
	}
	names := agreement{what: "functions and classes of a file"}
	nesting := agreement{what: "methods of a file"}
	imports := agreement{what: "imports of a file"}
	scopes := agreement{what: "scope of a piece"}
	broken := agreement{what: "scope of a broken piece"}
	symbols := 0
	for {
		var f astFile
		if err := json.UnmarshalDecode(in, &f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got, want := outlinePython(f.Text), f.Outline
		symbols += len(want.Functions) + len(want.Classes)
		names.compare(t, slices.Equal(got.functions, want.Functions) && slices.Equal(got.classes, want.Classes), "%s: %s", f.File,
			firstDifference(slices.Concat(got.functions, got.classes), slices.Concat(want.Functions, want.Classes)))
		var methods []method
		for _, m := range want.Methods {
			methods = append(methods, method{m[0], m[1]})
		}
		nesting.compare(t, slices.Equal(got.methods, methods), "%s: %s", f.File, firstDifference(got.methods, methods))
		imports.compare(t, slices.EqualFunc(got.imports, want.Imports, sameImport), "%s: %s", f.File, firstDifference(got.imports, want.Imports))
		lines := strings.Split(f.Text, "\n")
		for _, piece := range f.Pieces {
			text := strings.Join(lines[piece.From:piece.To], "\n")
			o := outlinePython(text)
			class, function := o.scope()
			a := &scopes
			if piece.Broken {
				a = &broken
			}
			a.compare(t, [2]string{class, function} == piece.Scope, "%s:%d-%d: got %q.%q, want %q.%q",
				f.File, piece.From+1, piece.To, class, function, piece.Scope[0], piece.Scope[1])
		}
	}
	t.Logf("Python %s: %d files with %d functions and classes, %d whole pieces; left out: %d files, %d pieces", head.Version, names.total, symbols, scopes.total, head.Unparsed, head.Unknown)
	if names.total < 20 || scopes.total < 5*names.total {
		t.Fatalf("only %d files and %d pieces to compare", names.total, scopes.total)
	}
	for _, a := range []*agreement{&names, &nesting, &imports, &scopes, &broken} {
		t.Logf("%s: %d of %d agree", a.what, a.total-a.differ, a.total)
		allowed := 0
		switch a {
		case &scopes:
			allowed = a.total / 1000
		case &broken:
			allowed = a.total / 20
		}
		if a.differ > allowed {
			t.Errorf("%s: %d of %d differ, at most %d may", a.what, a.differ, a.total, allowed)
		}
	}
}

// sameImport reports whether a line that the scanner took is the import, with perhaps more
// statements behind it.
func sameImport(got, want string) bool {
	rest, ok := strings.CutPrefix(got, want)
	rest = strings.TrimSpace(rest)
	return ok && (rest == "" || rest[0] == ';')
}

func firstDifference[T comparable](got, want []T) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("entry %d: got %q, want %q", i, fmt.Sprint(got[i]), fmt.Sprint(want[i]))
		}
	}
	return fmt.Sprintf("got %d entries, want %d", len(got), len(want))
}

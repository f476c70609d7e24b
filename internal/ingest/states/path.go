package states

import "strings"

// NormalizePath returns a path as states are compared by it: lower case, without leading
// slashes and without a leading workspace/, workspaces/, home/ or tmp/.
func NormalizePath(path string) string {
	path = strings.TrimLeft(strings.ToLower(path), "/")
	for _, root := range [...]string{"workspace/", "workspaces/", "home/", "tmp/"} {
		if rest, ok := strings.CutPrefix(path, root); ok {
			return rest
		}
	}
	return path
}

// StripWorkspace removes the folder of a benchmark's checkout from an absolute path and
// keeps the slash: /testbed/a.py and /workspace/owner__repo__1.0/a.py give /a.py, the
// folder itself gives /. Other paths are returned as they are.
func StripWorkspace(path string) string {
	rest, ok := strings.CutPrefix(path, "/testbed")
	if !ok {
		if rest, ok = strings.CutPrefix(path, "/workspace/"); !ok {
			return path
		}
		folder, after, _ := strings.Cut(rest, "/")
		if !strings.Contains(folder, "__") {
			return path
		}
		rest = "/" + after
	}
	switch {
	case rest == "":
		return "/"
	case rest[0] != '/':
		return path
	}
	return rest
}

// Workspace returns the folder that a run's commands work in, as far as they name it by an
// absolute path that StripWorkspace or NormalizePath would strip: /workspace/<owner>__<repo>...
// of a benchmark's checkout, else /workspace; "" for /testbed or when they name neither.
func Workspace(calls []Call) string {
	plain := false
	for i := range calls {
		rest := calls[i].Args.Command
		for {
			var ok bool
			if _, rest, ok = strings.Cut(rest, "/workspace/"); !ok {
				break
			}
			end := strings.IndexFunc(rest, func(r rune) bool { return strings.ContainsRune("/ \t\n'\";&|)", r) })
			folder := rest
			if end >= 0 {
				folder = rest[:end]
			}
			if strings.Contains(folder, "__") {
				return "/workspace/" + folder
			}
			plain = true
		}
	}
	if plain {
		return "/workspace"
	}
	return ""
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func extension(path string) string {
	name := base(path)
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return strings.ToLower(name[i:])
	}
	return ""
}

func isPython(path string) bool {
	ext := extension(path)
	return ext == ".py" || ext == ".pyi"
}

package session

import (
	"path"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/states"
)

// isWindows reports whether a path is one of Windows: with a drive, or on a share.
func isWindows(p string) bool {
	if strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) > 2 && isLetter(p[0]) && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// placeWindows is Run.place where paths are those of Windows: with slashes, and of a drive
// in each of the spellings C:\, /c/ of Git's shell and /mnt/c/ of WSL.
func placeWindows(p, dir, root string) string {
	p, root = slashes(p), slashes(root)
	if !strings.HasPrefix(p, "/") && !isWindows(p) {
		if dir == "" {
			return p
		}
		p = path.Join(slashes(dir), p)
	}
	root = strings.TrimSuffix(root, "/")
	if root != "" && len(p) >= len(root) && strings.EqualFold(p[:len(root)], root) {
		switch rest := p[len(root):]; {
		case rest == "":
			return "/"
		case rest[0] == '/':
			return rest
		}
	}
	return states.StripWorkspace(p)
}

// slashes writes a path with slashes, and a drive as C:/.
func slashes(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	drive := strings.TrimPrefix(p, "/mnt")
	if len(drive) > 2 && drive[0] == '/' && isLetter(drive[1]) && drive[2] == '/' {
		return drive[1:2] + ":" + drive[2:]
	}
	return p
}

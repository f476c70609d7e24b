// Package cachedir says where the program keeps what it can make or get again.
//
// Invariant: nothing there is needed. Removing the folder costs time, never data.
package cachedir

import (
	"fmt"
	"os"
	"path/filepath"
)

// Variable names the environment variable that overrides the folder.
const Variable = "AGENTLENS_CACHE"

// Path returns the folder of that name in the cache, and makes it: in $AGENTLENS_CACHE, or
// else in agentlens in the user's cache folder of the operating system.
func Path(name string) (string, error) {
	root := os.Getenv(Variable)
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for a cache: %w; set %s to a folder", err, Variable)
		}
		root = filepath.Join(user, "agentlens")
	}
	path := filepath.Join(root, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", fmt.Errorf("make the cache: %w; set %s to a folder that can be written", err, Variable)
	}
	return path, nil
}

//go:build !linux

package bench

import (
	"errors"
	"os"
)

// exchange swaps two folders. For a moment b does not exist; it is never a mix of both.
func exchange(a, b string) error {
	old := a + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(old, b))
	}
	return os.Rename(old, a)
}

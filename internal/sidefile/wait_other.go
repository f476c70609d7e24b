//go:build !unix

package sidefile

import (
	"context"
	"os"
)

func open(path string) (*os.File, error) { return os.Open(path) }

func waiter(*os.File) func(context.Context) error { return context.Context.Err }

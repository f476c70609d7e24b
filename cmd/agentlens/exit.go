package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/tabular"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitRefused = 3
)

// errRefused ends a command that did its work but refused records.
var errRefused = errors.New("some records were refused")

// end says why a command ended, and returns the exit code.
func end(cmd *cobra.Command, err error, notes io.Writer) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errRefused):
		return exitRefused
	case errors.Is(err, errDiffers), errors.Is(err, errInvalid):
		return exitFailure
	case mendable(err):
		fmt.Fprintf(notes, "agentlens: %s\ntry: %s --help\n", flagged(cmd, err.Error()), cmd.CommandPath())
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(notes, "agentlens: interrupted; nothing was left behind")
		return exitFailure
	}
	fmt.Fprintf(notes, "agentlens: %s\n", flagged(cmd, err.Error()))
	return exitFailure
}

// mendable reports whether another call would go well: an option, an argument or a file that
// the call names is wrong, or an output is in use.
func mendable(err error) bool {
	if usage.Is(err) {
		return true
	}
	for _, of := range []error{output.ErrExists, bench.ErrExists, bench.ErrNoDataset, corpus.ErrNoRuns, tabular.ErrNoColumn, stats.ErrInput} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

var namedOption = regexp.MustCompile(`\boption ([a-z]+[0-9]*(?:-[a-z0-9]+)*)\b`)

// flagged writes the options that a message names as the command's flags.
func flagged(cmd *cobra.Command, text string) string {
	return namedOption.ReplaceAllStringFunc(text, func(s string) string {
		name := strings.TrimPrefix(s, "option ")
		if cmd.Flags().Lookup(name) == nil {
			return s
		}
		return "--" + name
	})
}

// fileFlag marks flags that name a file to read.
const fileFlag = "file"

// inputFile adds a flag that names a file to read.
func inputFile(f *pflag.FlagSet, path *string, name, use string) {
	f.StringVar(path, name, "", use)
	f.Lookup(name).Annotations = map[string][]string{fileFlag: nil}
}

// checkFiles looks at the files that flags name before any work is done.
func checkFiles(cmd *cobra.Command) error {
	var found error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, ok := f.Annotations[fileFlag]; ok && found == nil {
			found = readable(f.Name, f.Value.String())
		}
	})
	return found
}

// readable says why a file can't be read, "" for the option of an argument.
func readable(option, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage.Errorf(option, "%s: there is no such file", path)
	case err != nil:
		return usage.Errorf(option, "%s can't be read: %w", path, err)
	case info.IsDir():
		return usage.Errorf(option, "%s is a folder: want a file", path)
	}
	return nil
}

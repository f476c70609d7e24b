// Agentlens turns the logs of software-engineering agents into a versioned, queryable
// dataset of how they worked.
//
// Exit codes: 0 done, 1 failure, 2 usage, 3 done but some records were refused; 130, 143 and
// 129 when SIGINT, SIGTERM or SIGHUP ended it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/experiment"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/terminal"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitRefused = 3
)

func main() {
	limitsAreErrors()
	_ = output.Sweep(os.TempDir()) // what can't be removed must not stop the work
	ctx, stop := untilSignal()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// usageError is a command line that can't be used.
type usageError struct{ error }

// errRefused ends a command that did its work but refused records.
var errRefused = errors.New("some records were refused")

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out, notes := terminal.NewWriter(stdout), terminal.NewWriter(stderr)
	defer notes.Flush()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(notes)
	cmd, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, out.Flush())
	if code, ok := interrupted(ctx, err, notes); ok {
		return code
	}
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errRefused):
		return exitRefused
	case errors.Is(err, errDiffers), errors.Is(err, errInvalid):
		return exitFailure
	case errors.As(err, &usage), errors.Is(err, bench.ErrUsage), errors.Is(err, output.ErrUsage), errors.Is(err, ingest.ErrUsage), errors.Is(err, experiment.ErrUsage):
		fmt.Fprintf(notes, "agentlens: %v\ntry: %s --help\n", err, cmd.CommandPath())
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(notes, "agentlens: interrupted; nothing was left behind")
		return exitFailure
	}
	fmt.Fprintf(notes, "agentlens: %v\n", err)
	return exitFailure
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "agentlens",
		Short: "A dataset of how software-engineering agents worked, from their logs",
		Long: `agentlens labels every step of an agent's run, merges passing runs of a task into a
reference, scores each run against it, and writes the result as SQLite and Parquet.

Exit codes: 0 done, 1 failure, 2 usage, 3 done but some records were refused.`,
		Version:       bench.ToolVersion,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newBuild(), newVerify(), newShow(), newVersions(), newDiff(), newSchema(), newSynth(), newStats(), newAnnotate(), newReproduce(), newFigures(),
		newCalibrate(), newAblate(), newBaseline(), newQuery(), newExport(), newCurate(), newPublish(),
		newValidate(), newInspect(), newConvert(), newFetch())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	markUsage(root)
	return root
}

// markUsage makes wrong numbers of arguments usage errors, in all commands below cmd.
func markUsage(cmd *cobra.Command) {
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, a []string) error {
			if err := args(cmd, a); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		markUsage(c)
	}
}

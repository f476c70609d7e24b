// Agentlens turns the logs of software-engineering agents into a versioned, queryable
// dataset of how they worked.
//
// Exit codes: 0 done, 1 failure, 2 usage, 3 done but some records were refused; 130, 143 and
// 129 when SIGINT, SIGTERM or SIGHUP ended it.
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/bench"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/terminal"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func main() {
	limitsAreErrors()
	_ = output.Sweep(os.TempDir()) // what can't be removed must not stop the work
	ctx, stop := untilSignal()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

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
	return end(cmd, err, notes)
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
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkFiles(cmd) }
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newBuild(), newVerify(), newShow(), newVersions(), newDiff(), newSchema(), newSynth(), newStats(), newAnnotate(), newReproduce(), newFigures(),
		newCalibrate(), newAblate(), newBaseline(), newQuery(), newExport(), newCurate(), newPublish(),
		newValidate(), newInspect(), newConvert(), newFetch())
	root.SetFlagErrorFunc(flagError)
	bound(root, spans())
	markUsage(root)
	return root
}

// markUsage makes wrong numbers of arguments usage errors, in all commands below cmd.
func markUsage(cmd *cobra.Command) {
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, a []string) error {
			if err := args(cmd, a); err != nil {
				return usage.Wrap(err)
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		markUsage(c)
	}
}

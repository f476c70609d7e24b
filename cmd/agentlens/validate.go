package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/atif"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
)

// errInvalid ends validate when a document is not valid.
var errInvalid = errors.New("a document is invalid")

// validated is what validate says about one file.
type validated struct {
	File     string         `json:"file"`
	Valid    bool           `json:"valid"`
	Problems []atif.Problem `json:"problems"`
}

func newValidate() *cobra.Command {
	var asJSON, noFiles bool
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check ATIF documents by the rules of the format",
		Long: `Validate checks trajectories in the Agent Trajectory Interchange Format, v1.0 to v1.7, and
prints every broken rule with the path of the value. What the format's reference validator
refuses is an error. What it lets pass, such as call ids that occur twice or totals that do
not fit, is a warning. Images must be there, in paths relative to the document.

Exit codes: 0 all valid, 1 some invalid or not readable, 2 usage.`,
		Example: `  agentlens validate trajectory.json
  agentlens validate --json runs/*/agent/trajectory.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			results := make([]validated, 0, len(args))
			valid := true
			for _, file := range args {
				data, err := sidefile.Read(cmd.Context(), file)
				if err != nil {
					return err
				}
				opt := atif.Options{Exists: besides(file)}
				if noFiles {
					opt.Exists = nil
				}
				r := validated{File: file, Valid: true, Problems: atif.Validate(data.Data, opt)}
				for _, p := range r.Problems {
					if p.Severity == atif.Error {
						r.Valid, valid = false, false
					}
				}
				results = append(results, r)
			}
			var err error
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), results)
			} else {
				err = writeValidated(cmd.OutOrStdout(), results)
			}
			if err == nil && !valid {
				err = errInvalid
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.Flags().BoolVar(&noFiles, "no-files", false, "do not look for the images, subagents and continuations that a document names")
	return cmd
}

// besides reports whether a path in a document leads to a file.
func besides(document string) func(string) bool {
	return func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(document), path)
		}
		_, err := os.Stat(path)
		return err == nil
	}
}

func writeValidated(w io.Writer, results []validated) error {
	for _, r := range results {
		verdict := "valid"
		if !r.Valid {
			verdict = "invalid"
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", r.File, verdict); err != nil {
			return err
		}
		for _, p := range r.Problems {
			if _, err := fmt.Fprintf(w, "  %s %s: %s (%s)\n", p.Severity, p.Path, p.Message, p.Code); err != nil {
				return err
			}
		}
	}
	return nil
}

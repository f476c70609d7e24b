package bench

import (
	"context"
	"fmt"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
)

// IngestAgain returns the options under which a version's sources give the same runs again.
// It needs the tools file of the build where there was one. Outcomes are not read again: the
// labels file is left out.
func (m *Manifest) IngestAgain(ctx context.Context, toolsFile string) (ingest.Options, error) {
	in := ingest.Options{Format: m.Parameters.Format, KeepPaths: m.Parameters.KeepPaths, AllAttempts: m.Parameters.AllAttempts}
	var files sidefile.Set
	sum, err := files.Digest(ctx, toolsFile)
	if err != nil {
		return in, fmt.Errorf("%w: tools file: %w", ErrUsage, err)
	}
	switch {
	case sum == m.Parameters.ToolsSHA256:
	case sum == "":
		return in, fmt.Errorf("%w: the dataset was built with a tools file of SHA-256 %s; name it with --tools", ErrUsage, m.Parameters.ToolsSHA256)
	default:
		return in, fmt.Errorf("%w: tools file %s is not the one the dataset was built with", ErrUsage, toolsFile)
	}
	in.Tools, err = readTools(ctx, &files, toolsFile)
	return in, err
}

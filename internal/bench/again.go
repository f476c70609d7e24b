package bench

import (
	"context"

	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// IngestAgain returns the options under which a version's sources give the same runs again.
// It needs the tools file of the build where there was one. Outcomes are not read again: the
// labels file is left out.
func (m *Manifest) IngestAgain(ctx context.Context, toolsFile string) (ingest.Options, error) {
	in := ingest.Options{Format: m.Parameters.Format, KeepPaths: m.Parameters.KeepPaths, AllAttempts: m.Parameters.AllAttempts}
	var files sidefile.Set
	sum, err := files.Digest(ctx, toolsFile)
	if err != nil {
		return in, usage.Errorf("", "tools file: %w", err)
	}
	switch {
	case sum == m.Parameters.ToolsSHA256:
	case sum == "":
		return in, usage.Errorf("", "the dataset was built with a tools file of SHA-256 %s; name it with option tools", m.Parameters.ToolsSHA256)
	default:
		return in, usage.Errorf("", "tools file %s is not the one the dataset was built with", toolsFile)
	}
	in.Tools, err = readTools(ctx, &files, toolsFile)
	return in, err
}

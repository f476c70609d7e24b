package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/terminal"
)

// A progress shows a bar on a terminal and stays silent elsewhere.
type progress struct {
	w     io.Writer
	on    bool
	phase string
	bar   *progressbar.ProgressBar
}

func newProgress(w io.Writer) *progress {
	if t, ok := w.(*terminal.Writer); ok && t.Terminal() {
		return &progress{w: t.Controls(), on: true}
	}
	return &progress{}
}

// data returns where a command writes what another program reads, such as CSV: the bytes as
// they are, but on a terminal.
func data(cmd *cobra.Command) io.Writer {
	if t, ok := cmd.OutOrStdout().(*terminal.Writer); ok {
		return t.Data()
	}
	return cmd.OutOrStdout()
}

func (p *progress) report(phase string, done, total int64) {
	if !p.on {
		return
	}
	if p.bar == nil || p.phase != phase {
		p.close()
		p.phase = phase
		if total == 0 {
			total = -1
		}
		opts := []progressbar.Option{
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(phase),
			progressbar.OptionThrottle(100 * time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionShowBytes(phase == "read" || phase == "fetch"),
			progressbar.OptionSetWidth(30),
		}
		p.bar = progressbar.NewOptions64(total, opts...)
	}
	_ = p.bar.Set64(done) // a bar that can't be drawn must not stop the work
}

func (p *progress) close() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress shows a bar on a terminal and stays silent elsewhere.
type progress struct {
	w     io.Writer
	on    bool
	phase string
	bar   *progressbar.ProgressBar
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, on: ok && term.IsTerminal(int(f.Fd()))}
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

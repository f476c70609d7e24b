package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/synth"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

func newSynth() *cobra.Command {
	cfg := synth.Config{}
	var out string
	cmd := &cobra.Command{
		Use:   "synth --out DIR",
		Short: "Write synthetic OpenHands logs, for tests and benchmarks",
		Long: `Synth invents tasks, models and runs and writes raw OpenHands V0 evaluation logs of them:
one output.jsonl per model and run number. The logs are marked synthetic in every
record. The same settings give the same bytes on any machine.`,
		Example: `  agentlens synth --out runs --tasks 6 --models 4 --runs 4
  agentlens synth --out many --tasks 500 --models 8 --runs 25 --shuffle`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usage.Errorf("", "no output folder; name one with --out")
			}
			if err := cfg.Check(); err != nil {
				return usage.Wrap(err)
			}
			if err := writeSynthetic(cmd.Context(), cfg, out); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote %d synthetic runs of %d tasks by %d models to %s\n",
				cfg.Tasks*cfg.Models*cfg.Runs, cfg.Tasks, cfg.Models, out)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "folder to make (required); it does not exist or is empty")
	f.IntVar(&cfg.Tasks, "tasks", 6, "tasks to invent")
	f.IntVar(&cfg.Models, "models", 4, "models to invent")
	f.IntVar(&cfg.Runs, "runs", 4, "runs of each model on each task")
	f.Uint64Var(&cfg.Seed, "seed", 1, "seed; another seed invents other tasks and runs")
	f.BoolVar(&cfg.Shuffle, "shuffle", false, "mix tasks and models instead of writing run by run")
	f.StringVar((*string)(&cfg.Outcomes), "outcomes", string(synth.Inline), "where outcomes are: inline (in each record) or companion (in output.swebench_eval.jsonl)")
	return cmd
}

// openFiles bounds the files that writeSynthetic keeps open.
const openFiles = 12

// writeSynthetic makes the folder out of logs.
func writeSynthetic(ctx context.Context, cfg synth.Config, out string) (err error) {
	folder, err := output.Begin(out, nil)
	if err != nil {
		return err
	}
	defer func() { err = folder.End(err) }()
	w := &fileSet{dir: folder.Root(), open: map[string]*openFile{}}
	if err := errors.Join(synth.Generate(ctx, cfg, w.write), w.close()); err != nil {
		return err
	}
	return folder.CommitBare()
}

// A fileSet appends lines to many files and keeps a bounded number of them open.
type fileSet struct {
	dir  string
	open map[string]*openFile
	age  int
}

type openFile struct {
	f    *os.File
	w    *bufio.Writer
	used int
}

func (s *fileSet) write(name string, line []byte) error {
	o := s.open[name]
	if o == nil {
		if len(s.open) >= openFiles {
			if err := s.closeOldest(); err != nil {
				return err
			}
		}
		path := filepath.Join(s.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		o = &openFile{f: f, w: bufio.NewWriterSize(f, 64<<10)}
		s.open[name] = o
	}
	s.age++
	o.used = s.age
	_, err := o.w.Write(line)
	return err
}

func (s *fileSet) closeOldest() error {
	oldest := ""
	for name, o := range s.open {
		if oldest == "" || o.used < s.open[oldest].used {
			oldest = name
		}
	}
	o := s.open[oldest]
	delete(s.open, oldest)
	return errors.Join(o.w.Flush(), o.f.Close())
}

func (s *fileSet) close() error {
	var err error
	for _, o := range s.open {
		err = errors.Join(err, o.w.Flush(), o.f.Close())
	}
	return err
}

package convert

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/ingest"
	"github.com/agentlens-bench/agentlens/internal/output"
	"github.com/agentlens-bench/agentlens/internal/privacy"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

// Target is a format to write.
type Target string

// The targets.
const (
	ATIF      Target = "atif"
	OpenHands Target = "openhands"
	JSONL     Target = "jsonl"
)

// Targets lists the targets.
func Targets() []Target { return []Target{ATIF, OpenHands, JSONL} }

// RunsName is the file of target JSONL.
const RunsName = "runs.jsonl"

// Fate is what becomes of a field that has no place of its own in the target.
type Fate string

// The fates, worst first.
const (
	Dropped Fate = "dropped" // it is not in the output
	Changed Fate = "changed" // it reads back with another value
	Extra   Fate = "extra"   // it stands in a place for extras, which readers may pass over
)

// Loss counts the values of one field that the target can't carry as they are.
type Loss struct {
	Fate  Fate   `json:"fate"`
	Field string `json:"field"` // such as state.stage
	Count int64  `json:"count"`
	Why   string `json:"why"`
}

// Losses collects losses. The zero value is ready to use.
type Losses struct {
	counts map[Loss]int64 // by a key without Count
}

func (l *Losses) add(fate Fate, field, why string) {
	if l.counts == nil {
		l.counts = map[Loss]int64{}
	}
	l.counts[Loss{Fate: fate, Field: field, Why: why}]++
}

// addIf counts a loss when the value is there.
func (l *Losses) addIf(there bool, fate Fate, field, why string) {
	if there {
		l.add(fate, field, why)
	}
}

// List returns the losses, worst first, then by field.
func (l *Losses) List() []Loss {
	out := make([]Loss, 0, len(l.counts))
	for loss, n := range l.counts {
		loss.Count = n
		out = append(out, loss)
	}
	fates := []Fate{Dropped, Changed, Extra}
	slices.SortFunc(out, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(slices.Index(fates, a.Fate), slices.Index(fates, b.Fate)), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Why, b.Why))
	})
	return out
}

// Report says what was written and what could not be.
type Report struct {
	Target  Target               `json:"target"`
	Out     string               `json:"out"`
	Runs    int64                `json:"runs"`
	Steps   int64                `json:"steps"`
	Files   int64                `json:"files"`
	Losses  []Loss               `json:"losses"`
	Privacy privacy.Counts       `json:"privacy"` // what was replaced, by kind
	Refused []ingest.RecordError `json:"refused"` // see ingest.Refusals
	Records int64                `json:"refused_records"`
}

// Sources reads sources and writes their runs into the new folder out. It fails, and leaves
// nothing, when out exists or the sources hold no readable run; refused records are no error.
func Sources(ctx context.Context, sources []string, opt ingest.Options, target Target, out string) (rep Report, err error) {
	dir, err := output.Begin(out, nil)
	if err != nil {
		return rep, err
	}
	defer func() { err = dir.End(err) }()
	opt.Texts = true
	c, err := corpus.Open(ctx, sources, opt, "")
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()

	rep = Report{Target: target, Out: out, Privacy: c.Input.Privacy, Refused: c.Refused, Records: c.CountRefused()}
	if err := write(ctx, c, dir, &rep); err != nil {
		return rep, err
	}
	return rep, dir.Commit()
}

// write writes all runs of a corpus.
func write(ctx context.Context, c *corpus.Corpus, dir *output.Folder, rep *Report) (err error) {
	var lines *bufio.Writer
	if rep.Target == JSONL {
		path, err := dir.Path(RunsName)
		if err != nil {
			return err
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		lines = bufio.NewWriter(f)
		defer func() { err = errors.Join(err, lines.Flush(), f.Close()) }()
		rep.Files = 1
	}
	var losses Losses
	names := namer{taken: map[string]bool{}, numbers: map[string]int{}}
	for i := range c.Tasks {
		for j := range c.Tasks[i].Runs {
			if err := ctx.Err(); err != nil {
				return err
			}
			t, err := c.Read(&c.Tasks[i].Runs[j])
			if err != nil {
				return err
			}
			rep.Runs++
			for k := range t.States {
				if t.States[k].Log != nil {
					rep.Steps++
				}
			}
			var out []byte
			var name string
			switch rep.Target {
			case ATIF:
				name = names.byID(t.ID)
				out, err = ToATIF(t, &losses).Append(nil)
			case OpenHands:
				name = names.byFolders(t)
				out, err = ToOpenHands(t, &losses)
			case JSONL:
				if out, err = ToLine(t); err == nil {
					_, err = lines.Write(out)
				}
			}
			if err != nil {
				return fmt.Errorf("write run %s: %w", t.ID, err)
			}
			if name != "" {
				rep.Files++
				if err := dir.Write(name, out); err != nil {
					return err
				}
			}
		}
	}
	rep.Losses = losses.List()
	return nil
}

// namer gives runs file names that no other run has, also where case does not count.
type namer struct {
	taken   map[string]bool
	numbers map[string]int
}

func (n *namer) byID(id string) string {
	name := plain(id)
	if n.taken[strings.ToLower(name)] {
		sum := sha256.Sum256([]byte(id))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	n.taken[strings.ToLower(name)] = true
	return name + ".json"
}

// byFolders names a file by model and task, which readers of OpenHands logs take from there.
func (n *namer) byFolders(t *trajectory.Trajectory) string {
	folder := plain(t.Model) + "/" + plain(t.TaskID)
	n.numbers[strings.ToLower(folder)]++
	return fmt.Sprintf("%s/run_%d.json", folder, n.numbers[strings.ToLower(folder)])
}

// plain makes a file name of a text.
func plain(text string) string {
	const longest = 150
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-+@", r):
			return r
		}
		return '_'
	}, text)
	if len(name) > longest {
		sum := sha256.Sum256([]byte(text))
		name = name[:longest] + "-" + hex.EncodeToString(sum[:4])
	}
	if strings.Trim(name, ".") == "" {
		return "_" + name
	}
	return name
}

// steps returns the states that are calls, in order. Requests to the model are none.
func steps(t *trajectory.Trajectory, losses *Losses) []*trajectory.State {
	var out []*trajectory.State
	for _, s := range t.Ordered() {
		switch {
		case s.Log == nil:
			losses.addIf(!s.Initial, Dropped, "state", "it has no call behind it")
		case !s.Actionable():
			losses.add(Dropped, "state", "it is a request to the model, not a call")
		default:
			out = append(out, s)
		}
	}
	return out
}

// response returns what a tool gave back, as far as the source has it.
func response(s *trajectory.State, losses *Losses) string {
	if s.Response == "" && s.ResponsePreview != "" {
		losses.add(Changed, "state.response", "the source has a preview of 500 characters only")
		return s.ResponsePreview
	}
	return s.Response
}

// task returns the text of the task, as far as the source has it.
func task(t *trajectory.Trajectory) string { return cmp.Or(t.Prompt, t.TaskDescription) }

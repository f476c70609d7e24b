package synth

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
)

// Outcomes says where the verdict of the hidden tests is written.
type Outcomes string

// The places.
const (
	Inline    Outcomes = "inline"    // test_result.report of the run's own record
	Companion Outcomes = "companion" // output.swebench_eval.jsonl beside output.jsonl
)

// Config is what to generate: Tasks x Models x Runs records.
type Config struct {
	Tasks, Models, Runs int // each at least 1
	Seed                uint64
	Shuffle             bool     // mix tasks and models instead of writing file by file
	Outcomes            Outcomes // "" is Inline
}

// Limits of a Config: names stay unique and records can be counted.
const (
	MaxTasks   = 9999
	MaxModels  = 2400
	MaxRuns    = 9999
	MaxRecords = 1_000_000_000
)

// Check reports the first setting that can't be used.
func (c Config) Check() error {
	for _, n := range []struct {
		name       string
		value, max int
	}{{"tasks", c.Tasks, MaxTasks}, {"models", c.Models, MaxModels}, {"runs", c.Runs, MaxRuns}} {
		if n.value < 1 || n.value > n.max {
			return fmt.Errorf("%s %d: want 1 to %d", n.name, n.value, n.max)
		}
	}
	if n := int64(c.Tasks) * int64(c.Models) * int64(c.Runs); n > MaxRecords {
		return fmt.Errorf("%d tasks x %d models x %d runs: want at most %d records", c.Tasks, c.Models, c.Runs, MaxRecords)
	}
	switch c.Outcomes {
	case "", Inline, Companion:
		return nil
	}
	return fmt.Errorf("outcomes %q: want %s or %s", c.Outcomes, Inline, Companion)
}

// Sink takes one line of the file with that slash-separated name. line ends in a newline
// and is only valid during the call. An error stops Generate.
type Sink func(name string, line []byte) error

// cachedWorlds bounds the tasks kept while records come in shuffled order.
const cachedWorlds = 256

// Generate writes all records of cfg to w. Files are <model>/run-<nn>/output.jsonl, one run
// of every task each; without Shuffle they come one after the other, tasks in order. It uses one core.
func Generate(ctx context.Context, cfg Config, w Sink) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	total := cfg.Tasks * cfg.Models * cfg.Runs
	stride := 1
	if cfg.Shuffle {
		stride = coprimeStride(total, cfg.Seed)
	}
	models := make([]*model, cfg.Models)
	for i := range models {
		models[i] = newModel(cfg.Seed, i)
	}
	worlds := make([]*world, min(cfg.Tasks, cachedWorlds))
	var rec recorder
	at := 0
	for range total {
		if err := ctx.Err(); err != nil {
			return err
		}
		task, file := at%cfg.Tasks, at/cfg.Tasks
		if at += stride; at >= total {
			at -= total
		}
		slot := &worlds[task%len(worlds)]
		if *slot == nil || (*slot).index != task {
			*slot = newWorld(cfg.Seed, task)
		}
		m, run := file/cfg.Runs, file%cfg.Runs
		rec.record(cfg, *slot, models[m], m, run)
		dir := fmt.Sprintf("%s/run-%02d/", models[m].name, run+1)
		if err := w(dir+"output.jsonl", rec.line); err != nil {
			return err
		}
		if cfg.Outcomes == Companion && len(rec.verdict) > 0 {
			if err := w(dir+"output.swebench_eval.jsonl", rec.verdict); err != nil {
				return err
			}
		}
	}
	return nil
}

// coprimeStride returns a step that visits all of 0..n-1 in an order without visible
// pattern: about 0.62 of n, moved by the seed, without a common factor with n.
func coprimeStride(n int, seed uint64) int {
	step := n/1000*618 + n%1000*618/1000 + int(mix(seed)%uint64(n/20+1))
	for step = max(1, step%n); gcd(step, n) != 1; {
		step = step%n + 1
	}
	return step
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// recorder keeps the buffers of one record at a time.
type recorder struct {
	line    []byte
	verdict []byte // the companion's line, empty when the run was not evaluated
	session session
}

// fate is how the evaluation of a run ended.
type fate int

const (
	resolved fate = iota
	unresolved
	harnessError // the tests could not be run: unknown
	agentCrash   // the runtime went away in the middle: unknown
)

// record writes run number run of model m on w into rec.
func (rec *recorder) record(cfg Config, w *world, m *model, modelIndex, run int) {
	r := newRNG(cfg.Seed, 3, uint64(w.index), uint64(modelIndex), uint64(run))
	old := rec.session
	s := &rec.session
	*s = session{world: w, rng: r, model: m, number: run,
		history: old.history[:0], meta: old.meta, args: old.args, response: old.response, usages: old.usages[:0], text: old.text, created: old.created[:0]}
	if len(s.text) != len(w.files) {
		s.text = make([]string, len(w.files))
	}
	clear(s.text)
	s.style = m.style
	if s.chance(150) {
		s.style.tests = s.below(nTestCommands)
	}
	s.sloppy = s.chance(600)

	b := m.behaviour(r)
	goal := partial
	if s.chance(b.passChance() - w.difficulty) {
		if goal = fixed; s.chance(250) {
			goal = delegated
		}
	} else if b == Thrashing && s.chance(500) {
		goal = buggy
	}
	end := unresolved
	if goal.correct() {
		end = resolved
	}
	s.allowed = maxIterations
	switch {
	case s.chance(20):
		end = harnessError
	case s.chance(20):
		end = agentCrash
		s.allowed = s.between(2, 10)
	}
	s.start()
	s.work(b, goal)
	if end == agentCrash {
		s.trouble = "AgentRuntimeDisconnectedError: the runtime went away (synthetic)"
	}
	s.history = append(s.history, ']')

	patch := s.patch()
	if end == agentCrash {
		patch = ""
	}
	rec.verdict = rec.verdict[:0]
	if end != agentCrash {
		rec.verdict = rec.appendHead(rec.verdict, patch, end, true)
		rec.verdict = append(rec.verdict, `,"instruction":null,"metadata":null,"history":null,"metrics":null,"error":null,"instance":null}`+"\n"...)
	}
	line := rec.appendHead(rec.line[:0], patch, end, cfg.Outcomes != Companion)
	line = append(line, `,"instruction":`...)
	line = appendText(line, w.taskText())
	line = s.appendMetadata(line, cfg.Seed, b, goal)
	line = append(line, `,"history":`...)
	line = append(line, s.history...)
	line = s.appendMetrics(line)
	line = append(line, `,"error":`...)
	if s.trouble == "" {
		line = append(line, "null"...)
	} else {
		line = appendText(line, s.trouble)
	}
	line = append(line, `,"instance":{"repo":"synth/`...)
	line = append(line, w.pkg...)
	line = append(line, `","instance_id":"`...)
	line = append(line, w.id...)
	line = append(line, `","base_commit":"`...)
	line = append(line, w.commit...)
	line = append(line, `","version":"`...)
	line = append(line, w.version...)
	line = append(line, `","problem_statement":`...)
	line = appendText(line, w.title+"\n\n"+w.report)
	line = append(line, `}}`+"\n"...)
	rec.line = line
}

// appendHead appends the id and test_result, with the report when asked and when there is one.
func (rec *recorder) appendHead(b []byte, patch string, end fate, report bool) []byte {
	b = append(b, `{"instance_id":"`...)
	b = append(b, rec.session.id...)
	b = append(b, `","synthetic":true,"test_result":{"git_patch":`...)
	b = appendText(b, patch)
	if report && end != agentCrash {
		b = append(b, `,"report":{"empty_generation":`...)
		b = strconv.AppendBool(b, patch == "")
		b = append(b, `,"resolved":`...)
		b = strconv.AppendBool(b, end == resolved)
		b = append(b, `,"failed_apply_patch":false,"error_eval":`...)
		b = strconv.AppendBool(b, end == harnessError)
		b = append(b, `,"test_timeout":false}`...)
	}
	return append(b, '}')
}

func (s *session) appendMetadata(b []byte, seed uint64, behaviour Behaviour, goal variant) []byte {
	b = append(b, `,"metadata":{"agent_class":"CodeActAgent","llm_config":{"model":"`...)
	b = append(b, s.model.name...)
	b = append(b, `","temperature":0.0,"top_p":1.0},"agent_config":null,"max_iterations":`...)
	b = strconv.AppendInt(b, maxIterations, 10)
	b = append(b, `,"eval_output_dir":"outputs/synthetic/CodeActAgent/`...)
	b = append(b, s.model.name...)
	b = fmt.Appendf(b, "_maxiter_%d_N_synth-run_%d", maxIterations, s.number+1)
	b = append(b, `","start_time":"2025-09-01 08:00:00","git_commit":"`...)
	b = append(b, bytes.Repeat([]byte("0"), 40)...)
	b = append(b, `","dataset":"synthetic","data_split":"test","details":{"generator":"agentlens synth","seed":"`...)
	b = strconv.AppendUint(b, seed, 10)
	b = append(b, `","behaviour":"`...)
	b = append(b, behaviour.String()...)
	b = append(b, `","repair":"`...)
	b = append(b, [...]string{"none", "in_place", "delegated", "partial"}[goal]...)
	return append(b, `"},"condenser_config":{"type":"llm"}}`...)
}

func (s *session) appendMetrics(b []byte) []byte {
	b = append(b, `,"metrics":{`...)
	b = s.appendTotals(b)
	list := func(name string, item func(u *usage)) {
		b = append(b, `,"`...)
		b = append(b, name...)
		b = append(b, `":[`...)
		for i := range s.usages {
			if i > 0 {
				b = append(b, ',')
			}
			item(&s.usages[i])
		}
		b = append(b, ']')
	}
	list("costs", func(u *usage) {
		b = append(b, `{"model":"`...)
		b = append(b, s.model.name...)
		b = append(b, `","cost":`...)
		b = appendMoney(b, u.money)
		b = append(b, '}')
	})
	list("response_latencies", func(u *usage) {
		b = append(b, `{"model":"`...)
		b = append(b, s.model.name...)
		b = append(b, `","latency":`...)
		b = appendMoney(b, u.latency*1e5)
		b = append(b, `,"response_id":"`...)
		b = append(b, u.id...)
		b = append(b, '"', '}')
	})
	list("token_usages", func(u *usage) { b = s.appendUsage(b, u, true) })
	return append(b, '}')
}

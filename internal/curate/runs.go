package curate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/parquetfile"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/store"
	"github.com/agentlens-bench/agentlens/internal/tabular"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// run is what the rules see of a run.
type run struct {
	id, task, model, repo string
	outcome               string
	tier, category        string // "" for none
	unjudged              string // why there is no tier
	score                 *float64
	coherence             *float64
	divergence            *float64
	waste                 *float64
	verified              bool
	steps, tokens         int64
	sha256                string // of the record in the source
	donor                 bool   // of a reference made of held-out runs

	reason, detail string // why it was left out, "" while it is in
}

// load reads the runs of a dataset, sorted by task and id.
func load(ctx context.Context, dir string, r *Rules) ([]*run, error) {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	base := []string{"trajectory_id", "task_id", "model", "outcome", "trajectories.n_states", "trajectories.input_tokens", "trajectories.output_tokens",
		"stages_clean", "source_sha256", r.Score}
	of := []string{r.source.tier, r.source.category, r.source.unjudged, r.source.coherence, r.source.divergence, r.source.waste}
	wanted := slices.DeleteFunc(append(slices.Clone(base), of...), func(s string) bool { return s == "" })
	f, err := tabular.Load(ctx, tabular.Input{Path: dir, Profile: r.source.profile}, wanted)
	if err != nil {
		return nil, err
	}
	column := func(name string) *tabular.Column {
		for _, c := range f.Columns {
			if c.Name == name {
				return c
			}
		}
		return nil
	}
	if c := column(r.Score); !c.Numeric() {
		return nil, usage.Errorf("", "score %s is a column of text", r.Score)
	}
	text := func(name string, i int) string {
		if c := column(name); c != nil {
			return c.Text(i)
		}
		return ""
	}
	number := func(name string, i int) *float64 {
		c := column(name)
		if c == nil || c.Missing(i) {
			return nil
		}
		v := c.Float(i)
		return &v
	}
	whole := func(name string, i int) int64 {
		if v := number(name, i); v != nil {
			return int64(*v)
		}
		return 0
	}
	runs := make([]*run, f.Rows())
	byID := make(map[string]*run, len(runs))
	for i := range runs {
		x := &run{
			id: text("trajectory_id", i), task: text("task_id", i), model: text("model", i), outcome: text("outcome", i),
			tier: text(of[0], i), category: text(of[1], i), unjudged: text(of[2], i),
			score: number(r.Score, i), coherence: number(of[3], i), divergence: number(of[4], i), waste: number(of[5], i),
			steps: whole(base[4], i), tokens: whole(base[5], i) + whole(base[6], i),
			verified: verifiedBy(text("stages_clean", i)), sha256: text("source_sha256", i),
		}
		runs[i], byID[x.id] = x, x
	}
	if r.Decontaminate != "" {
		if err := store.Require(dir, "tasks.repo"); err != nil {
			return nil, err
		}
	}
	if r.Verified && r.verifies != nil {
		if err := store.Require(dir, "signals "+r.verifies.Capabilities().Verified); err != nil {
			return nil, err
		}
	}
	if err := details(ctx, db, r.verifies, byID, runs); err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b *run) int {
		if c := strings.Compare(a.task, b.task); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	return runs, nil
}

// verifiedBy reports whether a strip of stages verifies after its last implementation.
func verifiedBy(stages string) bool {
	last := strings.LastIndexByte(stages, 'I')
	return last >= 0 && strings.IndexByte(stages[last:], 'V') >= 0
}

// details adds repositories, donors, and the verifications of a profile that says them.
func details(ctx context.Context, db *store.DB, verifies profile.Profile, byID map[string]*run, runs []*run) error {
	repos := map[string]string{}
	each := func(query string, take func(id, value string)) error {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, value string
			if err := rows.Scan(&id, &value); err != nil {
				return err
			}
			take(id, value)
		}
		return rows.Err()
	}
	err := each("SELECT task_id, repo FROM tasks WHERE repo IS NOT NULL", func(id, value string) { repos[id] = value })
	if err != nil {
		return err
	}
	for _, x := range runs {
		x.repo = repos[x.task]
	}
	err = each(`SELECT m.trajectory_id, '' FROM pta p JOIN pta_members m ON m.profile = p.profile AND m.pta_id = p.pta_id WHERE p.mode = 'donors'
		UNION SELECT trajectory_id, '' FROM tiers WHERE reason = 'reference_donor'`, func(id, _ string) {
		if x := byID[id]; x != nil {
			x.donor = true
		}
	})
	if err != nil || verifies == nil {
		return err
	}
	return each(fmt.Sprintf("SELECT trajectory_id, CASE WHEN %s > 0 THEN '1' ELSE '' END FROM signals_%s", verifies.Capabilities().Verified, verifies.Name()), func(id, value string) {
		if x := byID[id]; x != nil {
			x.verified = value != ""
		}
	})
}

// action is what a step did, as columns of states. The content of a terminal step is its
// command.
type action struct {
	Run     string  `parquet:"trajectory_id,plain"`
	Tool    *string `parquet:"tool,optional,plain"`
	File    *string `parquet:"file_path,optional,plain"`
	Content *string `parquet:"content_hash,optional,plain"`
}

// actions reads the sequence of actions of every run, each as a hash.
func actions(ctx context.Context, dir string) (map[string][]uint64, error) {
	absent, err := store.Absent(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"states", "states.tool", "states.file_path", "states.content_hash"} {
		if absent[name] {
			return nil, usage.Errorf("", "dedup compares what runs did, and the dataset was published without %s; leave it out, or take the whole dataset", name)
		}
	}
	file, states, err := store.Table(dir, "states", "")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := map[string][]uint64{}
	var id string
	var seq []uint64
	h := fnv.New64a()
	for a, err := range parquetfile.Read[action](states) {
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file.Name(), err)
		}
		if a.Run != id {
			if id != "" {
				out[id] = seq
			}
			id, seq = strings.Clone(a.Run), nil
		}
		if a.Tool == nil {
			continue
		}
		h.Reset()
		for _, part := range [...]*string{a.Tool, a.File, a.Content} {
			if part != nil {
				io.WriteString(h, *part)
			}
			h.Write([]byte{0})
		}
		seq = append(seq, h.Sum64())
	}
	if id != "" {
		out[id] = seq
	}
	return out, nil
}

// shingles are the different stretches of three actions of a sequence, or the whole of a
// shorter one.
func shingles(seq []uint64) map[[3]uint64]bool {
	out := map[[3]uint64]bool{}
	if len(seq) < 3 {
		var s [3]uint64
		copy(s[:], seq)
		out[s] = true
	}
	for i := 0; i+3 <= len(seq); i++ {
		out[[3]uint64(seq[i:i+3])] = true
	}
	return out
}

// similarity is the Jaccard similarity of two sets.
func similarity(a, b map[[3]uint64]bool) float64 {
	both := 0
	for s := range a {
		if b[s] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// share maps a text under a salt to [0, 1), evenly.
func share(salt, text string) float64 {
	return float64(order(salt, text)>>11) / (1 << 53)
}

// order is a number that sorts texts in an order the salt decides.
func order(salt, text string) uint64 {
	sum := sha256.Sum256([]byte(salt + text))
	return binary.BigEndian.Uint64(sum[:])
}

package bench

import (
	"context"
	"reflect"

	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/schema"
)

// A batch is rows of one table, for one profile or for all ("").
type batch struct {
	table   string
	profile string
	rows    any // slice of the table's row struct, nil for none

	references int64 // in the last batch of a task and profile: those that scored runs were judged by
}

// chunkRows bounds the rows that a task in work holds before it hands them on.
const chunkRows = 4096

// A collector gathers the rows of one task and hands them to the writer in chunks. It is
// the profile.Emitter of the profile in turn.
type collector struct {
	ctx     context.Context
	out     chan<- []batch
	profile string
	held    int
	used    map[string]bool // references of the profile's scored runs

	trajectories []schema.Trajectory
	states       []schema.State

	ptas    []schema.PTA
	members []schema.PTAMember
	nodes   []schema.PTANode
	edges   []schema.PTAEdge
	paths   []schema.PTAPath

	features    []schema.Features
	signals     []any
	alignments  []schema.Alignment
	divergences []schema.Divergence
	waste       []schema.Waste
	toolWaste   []schema.ToolWaste
	tiers       []schema.Tier
}

func (c *collector) run(r *corpus.Labelled, obs Observations) error {
	c.trajectories = append(c.trajectories, trajectoryRow(r))
	for i := range r.States {
		c.states = append(c.states, stateRow(r, i, obs))
	}
	return c.added(1 + len(r.States))
}

// Reference implements profile.Emitter.
func (c *collector) Reference(r profile.ReferenceRows) error {
	c.ptas = append(c.ptas, r.PTA)
	c.members = append(c.members, r.Members...)
	c.nodes = append(c.nodes, r.Nodes...)
	c.edges = append(c.edges, r.Edges...)
	c.paths = append(c.paths, r.Paths...)
	return c.added(1 + len(r.Members) + len(r.Nodes) + len(r.Edges) + len(r.Paths))
}

// Run implements profile.Emitter.
func (c *collector) Run(r profile.RunRows) error {
	if r.Reference != "" {
		if c.used == nil {
			c.used = map[string]bool{}
		}
		c.used[r.Reference] = true
	}
	if r.Features != nil {
		c.features = append(c.features, *r.Features)
	}
	if r.Signals != nil {
		c.signals = append(c.signals, r.Signals)
	}
	c.alignments = append(c.alignments, r.Alignments...)
	c.divergences = append(c.divergences, r.Divergences...)
	c.waste = append(c.waste, r.Waste...)
	c.toolWaste = append(c.toolWaste, r.ToolWaste...)
	c.tiers = append(c.tiers, r.Tier)
	return c.added(2 + len(r.Alignments) + len(r.Divergences) + len(r.Waste) + len(r.ToolWaste))
}

func (c *collector) added(rows int) error {
	if c.held += rows; c.held < chunkRows {
		return nil
	}
	return c.flush()
}

// end hands on all that is left of a profile.
func (c *collector) end() error {
	n := int64(len(c.used))
	clear(c.used)
	return c.send([]batch{{profile: c.profile, references: n}})
}

// flush hands on what is held.
func (c *collector) flush() error { return c.send(nil) }

func (c *collector) send(bs []batch) error {
	bs = take(bs, "trajectories", "", &c.trajectories)
	bs = take(bs, "states", "", &c.states)
	bs = take(bs, "pta", c.profile, &c.ptas)
	bs = take(bs, "pta_members", c.profile, &c.members)
	bs = take(bs, "pta_nodes", c.profile, &c.nodes)
	bs = take(bs, "pta_edges", c.profile, &c.edges)
	bs = take(bs, "pta_paths", c.profile, &c.paths)
	bs = take(bs, "features", c.profile, &c.features)
	if len(c.signals) > 0 {
		bs = append(bs, batch{table: "signals", profile: c.profile, rows: typed(c.signals)})
		c.signals = nil
	}
	bs = take(bs, "alignments", c.profile, &c.alignments)
	bs = take(bs, "divergences", c.profile, &c.divergences)
	bs = take(bs, "waste", c.profile, &c.waste)
	bs = take(bs, "tool_waste", c.profile, &c.toolWaste)
	bs = take(bs, "tiers", c.profile, &c.tiers)
	c.held = 0
	if len(bs) == 0 {
		return nil
	}
	select {
	case c.out <- bs:
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

func take[T any](bs []batch, table, profile string, rows *[]T) []batch {
	if len(*rows) == 0 {
		return bs
	}
	bs = append(bs, batch{table: table, profile: profile, rows: *rows})
	*rows = nil
	return bs
}

// typed turns pointers to one row struct into a slice of that struct.
func typed(pointers []any) any {
	row := reflect.TypeOf(pointers[0]).Elem()
	out := reflect.MakeSlice(reflect.SliceOf(row), len(pointers), len(pointers))
	for i, p := range pointers {
		out.Index(i).Set(reflect.ValueOf(p).Elem())
	}
	return out.Interface()
}

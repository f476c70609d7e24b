package release

import (
	"path"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/ingest/format"
	"github.com/agentlens-bench/agentlens/schema"
)

// merged is the JSON of a merged PTA; of its states only the ids count.
type merged struct {
	States      map[string]struct{} `json:"states"`
	Transitions []struct {
		From string `json:"from_state"`
		To   string `json:"to_state"`
	} `json:"transitions"`
	Metadata struct {
		NumTraces format.OptInt `json:"num_traces"`
		Terminals []string      `json:"real_terminal_ids"`
	} `json:"metadata"`
}

// readReference summarises a merged PTA.
func readReference(rec format.Record) ([]format.Item, error) {
	var m merged
	if err := format.Decode(rec.Data, &m); err != nil {
		return nil, err
	}
	name, ok := strings.CutSuffix(path.Base(rec.File), "_merged_pta.json")
	if !ok || name == "" {
		return nil, &format.RecordError{
			Code:    "no_task",
			Message: "a merged PTA whose file name does not name its task",
			Hint:    "name it <task>_merged_pta.json",
		}
	}
	number := make(map[string]int, len(m.States))
	node := func(id string) int {
		n, ok := number[id]
		if !ok {
			n = len(number)
			number[id] = n
		}
		return n
	}
	for _, t := range m.Transitions {
		node(t.From)
		node(t.To)
	}
	next := make([][]int, len(number))
	parents := make([]map[int]struct{}, len(number))
	for _, t := range m.Transitions {
		from, to := node(t.From), node(t.To)
		next[from] = append(next[from], to)
		if parents[to] == nil {
			parents[to] = map[int]struct{}{}
		}
		parents[to][from] = struct{}{}
	}
	multi := int64(0)
	for _, p := range parents {
		if len(p) > 1 {
			multi++
		}
	}
	terminals := map[string]struct{}{}
	for _, id := range m.Metadata.Terminals {
		terminals[id] = struct{}{}
	}
	return []format.Item{{Reference: &schema.PublishedReference{
		TaskID:       name,
		SourceFile:   rec.File,
		NTraces:      m.Metadata.NumTraces.Value,
		NStates:      int64(len(m.States)),
		NTransitions: int64(len(m.Transitions)),
		NTerminals:   int64(len(terminals)),
		NMultiParent: multi,
		HasCycle:     hasCycle(next),
	}}}, nil
}

// hasCycle peels off nodes without predecessors; what can't be peeled hangs on a cycle.
func hasCycle(next [][]int) bool {
	incoming := make([]int, len(next))
	for _, targets := range next {
		for _, to := range targets {
			incoming[to]++
		}
	}
	var free []int
	for n, in := range incoming {
		if in == 0 {
			free = append(free, n)
		}
	}
	peeled := 0
	for len(free) > 0 {
		n := free[len(free)-1]
		free = free[:len(free)-1]
		peeled++
		for _, to := range next[n] {
			if incoming[to]--; incoming[to] == 0 {
				free = append(free, to)
			}
		}
	}
	return peeled < len(next)
}

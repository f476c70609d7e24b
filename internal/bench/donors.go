package bench

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/agentlens-bench/agentlens/internal/corpus"
	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/sidefile"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// readDonors reads a donors file: tab-separated with a header that names the columns task,
// order and trajectory_id; order is an integer that sorts the donors of a task. Other
// columns are ignored.
func readDonors(ctx context.Context, files *sidefile.Set, path string) (map[string][]string, error) {
	f, err := files.Read(ctx, path)
	if err != nil {
		return nil, usage.Errorf("", "donors file: %w", err)
	}
	r := csv.NewReader(f.Reader())
	r.Comma, r.LazyQuotes = '\t', true
	header, err := r.Read()
	if err != nil {
		return nil, usage.Errorf("", "donors file %s: no header (want task, order, trajectory_id separated by tabs): %w", path, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	task, order, id := slices.Index(header, "task"), slices.Index(header, "order"), slices.Index(header, "trajectory_id")
	if task < 0 || order < 0 || id < 0 {
		return nil, usage.Errorf("", "donors file %s: header is %q, want the columns task, order and trajectory_id", path, header)
	}
	type donor struct {
		order int64
		id    string
	}
	byTask := map[string][]donor{}
	seen := map[string]int{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return nil, usage.Errorf("", "donors file %s: %w", path, err)
		}
		n, err := strconv.ParseInt(row[order], 10, 64)
		if err != nil {
			return nil, usage.Errorf("", "donors file %s line %d: order is %q, want an integer", path, line, row[order])
		}
		if first, ok := seen[row[id]]; ok {
			return nil, usage.Errorf("", "donors file %s line %d: %s is a donor already in line %d; keep the rows of one draw", path, line, row[id], first)
		}
		seen[row[id]] = line
		byTask[row[task]] = append(byTask[row[task]], donor{n, row[id]})
	}
	out := make(map[string][]string, len(byTask))
	for t, ds := range byTask {
		slices.SortStableFunc(ds, func(a, b donor) int { return cmp.Compare(a.order, b.order) })
		for i, d := range ds {
			if i > 0 && ds[i-1].order == d.order {
				return nil, usage.Errorf("", "donors file %s: task %s has order %d twice (%s and %s)", path, t, d.order, ds[i-1].id, d.id)
			}
			out[t] = append(out[t], d.id)
		}
	}
	return out, nil
}

// checkDonors reports donors that the source does not hold, or that did not pass.
func checkDonors(plan profile.Plan, tasks []corpus.Task) error {
	if plan.Donors == nil {
		return nil
	}
	wanted := map[string]string{} // donor -> task
	for t, ids := range plan.Donors {
		if len(ids) < profile.MinReferences {
			return usage.Errorf("", "donors file: task %s has %d donor, want at least %d", t, len(ids), profile.MinReferences)
		}
		for _, id := range ids {
			wanted[id] = t
		}
	}
	var wrong []string
	for _, t := range tasks {
		for _, r := range t.Runs {
			want, ok := wanted[r.ID]
			if !ok {
				continue
			}
			delete(wanted, r.ID)
			switch {
			case want != t.ID:
				wrong = append(wrong, fmt.Sprintf("%s belongs to task %s, not %s", r.ID, t.ID, want))
			case r.Verdict.Outcome != trajectory.Pass:
				wrong = append(wrong, fmt.Sprintf("%s has outcome %s, a donor must have passed", r.ID, r.Verdict.Outcome))
			}
		}
	}
	for id, t := range wanted {
		wrong = append(wrong, fmt.Sprintf("%s (task %s) is not in the source", id, t))
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	more := ""
	if n := len(wrong) - 3; n > 0 {
		wrong, more = wrong[:3], fmt.Sprintf("; and %d more", n)
	}
	return usage.Errorf("", "donors file does not fit the source: %s%s", strings.Join(wrong, "; "), more)
}

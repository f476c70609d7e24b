package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// Resampling says how to draw replicates.
type Resampling struct {
	Resamples int     // number of replicates, at least 2
	Seed      uint64  // same seed, same figures
	Level     float64 // coverage of the interval, such as 0.95
	Workers   int     // goroutines; 0 means one per processor; does not change any figure
}

// DefaultResampling is 10,000 replicates from seed 1 at 95 %.
func DefaultResampling() Resampling {
	return Resampling{Resamples: 10_000, Seed: 1, Level: 0.95}
}

func (r Resampling) check() error {
	if r.Resamples < 2 {
		return invalid("%d resamples; at least 2 are needed", r.Resamples)
	}
	return nil
}

// sampler draws one replicate of a vector of figures; an entry set to NaN is undefined in
// that replicate.
type sampler func(rng *rand.Rand, out []float64) error

// replicate draws r.Resamples replicates of width figures. newSampler is called once per
// worker, so a sampler may own scratch space. Replicate b uses its own random stream. The
// result is columns[figure][replicate].
func (r Resampling) replicate(width int, newSampler func() sampler) ([][]float64, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	columns := make([][]float64, width)
	for k := range columns {
		columns[k] = make([]float64, r.Resamples)
	}
	workers := r.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, r.Resamples)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			sample := newSampler()
			source := rand.NewPCG(0, 0)
			rng := rand.New(source)
			out := make([]float64, width)
			for b := w; b < r.Resamples; b += workers {
				source.Seed(r.Seed, uint64(b)*0x9e3779b97f4a7c15)
				if err := sample(rng, out); err != nil {
					errs[w] = err
					return
				}
				for k, v := range out {
					columns[k][b] = v
				}
			}
		})
	}
	wg.Wait()
	return columns, errors.Join(errs...)
}

// BootstrapResult is a percentile interval with the spread of the replicates.
type BootstrapResult struct {
	Interval  Interval
	SE        float64 // standard deviation of the replicates
	Resamples int     // replicates drawn
	Undefined int     // of these, replicates in which the figure is undefined; they are left out
}

// summarise makes the percentile interval of one column of replicates.
func (r Resampling) summarise(column []float64) (BootstrapResult, error) {
	if err := checkLevel(r.Level); err != nil {
		return BootstrapResult{}, err
	}
	defined := slices.DeleteFunc(slices.Clone(column), math.IsNaN)
	if len(defined) < 2 {
		return BootstrapResult{}, undefined("the figure exists in %d of %d bootstrap replicates", len(defined), len(column))
	}
	slices.Sort(defined)
	_, m2, _, _ := centralMoments(defined)
	return BootstrapResult{
		Interval: Interval{
			Low:   sortedQuantile(defined, (1-r.Level)/2),
			High:  sortedQuantile(defined, (1+r.Level)/2),
			Level: r.Level,
		},
		SE:        math.Sqrt(m2 * float64(len(defined)) / float64(len(defined)-1)),
		Resamples: len(column),
		Undefined: len(column) - len(defined),
	}, nil
}

// Bootstrap returns the percentile interval of a statistic of n independent rows. statistic
// gets the row numbers drawn, with repetitions, in a slice that it must not keep; it is
// called from several goroutines. Replicates whose error wraps [ErrUndefined] are counted
// and left out; any other error ends the run.
func Bootstrap(n int, statistic func(rows []int) (float64, error), r Resampling) (BootstrapResult, error) {
	if n <= 0 {
		return BootstrapResult{}, undefined("no rows")
	}
	return r.bootstrap(func() func(*rand.Rand) []int {
		rows := make([]int, n)
		return func(rng *rand.Rand) []int {
			for i := range rows {
				rows[i] = rng.IntN(n)
			}
			return rows
		}
	}, statistic)
}

// ClusterBootstrap is [Bootstrap] with whole clusters drawn instead of rows: as many clusters
// as there are, with replacement, each with all its rows. It is the interval to use when rows
// of a cluster, such as runs of a task, are alike.
func ClusterBootstrap(cluster []string, statistic func(rows []int) (float64, error), r Resampling) (BootstrapResult, error) {
	if len(cluster) == 0 {
		return BootstrapResult{}, undefined("no rows")
	}
	ids, names := groupIDs(cluster)
	members := make([][]int, len(names))
	for i, id := range ids {
		members[id] = append(members[id], i)
	}
	return r.bootstrap(func() func(*rand.Rand) []int {
		var rows []int
		return func(rng *rand.Rand) []int {
			rows = rows[:0]
			for range members {
				rows = append(rows, members[rng.IntN(len(members))]...)
			}
			return rows
		}
	}, statistic)
}

func (r Resampling) bootstrap(newDraw func() func(*rand.Rand) []int, statistic func([]int) (float64, error)) (BootstrapResult, error) {
	columns, err := r.replicate(1, func() sampler {
		draw := newDraw()
		return func(rng *rand.Rand, out []float64) error {
			v, err := statistic(draw(rng))
			if errors.Is(err, ErrUndefined) {
				v, err = math.NaN(), nil
			}
			out[0] = v
			return err
		}
	})
	if err != nil {
		return BootstrapResult{}, err
	}
	return r.summarise(columns[0])
}

// AUROCBootstrap returns the percentile interval of the pooled AUROC when whole clusters are
// drawn with replacement. Rows are sorted once; a replicate weights them by how often their
// cluster was drawn and takes O(n). Replicates with one class are left out and counted.
func AUROCBootstrap(scores []float64, positive []bool, cluster []string, r Resampling) (BootstrapResult, error) {
	if err := checkLength("scores", len(scores), "cluster names", len(cluster)); err != nil {
		return BootstrapResult{}, err
	}
	if _, _, _, _, err := tieBlocks(scores, positive); err != nil {
		return BootstrapResult{}, err
	}
	ids, names := groupIDs(cluster)
	rows := weightRows(scores, positive, ids, make([]int, len(scores)))
	columns, err := r.replicate(1, func() sampler {
		weight := make([]int32, len(names))
		return func(rng *rand.Rand, out []float64) error {
			drawClusters(rng, weight)
			out[0] = shareOrNaN(weightedWins(rows, weight))
			return nil
		}
	})
	if err != nil {
		return BootstrapResult{}, err
	}
	return r.summarise(columns[0])
}

// drawClusters sets weight to the multiplicities of len(weight) draws with replacement.
func drawClusters(rng *rand.Rand, weight []int32) {
	clear(weight)
	for range weight {
		weight[rng.IntN(len(weight))]++
	}
}

// weightRow is a row in order of (cell, score).
type weightRow struct {
	cluster int32
	pos     bool
	endTie  bool // last row of its score in its cell
	endCell bool // last row of its cell
}

func weightRows(scores []float64, positive []bool, cluster, cell []int) []weightRow {
	order := cellOrder(cell, scores)
	rows := make([]weightRow, len(order))
	for k, i := range order {
		last := k+1 == len(order)
		endCell := last || cell[order[k+1]] != cell[i]
		endTie := endCell || scores[order[k+1]] != scores[i]
		rows[k] = weightRow{int32(cluster[i]), positive[i], endTie, endCell}
	}
	return rows
}

// weightedWins returns twice the wins and the number of pairs inside cells when every row
// occurs as often as its cluster.
func weightedWins(rows []weightRow, weight []int32) (twice, pairs int64) {
	var below, pos, neg, cellPos int64
	for _, r := range rows {
		w := int64(weight[r.cluster])
		if r.pos {
			pos += w
		} else {
			neg += w
		}
		if !r.endTie {
			continue
		}
		twice += pos * (2*below + neg)
		below += neg
		cellPos += pos
		pos, neg = 0, 0
		if r.endCell {
			pairs += cellPos * below
			below, cellPos = 0, 0
		}
	}
	return twice, pairs
}

func shareOrNaN(twice, pairs int64) float64 {
	if pairs == 0 {
		return math.NaN()
	}
	return share(twice, pairs)
}

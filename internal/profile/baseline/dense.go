package baseline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/agentlens-bench/agentlens/internal/profile"
)

// Embed returns one vector per document, all of one length. It is called once per task with
// the steps of all its runs, runs sorted by id.
type Embed func(ctx context.Context, docs []Document) ([][]float64, error)

// Dense compares runs as TFIDF does, by the cosine of the steps' vectors; negative cosines
// count as they are. One score per run, sorted by id.
func Dense(ctx context.Context, task profile.Task, k int, embed Embed) ([]Score, error) {
	t, err := readTexts(ctx, task)
	if err != nil {
		return nil, err
	}
	vectors, err := embed(ctx, t.docs)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", task.ID, err)
	}
	if len(vectors) != len(t.docs) {
		return nil, fmt.Errorf("task %s: %d vectors for %d steps", task.ID, len(vectors), len(t.docs))
	}
	for i, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("task %s: vector %d has %d components, the first has %d", task.ID, i, len(v), len(vectors[0]))
		}
		vectors[i] = unit(v)
	}
	return t.compare(ctx, k, func(i, from int, out []float64) {
		for j := range out {
			dot := 0.0
			for c, x := range vectors[i] {
				dot += float64(x * vectors[from+j][c])
			}
			out[j] = dot
		}
	})
}

// unit returns v scaled to length 1; a zero vector stays.
func unit(v []float64) []float64 {
	squares := 0.0
	for _, x := range v {
		squares += float64(x * x)
	}
	norm := math.Sqrt(squares)
	out := make([]float64, len(v))
	for i, x := range v {
		if norm > 0 {
			out[i] = x / norm
		}
	}
	return out
}

// The truncated decomposition iterates a block a little wider than asked for, a few times.
const (
	oversample = 10
	passes     = 5
)

// LSA returns the offline Embed: the documents' TF-IDF vectors projected on their first dims
// singular directions, by block power iteration from a fixed start.
func LSA(dims int) Embed {
	return func(_ context.Context, docs []Document) ([][]float64, error) {
		if dims < 1 {
			return nil, fmt.Errorf("dense baseline: %d dimensions, want at least 1", dims)
		}
		m := weigh(docs)
		n := len(docs)
		width := min(dims+oversample, n)
		if n == 0 || m.words == 0 {
			return make([][]float64, n), nil
		}
		rng := rand.New(rand.NewPCG(1, 2))
		block := mat.NewDense(n, width, nil)
		for i := range n {
			for c := range width {
				block.Set(i, c, rng.NormFloat64())
			}
		}
		var words *mat.Dense // words x width
		for range passes {
			block = orthonormal(block)
			words = m.transposedTimes(block)
			block = m.times(words)
		}
		block = orthonormal(block)
		words = m.transposedTimes(block)

		// With Q the block, the eigenvectors of (A'Q)'(A'Q) rotate Q to the left singular
		// vectors of A, and its eigenvalues are the squared singular values.
		var gram mat.SymDense
		gram.SymOuterK(1, words.T())
		var eigen mat.EigenSym
		if !eigen.Factorize(&gram, true) {
			return nil, fmt.Errorf("dense baseline: the decomposition of %d steps did not converge", n)
		}
		values := eigen.Values(nil) // ascending
		var vectors, rotated mat.Dense
		eigen.VectorsTo(&vectors)
		rotated.Mul(block, &vectors)
		keep := min(dims, width)
		out := make([][]float64, n)
		for i := range out {
			out[i] = make([]float64, keep)
			for c := range keep {
				k := width - 1 - c
				out[i][c] = rotated.At(i, k) * math.Sqrt(max(0, values[k]))
			}
		}
		return out, nil
	}
}

// orthonormal overwrites the columns of a, which has at least as many rows, with an
// orthonormal basis of them, and returns it.
func orthonormal(a *mat.Dense) *mat.Dense {
	raw := a.RawMatrix()
	tau := make([]float64, raw.Cols)
	size := make([]float64, 1)
	lapack64.Geqrf(raw, tau, size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Geqrf(raw, tau, work, len(work))
	lapack64.Orgqr(raw, tau, size, -1)
	work = make([]float64, int(size[0]))
	lapack64.Orgqr(raw, tau, work, len(work))
	return a
}

// times returns A*b.
func (m matrix) times(b *mat.Dense) *mat.Dense {
	_, width := b.Dims()
	out := mat.NewDense(len(m.rows), width, nil)
	for i, row := range m.rows {
		to := out.RawRowView(i)
		for _, w := range row {
			for c, x := range b.RawRowView(int(w.word)) {
				to[c] += float64(w.value * x)
			}
		}
	}
	return out
}

// transposedTimes returns A'*b.
func (m matrix) transposedTimes(b *mat.Dense) *mat.Dense {
	_, width := b.Dims()
	out := mat.NewDense(m.words, width, nil)
	for i, row := range m.rows {
		from := b.RawRowView(i)
		for _, w := range row {
			to := out.RawRowView(int(w.word))
			for c, x := range from {
				to[c] += float64(w.value * x)
			}
		}
	}
	return out
}

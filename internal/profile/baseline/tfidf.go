package baseline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/profile"
)

// weight is one entry of a sparse vector.
type weight struct {
	word  int32
	value float64
}

// matrix holds one sparse row per document, of unit length or zero.
type matrix struct {
	rows  [][]weight
	words int
}

// TFIDF compares runs by the words of their steps: the harmonic mean of how well the run's
// steps find a similar one in the reference, and the other way round. The corpus is all
// steps of the task. One score per run, sorted by id.
func TFIDF(ctx context.Context, task profile.Task, k int) ([]Score, error) {
	t, err := readTexts(ctx, task)
	if err != nil {
		return nil, err
	}
	m := weigh(t.docs)
	dense := make([]float64, m.words) // document `held`, spread out
	held := -1
	return t.compare(ctx, k, func(i, from int, out []float64) {
		if held != i {
			if held >= 0 {
				for _, w := range m.rows[held] {
					dense[w.word] = 0
				}
			}
			for _, w := range m.rows[i] {
				dense[w.word] = w.value
			}
			held = i
		}
		for j := range out {
			dot := 0.0
			for _, w := range m.rows[from+j] {
				dot += float64(w.value * dense[w.word])
			}
			out[j] = dot
		}
	})
}

// weigh returns (1 + ln tf) * ln((1+N)/(1+df) + 1e-9), rows scaled to unit length.
func weigh(docs []Document) matrix {
	ids := map[string]int32{}
	var df []int
	rows := make([][]weight, len(docs))
	for i, d := range docs {
		tf := map[int32]int{}
		d.words(func(word string) {
			id, ok := ids[word]
			if !ok {
				id = int32(len(ids))
				ids[word] = id
				df = append(df, 0)
			}
			tf[id]++
		})
		rows[i] = make([]weight, 0, len(tf))
		for id, n := range tf {
			df[id]++
			rows[i] = append(rows[i], weight{id, 1 + math.Log(float64(n))})
		}
		slices.SortFunc(rows[i], func(a, b weight) int { return cmp.Compare(a.word, b.word) })
	}
	n := float64(1 + len(docs))
	for _, row := range rows {
		squares := 0.0
		for j := range row {
			row[j].value *= math.Log(n/float64(1+df[row[j].word]) + 1e-9)
			squares += float64(row[j].value * row[j].value)
		}
		if norm := math.Sqrt(squares); norm > 0 {
			for j := range row {
				row[j].value /= norm
			}
		}
	}
	return matrix{rows, len(ids)}
}

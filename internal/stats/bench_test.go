package stats

import (
	"fmt"
	"testing"
)

// benchStudy makes n runs over the given numbers of tasks and models.
func benchStudy(n, tasks, models int) (score []float64, pass []bool, task, model []string) {
	u, v := lcg(11, n), lcg(12, n)
	for i := range n {
		pass = append(pass, v[i] < 0.63)
		s := u[i] * 100
		if pass[i] {
			s += 20
		}
		score = append(score, s)
		task = append(task, fmt.Sprintf("task%02d", i%tasks))
		model = append(model, fmt.Sprintf("model%d", i/tasks%models))
	}
	return score, pass, task, model
}

func BenchmarkDeLong100k(b *testing.B) {
	score, pass, _, _ := benchStudy(100_000, 47, 8)
	for b.Loop() {
		if _, err := DeLong(score, pass); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAUROCBootstrap10k(b *testing.B) {
	score, pass, task, _ := benchStudy(1815, 47, 8)
	for b.Loop() {
		if _, err := AUROCBootstrap(score, pass, task, DefaultResampling()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeparateBootstrap10k(b *testing.B) {
	score, pass, task, model := benchStudy(1815, 47, 8)
	for b.Loop() {
		if _, err := Separate(score, pass, task, model, DefaultResampling()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKSExact(b *testing.B) {
	x, y := lcg(1, 1136), lcg(2, 679)
	for b.Loop() {
		if _, err := KS(x, y, TwoSided, KSExact); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKendall100k(b *testing.B) {
	x, y := lcg(1, 100_000), lcg(2, 100_000)
	for b.Loop() {
		if _, err := Kendall(x, y); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChiSquarePermutation10k(b *testing.B) {
	table := [][]int{{42, 3, 1, 9}, {5, 30, 2, 4}, {1, 2, 19, 4}}
	for b.Loop() {
		if _, err := ChiSquarePermutation(table, DefaultResampling()); err != nil {
			b.Fatal(err)
		}
	}
}

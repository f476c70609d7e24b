package baseline

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/trajectory"
)

func TestWords(t *testing.T) {
	d := Document{Tool: "run_in_terminal", Path: "src/a_b.py", Command: "cd x && 9lives _ Ünï 2x_Y", Text: "b = B2"}
	var got []string
	d.words(func(w string) { got = append(got, w) })
	want := []string{"run_in_terminal", "src", "a_b", "py", "cd", "lives", "x_y", "b2"}
	if !slices.Equal(got, want) {
		t.Errorf("words %q, want %q", got, want)
	}
}

func TestHeadCountsCodePoints(t *testing.T) {
	if got := head(strings.Repeat("é", maxText+5)); got != strings.Repeat("é", maxText) {
		t.Errorf("%d bytes", len(got))
	}
	if got := head("short"); got != "short" {
		t.Errorf("%q", got)
	}
}

func command(id string, outcome trajectory.Outcome, commands ...string) (profile.Run, *trajectory.Trajectory) {
	tr := &trajectory.Trajectory{ID: id, States: []trajectory.State{{Initial: true}}}
	for i, c := range commands {
		tr.States = append(tr.States, trajectory.State{
			Step: int64(i + 1), Tool: "run_in_terminal",
			Log: &trajectory.LogEntry{Kind: "toolCall", Args: trajectory.Args{Command: c}},
		})
	}
	return profile.Run{ID: id, Model: "m", Outcome: outcome}, tr
}

type run struct {
	profile.Run
	trace *trajectory.Trajectory
}

func makeTask(runs ...run) profile.Task {
	task := profile.Task{ID: "t", Load: func(i int) (*trajectory.Trajectory, error) { return runs[i].trace, nil }}
	for _, r := range runs {
		task.Runs = append(task.Runs, r.Run)
	}
	return task
}

func fixture() []run {
	var out []run
	for _, r := range []struct {
		id       string
		outcome  trajectory.Outcome
		commands []string
	}{
		{"a", trajectory.Pass, []string{"grep alpha beta", "pytest tests gamma"}},
		{"b", trajectory.Pass, []string{"sed delta", "python epsilon", "pytest tests"}},
		{"c", trajectory.Fail, []string{"grep alpha beta", "pytest tests gamma"}},
		{"d", trajectory.Pass, []string{"ls zeta"}},
		{"e", trajectory.Unknown, nil},
	} {
		p, trace := command(r.id, r.outcome, r.commands...)
		out = append(out, run{p, trace})
	}
	return out
}

func TestCopiesAreMostSimilar(t *testing.T) {
	scores, err := TFIDF(context.Background(), makeTask(fixture()...), 5)
	if err != nil {
		t.Fatal(err)
	}
	if c := scores[2]; c.Ref != "a" || math.Abs(c.Value-1) > 1e-12 {
		t.Errorf("c copies a, got %+v", c)
	}
	if e := scores[4]; e.Value != 0 || e.Index != 0 {
		t.Errorf("a run without steps is like no other: %+v", e)
	}
	if a := scores[0]; a.Ref == "a" {
		t.Errorf("a is its own reference")
	}
}

func TestTooFewReferences(t *testing.T) {
	scores, err := TFIDF(context.Background(), makeTask(fixture()[:3]...), 5)
	if err != nil {
		t.Fatal(err)
	}
	if scores[0].Index != -1 || scores[2].Ref != "a" {
		t.Errorf("a has one reference, c two: %+v", scores)
	}
}

func TestOrderOfRunsDoesNotMatter(t *testing.T) {
	want, err := TFIDF(context.Background(), makeTask(fixture()...), 2)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		got, err := TFIDF(context.Background(), makeTask(rapid.Permutation(fixture()).Draw(t, "runs")...), 2)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, want %v: %v", got, want, err)
		}
	})
}

// With as many dimensions as steps nothing is cut, so cosines are those of TF-IDF; with
// fewer, the Gram matrix is the best one of that rank.
func TestLSAIsTheTruncatedDecomposition(t *testing.T) {
	words := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "steps")
		docs := make([]Document, n)
		for i := range docs {
			docs[i] = Document{Tool: "x", Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 6).Draw(t, "text"), " ")}
		}
		dims := rapid.IntRange(1, 12).Draw(t, "dims")
		vectors, err := LSA(dims)(context.Background(), docs)
		if err != nil {
			t.Fatal(err)
		}
		m := weigh(docs)
		full := mat.NewDense(n, m.words, nil)
		for i, row := range m.rows {
			for _, w := range row {
				full.Set(i, int(w.word), w.value)
			}
		}
		var svd mat.SVD
		if !svd.Factorize(full, mat.SVDThin) {
			t.Fatal("no decomposition")
		}
		values := svd.Values(nil)
		for c, s := range values {
			norm := 0.0
			for _, v := range vectors {
				if c < len(v) {
					norm += v[c] * v[c]
				}
			}
			if c >= dims {
				s = 0
			}
			if math.Abs(math.Sqrt(norm)-s) > 1e-6 {
				t.Fatalf("direction %d has length %v, singular value %v", c, math.Sqrt(norm), s)
			}
		}
	})
}

func TestDenseRejectsBadVectors(t *testing.T) {
	for name, embed := range map[string]Embed{
		"too few": func(context.Context, []Document) ([][]float64, error) { return nil, nil },
		"ragged": func(_ context.Context, docs []Document) ([][]float64, error) {
			out := make([][]float64, len(docs))
			out[0] = []float64{1}
			return out, nil
		},
	} {
		if _, err := Dense(context.Background(), makeTask(fixture()...), 5, embed); err == nil || !strings.Contains(err.Error(), "task t") {
			t.Errorf("%s: error %v, want one that names the task", name, err)
		}
	}
}

func TestDenseOffline(t *testing.T) {
	scores, err := Dense(context.Background(), makeTask(fixture()...), 5, LSA(3))
	if err != nil {
		t.Fatal(err)
	}
	if c := scores[2]; c.Ref != "a" || math.Abs(c.Value-1) > 1e-9 {
		t.Errorf("c copies a, got %+v", c)
	}
}

package nearest

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	names := []string{"f1_score", "quality_score", "quality_tier", "signals.quality_score", "n_states", "A", "score"}
	for name, want := range map[string]string{
		"qualty_score": "quality_score", "nstates": "n_states", "Score": "score", "SCORE": "score",
		"quality_scroe": "quality_score", "zzz": "",
	} {
		got := Names(name, names)
		if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || got[0] != want) {
			t.Errorf("%s: %v, want %q first", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"abc", "acb", 2}, {"weigths", "weights", 2}} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// Distance is a metric.
func TestDistanceIsAMetric(t *testing.T) {
	word := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		switch ab := Distance(a, b); {
		case (ab == 0) != (a == b):
			t.Fatalf("%d between %q and %q", ab, a, b)
		case ab != Distance(b, a):
			t.Fatalf("%q and %q: %d one way, %d the other", a, b, ab, Distance(b, a))
		case Distance(a, c) > ab+Distance(b, c):
			t.Fatalf("%q is farther from %q than by way of %q", a, c, b)
		}
	})
}

package params

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentlens-bench/agentlens/internal/profile"
	"github.com/agentlens-bench/agentlens/internal/profile/paper"
	"github.com/agentlens-bench/agentlens/internal/profile/process"
	"github.com/agentlens-bench/agentlens/internal/profile/release"
	"github.com/agentlens-bench/agentlens/internal/profile/steps"
)

// profiles are the two with parameters, and one without.
func profiles(p paper.Params, q process.Params) []profile.Profile {
	return []profile.Profile{release.New(), paper.With(p), process.With(q)}
}

func defaults() []profile.Profile { return profiles(paper.DefaultParams(), process.DefaultParams()) }

func TestMissingKeysKeepDefaults(t *testing.T) {
	got := defaults()
	if err := Read(strings.NewReader("paper.weights.coh = 0.2\npaper.weights.temp = 0.45\n[process]\ncuts = {low = 40}\n"), "f.toml", got); err != nil {
		t.Fatal(err)
	}
	p, q := paper.DefaultParams(), process.DefaultParams()
	p.Weights.Coh, p.Weights.Temp = 0.2, 0.45
	q.Cuts.Low = 40
	if want := profiles(p, q); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %+v", got[1], got[2])
	}
	if own := Own(got[1], paper.New()) + "; " + Own(got[2], process.New()) + Own(got[0], release.New()); own != "weights.coh 0.2, weights.temp 0.45; cuts.low 40" {
		t.Error(own)
	}
	got = defaults()
	if err := Read(strings.NewReader("[process]"), "f.toml", got); err != nil || !reflect.DeepEqual(got, defaults()) {
		t.Errorf("%+v: %v", got, err)
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "f.toml: no parameters: want a table [paper] or [process]",
		"[process]\nkk = 5":                  `unknown key "process.kk"; did you mean "process.k"?`,
		"[process.weigths]\na = 1":           `unknown key "process.weigths"; did you mean "process.weights"?`,
		"[paper]\nK = 5":                     `unknown key "paper.K"; did you mean "paper.k"?`,
		"[nonsense]\nx = 1":                  `unknown key "nonsense"; the keys are paper, paper.k,`,
		"[release]\nk = 1":                   "the release profile has no parameters",
		"[paper]\nk = 5\nlabels = 7":         `line 3 (last key "paper.labels"): incompatible types`,
		"[paper.weights]\nstruct = \"much\"": `line 2 (last key "paper.weights.struct"): incompatible types`,
		"[process]\nk = 2.5":                 `line 2 (last key "process.k"): incompatible types`,
		"paper = 3":                          `line 1 (last key "paper"): type mismatch`,
		"[process]\nweights = 3":             `line 2 (last key "process.weights"): type mismatch`,
		"[[paper]]\nk = 3":                   "type mismatch",
		"[paper]\nk = 1":                     "paper profile: k is 1: want a whole number from 2 to 1000",
		"[paper]\nk = 2000000000":            "k is 2000000000: want a whole number from 2 to 1000",
		"[process]\nk = 0":                   "k is 0: want a whole number from 1 to 1000",
		"[paper]\ndraws = 1001":              "draws is 1001: want a whole number from 0 to 1000",
		"[paper]\ndraws = -1":                "draws is -1: want a whole number from 0 to 1000",
		"[process.weights]\na = 16.0":        "weights.a is 16: want a number from 0 to 1",
		"[process.weights]\na = 0.5":         "the weights add up to 0.95, want 1",
		"[paper.weights]\ntemp = -0.1":       "weights.temp is -0.1: want a number from 0 to 1",
		"[paper.cuts]\nideal = inf":          "cuts.ideal is +Inf: want a number from 0 to 100",
		"[process.cuts]\nborderline = -1.0":  "cuts.borderline is -1: want a number from 0 to 100",
		"[process.weights]\na = nan":         "process profile: weights.a is NaN",
		"[process.cuts]\nlow = 99.0":         "process profile: cuts.low is 99, want at most cuts.ideal",
		"[paper]\nk = 5\nk = 6":              "has already been defined",
		"[paper\nk = 5":                      "expected '.' or ']'",
		"#" + strings.Repeat("x", maxBytes):  "this is no profile file",
	} {
		for range 5 {
			err := Read(strings.NewReader(text), "f.toml", defaults())
			if err == nil || !strings.Contains(err.Error(), "profile file f.toml: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40q: %v, want %s", text, err, want)
			}
		}
	}
}

func TestFirstMistakeIsFixed(t *testing.T) {
	text := "[process]\nk = \"x\"\n[process.weights]\na = \"x\"\nf = \"x\"\n[paper]\nk = \"x\""
	for range 50 {
		if err := Read(strings.NewReader(text), "f", defaults()); err == nil || !strings.Contains(err.Error(), "paper.k") {
			t.Fatal(err)
		}
	}
}

// anyShares draws n weights that add up to 1.
func anyShares(t *rapid.T, n int) []float64 {
	shares := make([]float64, n)
	rest := 1.0
	for i := range n - 1 {
		shares[i] = rapid.Float64Range(0, rest).Draw(t, "share")
		rest -= shares[i]
	}
	shares[n-1] = rest
	return shares
}

func anyPaper() *rapid.Generator[paper.Params] {
	return rapid.Custom(func(t *rapid.T) paper.Params {
		w := anyShares(t, 4)
		cut := rapid.Float64Range(0, 100)
		low, high := cut.Draw(t, "solid"), cut.Draw(t, "ideal")
		return paper.Params{
			K:           rapid.IntRange(2, 1000).Draw(t, "k"),
			Labels:      rapid.SampledFrom([]steps.LabelSet{steps.Release, steps.Clean}).Draw(t, "labels"),
			Weights:     paper.Weights{Struct: w[0], Cov: w[1], Coh: w[2], Temp: w[3]},
			Cuts:        paper.Cuts{Ideal: max(low, high), Solid: min(low, high), PartialFail: cut.Draw(t, "partial")},
			Draws:       rapid.IntRange(0, 50).Draw(t, "draws"),
			OtherModels: rapid.Bool().Draw(t, "other"),
		}
	})
}

func anyProcess() *rapid.Generator[process.Params] {
	return rapid.Custom(func(t *rapid.T) process.Params {
		w := anyShares(t, 3)
		cut := rapid.Float64Range(0, 100)
		low, high := cut.Draw(t, "low"), cut.Draw(t, "ideal")
		return process.Params{
			K:       rapid.IntRange(1, 1000).Draw(t, "k"),
			Weights: process.Weights{A: w[0], F: w[1], V: w[2]},
			Cuts:    process.Cuts{Ideal: max(low, high), Low: min(low, high), Borderline: cut.Draw(t, "border")},
		}
	})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := anyPaper().Draw(t, "paper"), anyProcess().Draw(t, "process")
		if rapid.Bool().Draw(t, "default") {
			p = paper.DefaultParams()
		}
		want, got := profiles(p, q), defaults()
		var first, second bytes.Buffer
		if err := Write(&first, want...); err != nil {
			t.Fatal(err)
		}
		text := first.String()
		if err := Read(&first, "f", got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n%+v: %v", text, got, err)
		}
		if err := Write(&second, got...); err != nil || second.String() != text {
			t.Fatalf("%q, then %q: %v", text, second.String(), err)
		}
	})
}

func TestDefaultsFile(t *testing.T) {
	var got bytes.Buffer
	if err := Write(&got, defaults()...); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/defaults.toml")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the defaults are written as\n%s", got.String())
	}
}

func FuzzRead(f *testing.F) {
	f.Add("[paper]\nk = 5\n[process.weights]\na = 0.5")
	f.Add("paper = {k = 3, cuts = {ideal = 70}}")
	f.Add("[release]")
	f.Fuzz(func(t *testing.T, text string) {
		got, again := defaults(), defaults()
		if err := Read(strings.NewReader(text), "f", got); err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, got...); err != nil {
			t.Fatal(err)
		}
		if err := Read(&out, "f", again); err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("%+v, then %+v: %v", got, again, err)
		}
	})
}

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
	if err := Read(strings.NewReader("paper.weights.coh = 1\n[process]\ncuts = {low = 40}\n"), "f.toml", got); err != nil {
		t.Fatal(err)
	}
	p, q := paper.DefaultParams(), process.DefaultParams()
	p.Weights.Coh = 1
	q.Cuts.Low = 40
	if want := profiles(p, q); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %+v", got[1], got[2])
	}
	if own := Own(got[1], paper.New()) + "; " + Own(got[2], process.New()) + Own(got[0], release.New()); own != "weights.coh 1; cuts.low 40" {
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
		"[paper]\nk = 1":                     "paper profile: k is 1, want at least 2",
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

func anyPaper() *rapid.Generator[paper.Params] {
	return rapid.Custom(func(t *rapid.T) paper.Params {
		weight := rapid.Float64Range(0, 1e9)
		cut := rapid.Float64Range(0, 100)
		low, high := cut.Draw(t, "solid"), cut.Draw(t, "ideal")
		return paper.Params{
			K:           rapid.IntRange(2, 1000).Draw(t, "k"),
			Labels:      rapid.SampledFrom([]steps.LabelSet{steps.Release, steps.Clean}).Draw(t, "labels"),
			Weights:     paper.Weights{Struct: weight.Draw(t, "struct"), Cov: weight.Draw(t, "cov"), Coh: weight.Draw(t, "coh"), Temp: 0.1},
			Cuts:        paper.Cuts{Ideal: max(low, high), Solid: min(low, high), PartialFail: cut.Draw(t, "partial")},
			Draws:       rapid.IntRange(0, 50).Draw(t, "draws"),
			OtherModels: rapid.Bool().Draw(t, "other"),
		}
	})
}

func anyProcess() *rapid.Generator[process.Params] {
	return rapid.Custom(func(t *rapid.T) process.Params {
		weight := rapid.Float64Range(1e-12, 1e9)
		cut := rapid.Float64Range(0, 100)
		low, high := cut.Draw(t, "low"), cut.Draw(t, "ideal")
		return process.Params{
			K:       rapid.IntRange(1, 1000).Draw(t, "k"),
			Weights: process.Weights{A: weight.Draw(t, "a"), F: weight.Draw(t, "f"), V: weight.Draw(t, "v")},
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

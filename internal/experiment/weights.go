package experiment

import (
	"fmt"
	"slices"

	"github.com/agentlens-bench/agentlens/internal/stats"
	"github.com/agentlens-bench/agentlens/internal/usage"
)

// Variant is a score with other weights.
type Variant struct {
	Name    string    `json:"name"`
	Weights []float64 `json:"weights"` // by signal, adding up to 1
	Cost    Cost      `json:"cost"`    // of using it instead of the score as built
}

// Cost is how much AUROC is lost; negative where it rises, null where it does not exist.
type Cost struct {
	Micro           *float64 `json:"micro"`
	Macro           *float64 `json:"macro"`
	WithinTask      *float64 `json:"within_task"`
	WithinTaskModel *float64 `json:"within_task_model"`
}

// Ablation compares a score with variants of its weights. Separation has the score as built
// first, then the variants in their order. Where the score is a mean over draws of references,
// the first variant is that of the weights as built without draws, as the other variants are.
type Ablation struct {
	Profile    string     `json:"profile"`
	Signals    []string   `json:"signals"`
	Weights    []float64  `json:"weights"` // as built
	Variants   []Variant  `json:"variants"`
	Separation Separation `json:"separation"`
}

// AblateSignals leaves out one signal at a time, the other weights keeping their
// proportions, and also takes each signal alone (the paper's Tables 3 and 18).
func AblateSignals(d Dataset, sampling stats.Resampling) (Ablation, error) {
	signals := d.Scored()
	var variants []Variant
	for k, s := range signals {
		w := weightsOf(signals)
		w[k] = 0
		if total(w) > 0 {
			variants = append(variants, Variant{Name: "without " + s.Name, Weights: w})
		}
	}
	for k, s := range signals {
		w := make([]float64, len(signals))
		w[k] = 1
		variants = append(variants, Variant{Name: "only " + s.Name, Weights: w})
	}
	return ablate(d, signals, variants, sampling)
}

// AblateWeights moves one weight at a time by step up and down, not below 0, the weights
// then being scaled to their old sum.
func AblateWeights(d Dataset, step float64, sampling stats.Resampling) (Ablation, error) {
	if !(step > 0 && step <= 1) {
		return Ablation{}, usage.Errorf("", "a step of %v for the weights; want a number above 0, at most 1", step)
	}
	signals := d.Scored()
	built := weightsOf(signals)
	sum := total(built)
	var variants []Variant
	for k, s := range signals {
		for _, by := range []float64{-step, step} {
			w := weightsOf(signals)
			w[k] = max(0, w[k]/sum+by)
			for j := range w {
				if j != k {
					w[j] /= sum
				}
			}
			if total(w) > 0 {
				variants = append(variants, Variant{Name: fmt.Sprintf("%s %+.2f", s.Name, by), Weights: w})
			}
		}
	}
	return ablate(d, signals, variants, sampling)
}

func ablate(d Dataset, signals []Signal, variants []Variant, sampling stats.Resampling) (Ablation, error) {
	out := Ablation{Profile: d.Profile.Name(), Weights: normalised(weightsOf(signals)), Variants: variants}
	if d.Drawn { // so that what the draws change is not taken for what a weight changes
		variants = slices.Insert(variants, 0, Variant{Name: "without draws", Weights: weightsOf(signals)})
		out.Variants = variants
	}
	columns := []Column{d.Score}
	for _, s := range signals {
		out.Signals = append(out.Signals, s.Name)
	}
	for i, v := range variants {
		columns = append(columns, mixture(v.Name, signals, v.Weights))
		variants[i].Weights = normalised(v.Weights)
	}
	var err error
	if out.Separation, err = Compare(d.Runs, columns, sampling); err != nil {
		return out, err
	}
	built := out.Separation.Scores[0]
	for i := range variants {
		b := out.Separation.Scores[i+1]
		variants[i].Cost = Cost{
			less(built.Micro, b.Micro), less(built.Macro, b.Macro),
			less(built.WithinTask, b.WithinTask), less(built.WithinTaskModel, b.WithinTaskModel),
		}
	}
	return out, nil
}

func less(a, b Area) *float64 {
	if a.AUROC == nil || b.AUROC == nil {
		return nil
	}
	cost := *a.AUROC - *b.AUROC
	return &cost
}

func weightsOf(signals []Signal) []float64 {
	out := make([]float64, len(signals))
	for i, s := range signals {
		out[i] = s.Weight
	}
	return out
}

func normalised(weights []float64) []float64 {
	sum := total(weights)
	out := make([]float64, len(weights))
	for i, w := range weights {
		out[i] = w / sum
	}
	return out
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

package trajectory

import "fmt"

// Stage is the intent of a step (the paper's section 3; docs/spec/release.md, section 3).
type Stage uint8

// The stages in the order of the work, which is the order transitions are judged by.
// NoStage marks an unlabelled state, such as the initial one.
const (
	NoStage Stage = iota
	Exploration
	Implementation
	Verification
	Orchestration
)

// Stages lists the four stages in order.
func Stages() [4]Stage {
	return [4]Stage{Exploration, Implementation, Verification, Orchestration}
}

// Letter returns 'E', 'I', 'V', 'O', or '-' for NoStage.
func (s Stage) Letter() byte { return "-EIVO"[min(int(s), 4)] }

// String returns the release's word for the stage, "" for NoStage.
func (s Stage) String() string {
	return [...]string{"", "exploration", "implementation", "verification", "orchestration"}[min(int(s), 4)]
}

// ParseStage accepts the release's words and the letters; "" and "-" are NoStage.
func ParseStage(text string) (Stage, error) {
	switch text {
	case "", "-":
		return NoStage, nil
	case "exploration", "E":
		return Exploration, nil
	case "implementation", "I":
		return Implementation, nil
	case "verification", "V":
		return Verification, nil
	case "orchestration", "O":
		return Orchestration, nil
	}
	return NoStage, fmt.Errorf("stage %q: want exploration, implementation, verification, orchestration or empty", text)
}

// Package trajectory is the domain of AgentLens-Bench: one run of a
// software-engineering agent as an ordered list of labelled states.
//
// Invariants:
//
//   - It imports nothing of this module; every other package may import it.
//   - A Trajectory is a value read from a log. States are in file order; State.Step
//     gives the order in time. State 0 is the initial state: it has no tool and no
//     stage.
//   - Absent text is "", as in the release; a missing number is an unset Int.
//   - Outcome has three values. Unknown never enters a pass/fail statistic.
package trajectory

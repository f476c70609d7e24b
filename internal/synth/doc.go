// Package synth invents software-engineering tasks and the raw logs of agents working on
// them, in the shape of an OpenHands V0 evaluation (output.jsonl, flat history).
//
// A task is a small made-up Python package with one bug, several correct repairs and one
// repair that only looks right. A model is a mixture of working habits (Behaviour). A run
// draws a habit, walks through the task with it, and passes or fails with a chance that
// depends on the habit and the task, so process and outcome are related but not the same.
//
// Invariants:
//
//   - A record's bytes depend on (Seed, Outcomes, task, model, run) only: not on the order
//     of records, how many there are, the machine or the Go version. No floating point, no
//     map iteration, no clock.
//   - Every record says that it is synthetic: in its id ("synth__..."), its model
//     ("synthetic-..."), its data set name, its task text and a top-level "synthetic" key.
//   - Events keep the promises of the real format: ids rise, a cause is the id of an earlier
//     action, cumulative metrics equal the sum over distinct model responses.
//   - Memory does not grow with the number of records.
package synth

// Package profile is the seam between a task's runs and the rows of a dataset. A profile
// is a sub-package (release, paper, process): it says which labels, which references, which
// signals, which weights and cuts, and turns one task into assessments.
//
// Invariants:
//
//   - A profile's rows depend on the task's runs and the plan only, never on the order of
//     Task.Runs as the source brought them, the worker count or a map's order.
//   - Runs are assessed one at a time: a profile may hold its references and one
//     candidate, not every run of the task, unless its method needs them all.
//   - Every run of the task gets a Tier row; a run that can't be judged has a reason there.
package profile

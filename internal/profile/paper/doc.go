// Package paper is the profile that computes the paper's method as printed
// (docs/spec/paper.md): Eq. 1 over a reference aligned from the first k other passing runs of the
// task, waste with the patterns of the reference excluded and steps counted once, the point
// of divergence, tiers and Lucky categories.
//
// Invariants:
//
//   - The run's outcome enters no signal and not the score; it decides the wording of the
//     tier and whether the run may be a reference for others.
//   - A run is never part of its own reference. A run whose outcome is unknown is scored,
//     has no tier and is never a reference.
//   - Two label sets give two different scores; one call uses one set for all of a task.
package paper

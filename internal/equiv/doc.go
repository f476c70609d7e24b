// Package equiv decides whether two states stand for the same step of the work.
//
// ReleaseStep.Compare is the cascade of the authors' release (docs/spec/release.md, section
// 4), with all its quirks; StrictStep is the stricter relation of the paper profile.
//
// Invariants:
//
//   - Whatever a comparison needs of one state is worked out once, when the step is made;
//     comparing two steps allocates nothing on the common paths.
//   - Steps are read-only after they were made, apart from their stage, and may be compared
//     from many goroutines.
//   - The release's relation is not symmetric: the first step is the reference's.
package equiv

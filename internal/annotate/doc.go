// Package annotate runs a reliability study of stage labels: it draws a sample of states for
// raters, collects what they say into an annotation set, and measures how far they agree with
// each other and the labelers with them.
//
// An annotation set is a folder of its own. A dataset version is immutable and follows from
// logs alone, annotations come later and from people; so the set names the version it
// belongs to by the SHA-256 of its SHA256SUMS and joins its tables by trajectory_id and step.
// A set is immutable too: more ratings are a new set.
//
// Invariants:
//
//   - A sample follows from the dataset's states, the seed and the options alone, and shows
//     neither labels nor anything named after the outcome: a row has an opaque id, made from
//     trajectory_id and step.
//   - Every rating has a rater, and every rater is a human, a language model or a rule. The
//     labels of the dataset's labelers are ratings by rules.
//   - A set's bytes follow from the dataset and the raters' files, not from the order they
//     are named in.
//   - Nothing is written when a rater's file has a problem, unless problems are allowed; then
//     the rows concerned are left out.
package annotate

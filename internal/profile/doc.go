// Package profile is the seam between a task's runs and the rows of a dataset. A [Profile] is
// one way of judging runs, with its parameters: which labels, which references, which signals,
// which weights and cuts. It turns a task into rows (Assess), names its score (Score), explains
// a stored one (Explain), and says what else it does (Capabilities). Commands ask the value;
// none switches on a profile's name.
//
// A profile is a sub-package, a line in package registry, and a row struct in package schema.
// To add one:
//
//   - schema: a struct SignalsX, and variant[SignalsX]("x") in Tables. The score is one of its
//     columns, or one of features.
//   - profile/x: a type with the methods of Profile. Assess emits a Tier row for every run and,
//     for a scored run, a Features row with quality_score and a pointer to SignalsX. Step
//     features that several profiles use come from steps.Of, which loads them once a task. A
//     profile that compares with no other run leaves Capabilities.References false and emits no
//     reference; it can score every run with steps, whatever the outcome.
//   - Params points to a struct with the defaults. Its toml tags make the profile file, its
//     json tags the manifest, from which a dataset's profile comes back with the parameters it
//     was built with; so a field that is added later must default to what was done before. A
//     tag flag makes a field an option of the command line.
//   - A score that is a weighted sum is also Weighted, and can then be calibrated and ablated.
//   - Explain's points add up to the score. Rounding, or the mean over draws, is a part of its
//     own (UpTo). Where the score is a function of a sum, such as a logistic one, the score
//     less that of the intercept is shared out in proportion to the terms, which adds up and
//     depends on no order.
//   - registry: a line in All, in the order of the tables. Its tests then hold the profile to
//     all this, on the sample and on the release.
//
// Invariants:
//
//   - A profile's rows depend on the task's runs and the plan only, never on the order of
//     Task.Runs as the source brought them, the worker count or a map's order.
//   - Runs are assessed one at a time: a profile may hold its references and one
//     candidate, not every run of the task, unless its method needs them all.
//   - Every run of the task gets a Tier row; a run that can't be judged has a reason there.
//   - There is one score of a profile, and what is shown of it adds up to it.
package profile

// Package taxonomy turns an assessment's numbers into the words of the authors' release:
// tiers by score and outcome, the five-level verdict, the tier of the analysis reports
// (docs/spec/release.md, section 8) and the Lucky categories (the same, section 13).
//
// Invariant: every function depends on its arguments only, and says which rule decided.
package taxonomy

// Package taxonomy turns an assessment's numbers into the words of the authors' release:
// tiers by score and outcome, the five-level verdict, the tier of the analysis reports
// (release profile section 7) and the Lucky categories (paper appendix D.1, with the
// thresholds that reproduce its table 14).
//
// Invariant: every function depends on its arguments only, and says which rule decided.
package taxonomy

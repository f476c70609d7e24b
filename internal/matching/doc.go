// Package matching compares two sequences given only which of their elements match: a
// boolean matrix, one Row of bits per element of the first sequence, one bit per element
// of the second. The relation needs to be neither symmetric nor transitive.
//
// Invariants:
//
//   - A Row has at least Words(m) words and no bit at or above m is set.
//   - Sizes are exact (no heuristic): LCS is the longest pair of strictly increasing index
//     sequences, Matcher finds a maximum bipartite matching.
package matching

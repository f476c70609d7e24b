// Package baseline scores runs the simple ways the paper compares itself with (its Table
// 12; docs/spec/paper.md, section 9): matching with single passing runs, TF-IDF and dense
// vectors of the steps' text.
//
// Invariants:
//
//   - A run is compared with the first k other passing runs of its task in the plain hash
//     order, which is the reference list of the paper profile. The score is the best of
//     them, 0-1.
//   - A run's outcome does not enter its score.
//   - Word numbers, and with them the order of summation, follow the runs sorted by id.
package baseline

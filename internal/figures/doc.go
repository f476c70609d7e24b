// Package figures redraws the paper's figures from a dataset, as SVG and PNG, each with its
// numbers as CSV.
//
// A figure is worked out in two steps: its function turns runs into rows, and the same rows
// are written as CSV and drawn.
//
// Invariants:
//
//   - The bytes depend on the dataset's rows only: no dates, no ids, no order of rows, no
//     processor. Text is measured and rasterised with the Liberation fonts linked into the
//     program; coordinates lie on a grid.
//   - Nothing is told by colour alone. Fills differ in hatching and lightness, lines in dashes,
//     points in shape, and what they stand for is written beside them. Colours are those of
//     Okabe and Ito, which colour-blind readers can tell apart.
//   - Texts do not overlap and are not cut, whatever the data.
//   - A figure says in its title where its values come from. What it leaves out, it counts.
package figures

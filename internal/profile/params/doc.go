// Package params reads and writes profile files: the parameters of profiles as TOML, each under
// a table of the profile's name.
//
// Invariants:
//
//   - A key that no profile has is an error; a key that is left out keeps its default. What
//     Read fills passes Validate.
//   - Of several mistakes in a file the same one is reported every time.
//   - Write gives the same bytes for the same parameters, and Read gives them back.
package params

// Package datasets holds the data that comes with the program.
//
// Invariants: what is embedded here is small, reproducible and free to redistribute; each
// folder has a README that says where its content comes from.
package datasets

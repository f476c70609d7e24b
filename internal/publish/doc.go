// Package publish makes the folder that one uploads: a dataset's tables as Parquet files, and
// the documents that tell people and programs what they are.
//
// README.md is a dataset card as Hugging Face reads it, croissant.json is Croissant 1.1,
// datapackage.json a Frictionless data package, CITATION.cff a citation. DATASHEET.md,
// CHANGELOG.md, LICENSE and ATTRIBUTION.md are for people. manifest.json is the dataset's, with
// what was left out, and SHA256SUMS covers everything.
//
// Invariants:
//
//   - The folder is a dataset that every command reads, though it may lack tables and columns
//     of log text, and other columns. A table with all its columns has the row digest of the
//     dataset's; its file is compressed further.
//   - Same dataset, options and previous version: same bytes. The date is a parameter.
//   - Every number in the documents is counted from the dataset.
//   - The version follows from what changed since the previous one: major for values or what is
//     gone, minor for what was added, patch for bytes or documents.
//   - What derives from the AgentLens release stays under its licence and names its authors.
package publish

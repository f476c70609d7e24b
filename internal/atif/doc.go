// Package atif holds documents of the Agent Trajectory Interchange Format as they must be:
// the model that is written, and the check of documents of versions 1.0 to 1.7.
// Reading what people really have is the work of package ingest/atif.
//
// Invariants:
//
//   - Validate reports every problem of a document, in the order of the document, with the
//     path of the value and what is wanted there. One broken rule is one problem.
//   - What the format's reference validator refuses is an error. What it lets pass, although
//     the format's text says otherwise, is a warning.
//   - What Append writes is valid, has no nulls, and depends on the document alone.
package atif

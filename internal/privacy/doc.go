// Package privacy replaces what must not reach a dataset: home directories, the names of
// users and machines that a log states, and secrets of known shapes.
//
// It works on the bytes of a record before any reader parses or cuts them, so that a secret
// can't survive as the half that a preview kept, and no reader can forget a field.
//
// Invariants:
//
//   - A placeholder is a plain word or path: it keeps JSON, shell and file names well formed,
//     and what was equal stays equal.
//   - Scrubbing what was scrubbed changes nothing.
//   - JSON stays JSON: a match never reaches over the end of a string.
//   - Accounts that every machine has (root, user, ubuntu, ...) are no personal names.
//   - A name is replaced as a word only when the log states it as that of a user or machine.
//     The name in a home directory is replaced there and before an @, since it may be a word
//     of the work itself.
//   - Files are known by a path without the home directory in it, so that the folders of one
//     source that differ in nothing else are taken for one.
//   - Passwords without a shape of their own are not found: no list of shapes is complete.
package privacy

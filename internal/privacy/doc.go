// Package privacy replaces what must not reach a dataset: home directories, the names of
// people, accounts and machines that a log states, addresses, and secrets.
//
// A record is scrubbed as a whole before any reader parses or cuts it, so that no reader can
// forget a field and no secret survives as the half that a preview kept. Most of a record is
// only passed over for the words that the rules begin with. Where one stands, or an escape
// that may hide one, the string around it is looked at as it is meant: with its escapes
// undone level by level (JSON in JSON, and the percent signs of URLs), each level with the
// place in the record that its characters came from. What the record's own order hides, such
// as the answer to git config user.name, is found once the run is read (Told).
//
// What counts as private:
//
//   - Tokens with a shape of their own: the table in tokens.go has the providers.
//   - What is called a secret: names that end in password, token, secret, API key and the like,
//     with a value that looks drawn by lot, or, for passwords, one that is no plain word.
//     Templates, references to variables, types, words and fillings such as xxxx stay.
//   - Passwords in URLs, Basic and other Authorization headers, cookies, .netrc, docker logins.
//   - Home directories, owners in listings, prompts, id, who, ps, /etc/passwd, uname.
//   - Addresses of people and the names beside them (git log, Signed-off-by). Addresses of
//     lists, roles and tools (noreply, support, ...bot) stay; so do those at example.com and
//     its kin, unless they are a first and a last name.
//
// Invariants:
//
//   - A placeholder is a plain word or path: it keeps JSON, shell and file names well formed,
//     and what was equal stays equal.
//   - Scrubbing what was scrubbed changes nothing.
//   - JSON stays JSON, also in strings: only whole characters and whole escapes are replaced.
//   - Accounts that every machine has (root, user, ubuntu, ...) are no personal names.
//   - A name is replaced as a word only when the log states it as that of a user or machine.
//     The name in a home directory is replaced there and before an @, since it may be a word
//     of the work itself. A secret known by its name is replaced wherever it stands again.
//   - Files are known by a path without the home directory in it, so that the folders of one
//     source that differ in nothing else are taken for one.
//   - Passwords without a shape of their own, a name or a place are not found: no list is
//     complete.
package privacy

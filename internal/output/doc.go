// Package output is the one way in which this program writes to a disk: folders and files that
// are whole or absent, the temporary places they are made in, and locks.
//
// It promises, of every output, whatever ends the program, a kill or a loss of power included:
//
//   - Whole or absent. An output is made in a temporary folder beside its place and put there in
//     one rename. Who looks sees what was there before or all of the new, on systems that can
//     exchange two folders; elsewhere there is a moment with neither.
//   - Synced in order. The files of an output are flushed, then its folders from the innermost
//     out, then it is renamed, then the folder that it is in is flushed, and those above that
//     were made for it. A command that ended well has its output on the disk.
//   - Nothing foreign is replaced. A folder is replaced on request only, and only when it is an
//     output of the kind that takes its place, holds every file that its SHA256SUMS lists, as
//     listed, and nothing else: no other file, hidden or not, no other folder, no link. It is
//     looked at before the work, after it, and once more after the exchange, which is undone
//     when something changed meanwhile. A file is replaced on request only, and only when its
//     beginning says that this program made it. A link never is.
//   - Nothing is left. A run that fails or is interrupted removes what it made, folders above
//     the output included. What a killed run leaves is a folder named as [Temp] says; the next
//     run of whatever kind removes it when it works in the same parent, and every start of the
//     program does in the system's folder for temporary files. A temporary folder of a process
//     that lives, or may live as far as can be told, stays.
//   - Temporary files with the text of logs ([Spill]) have no name while they are written, where
//     the system can keep such files: a kill leaves nothing. Elsewhere they are in a [Temp].
//   - One at a time. [Lock] serialises processes; a lock ends with its process, and is no file
//     where folders can be locked.
//
// What can't be written is an error with the place and a way out (see [Explain]).
package output

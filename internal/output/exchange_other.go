//go:build !linux

package output

func exchange(a, b string) error { return swap(a, b) }

// renameNew renames a file unless there is one of the new name.
func renameNew(from, to string) error { return linkNew(from, to) }

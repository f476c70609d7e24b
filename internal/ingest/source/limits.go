package source

import "fmt"

// Limits bound what one source may make us hold or expand. Zero means the default.
type Limits struct {
	MaxRecordBytes int64   // one record: a file, or a line of JSON Lines; default 256 MiB
	MaxTotalBytes  int64   // one source, expanded; default 1 TiB
	MaxEntries     int64   // entries of one archive; default 10 million
	MaxRatio       float64 // expanded / compressed bytes of the source and of each stream in it, after the first 64 MiB; default 1,000
}

// ratioFrom is the number of expanded bytes from which the ratio is looked at: small files
// of repeated text compress arbitrarily well and do no harm.
const ratioFrom = 64 << 20

// WithDefaults returns the limits with every zero replaced.
func (l Limits) WithDefaults() Limits {
	if l.MaxRecordBytes == 0 {
		l.MaxRecordBytes = 256 << 20
	}
	if l.MaxTotalBytes == 0 {
		l.MaxTotalBytes = 1 << 40
	}
	if l.MaxEntries == 0 {
		l.MaxEntries = 10_000_000
	}
	if l.MaxRatio == 0 {
		l.MaxRatio = 1000
	}
	return l
}

// UnsafeError refuses a whole source.
type UnsafeError struct {
	Source string // as the user gave it
	Entry  string // inside it, "" when no single entry is to blame
	Reason string
	Hint   string
}

// Error names source, entry, reason and the way out.
func (e *UnsafeError) Error() string {
	text := e.Source + " is refused: "
	if e.Entry != "" {
		text += fmt.Sprintf("entry %q ", e.Entry)
	}
	text += e.Reason
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

package format

// Parts reads runs that are spread over several records, such as a folder with one file
// per event, or a file and its continuations. The records of a source come in any order;
// each is noted as it comes, and when the source has ended the notes are sorted into runs.
//
// The caller keeps the bytes of the records until then, in memory or in a temporary file,
// and reads one run at a time: what grows with a source is one note per record.
type Parts struct {
	// Note returns what is needed of a record to find its run. It is called from many
	// goroutines at once. An error refuses the record.
	Note func(Record) (Note, error)

	// Plan sorts the records of a source into runs. They come sorted by file and line.
	// Records that no run takes are passed over and counted.
	Plan func([]Part) []Run
}

// Note is what is known of one record until the end of its source.
type Note struct {
	Value any // for Plan

	// Alone marks a record that is a run of its own: it is read at once, with
	// Format.Read, and does not reach Plan.
	Alone bool

	// Informs marks a record that only Plan needs: its bytes are dropped, its note is left.
	Informs bool

	// Slot, when not empty, names records of which only the one with the highest Order is
	// read (of equals, the last by file and line). The bytes of the others are dropped, so
	// that logs which repeat what they said before do not pile up.
	Slot  string
	Order float64

	// Attempt marks slots whose records are runs of their own, such as attempts at one
	// task: a user may ask to keep them all.
	Attempt bool
}

// Part is a record of a source, as Plan sees it.
type Part struct {
	File string
	Line int64
	Note any
	Kept bool // false when only the note is left: another record took its slot, or it informs
}

// Run is a run that a plan found.
type Run struct {
	File  string // the path it is known by: a file, or the folder of its parts
	Line  int64  // 1-based line when it is one line of a file, else 0
	Parts []int  // indices of its records, in the order Read gets them; only kept ones

	// Read is Format.Read for several records. They are valid until it returns.
	Read func([]Record) ([]Item, error)
}

package trajectory

// Ledger says what the log of a run holds and what came of it. What was found is counted by
// a scan of the raw record that knows no format, or by the reader where that saw more.
type Ledger struct {
	Calls   Account // tool calls; read are those that became steps
	Answers Account // of tools; read are those that a call has

	Turns        int64 // messages of the user, the model and the system
	TokenRecords int64 // objects that count tokens
	Verdicts     int64 // values that state an outcome
}

// Account is one entry of a ledger: found is read and skipped, else something was not read.
type Account struct {
	Found   int64
	Read    int64
	Skipped map[string]int64 // by reason; nil for none
}

// Skip counts n that were found and not read for a reason.
func (a *Account) Skip(reason string, n int64) {
	if n <= 0 {
		return
	}
	if a.Skipped == nil {
		a.Skipped = map[string]int64{}
	}
	a.Skipped[reason] += n
}

// SkippedAll returns how many were skipped for whatever reason.
func (a *Account) SkippedAll() int64 {
	var n int64
	for _, of := range a.Skipped {
		n += of
	}
	return n
}

// Unread returns how many were found that were neither read nor skipped.
func (a *Account) Unread() int64 { return max(0, a.Found-a.Read-a.SkippedAll()) }

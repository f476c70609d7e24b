package session

// Pairing binds answers to calls by id and by occurrence, for all readers alike:
//
//   - Of several calls with one id in a turn the first without an answer gets it.
//   - Ids that begin again, as they do after a restart, mean the latest turn that has a call
//     of that id without an answer.
//   - An answer without an id is for the first call of the last turn that waits; so is one
//     with an id that no call has, when that call has none.
//
// A turn is what the model asks for at once: it ends with Turn, and when a call comes after
// an answer. The zero value is ready to use.
type Pairing struct {
	turn     int
	answered bool // since the last call
	calls    []asked
	open     map[string][]int // numbers of calls without an answer, in order
	first    int              // of the last turn
}

type asked struct {
	id   string
	turn int
	done bool
}

// Turn ends a turn: answers without an id are not for its calls any more.
func (p *Pairing) Turn() {
	p.turn++
	p.first, p.answered = len(p.calls), false
}

// Call notes the next call; they are numbered from 0.
func (p *Pairing) Call(id string) {
	if p.answered {
		p.Turn()
	}
	if p.open == nil {
		p.open = map[string][]int{}
	}
	p.open[id] = append(p.open[id], len(p.calls))
	p.calls = append(p.calls, asked{id: id, turn: p.turn})
}

// Len returns the number of calls.
func (p *Pairing) Len() int { return len(p.calls) }

// Done notes that a call was answered.
func (p *Pairing) Done(n int) {
	p.answered = true
	p.settle(n)
}

// settle notes that a call waits for no answer.
func (p *Pairing) settle(n int) {
	c := &p.calls[n]
	if c.done {
		return
	}
	c.done = true
	open := p.open[c.id]
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] == n {
			p.open[c.id] = append(open[:i], open[i+1:]...)
			return
		}
	}
}

// Waiting returns the first call of the last turn without an answer, -1 for none.
func (p *Pairing) Waiting() int {
	for ; p.first < len(p.calls); p.first++ {
		if !p.calls[p.first].done {
			return p.first
		}
	}
	return -1
}

// Answer returns the call that an answer is for and notes that it has it; -1 when no call
// waits for it. known says that there was a call of that id.
func (p *Pairing) Answer(id string) (n int, known bool) {
	if id == "" {
		if n = p.Waiting(); n >= 0 {
			p.Done(n)
		}
		return n, n >= 0
	}
	open, known := p.open[id]
	if len(open) == 0 {
		if n = p.Waiting(); !known && n >= 0 && p.calls[n].id == "" {
			p.Done(n)
			return n, true
		}
		return -1, known
	}
	at := len(open) - 1
	for at > 0 && p.calls[open[at-1]].turn == p.calls[open[at]].turn {
		at--
	}
	n = open[at]
	p.Done(n)
	return n, true
}

// Drop takes back the calls from a number on.
func (p *Pairing) Drop(from int) {
	for n := len(p.calls) - 1; n >= from; n-- {
		c := &p.calls[n]
		if open := p.open[c.id]; len(open) > 0 && open[len(open)-1] == n {
			p.open[c.id] = open[:len(open)-1]
		}
	}
	p.calls = p.calls[:from]
	p.first = min(p.first, from)
}

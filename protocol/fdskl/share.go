package fdskl

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Partner is the schedule of one of several active workers, each of whom has the
// coefficients of its own directions (the paper's Lambda^l): f is the sum of all
// active workers' parts.
type Partner interface {
	Schedule
	// Share returns this worker's part of f at the rows of another one's request
	// (Algorithm 2), or the request that must be answered first; then it is
	// called again. A part that is returned belongs to one iteration of the other
	// worker.
	Share(rows []int) (values []float64, missing Request, complete bool)
	// Shares takes the sum of all others' parts at the rows of the last request
	// that Next returned, once that is answered; the iteration is complete.
	Shares(sum []float64)
}

// maxShared bounds the rows at which parts of f are asked for at once.
const maxShared = protocol.MaxChunkBytes / 8

// turns is where an active worker stands among several.
//
// In turns (the default) one of them makes an iteration, then the next: as if
// there were one, so that results do not depend on timing. Asynchronously all go
// on at once, with parts of f that may be some iterations old; steps should then
// be shorter, gamma over the number of active workers.
type turns struct {
	mine      bool         // the next iteration may begin
	made      uint32       // turns passed so far, by anybody
	done      []bool       // active workers that need no more iterations
	told      bool         // that all are done has been passed on
	iterating uint32       // the counter of the request of the iteration, 0 for none
	parts     [][]float64  // of f, from each active worker
	owed      []owedShares // to others
}

// owedShares are parts of f that another active worker waits for.
type owedShares struct {
	lane     int
	sequence uint32
	rows     []int
}

func (a *Active) alone() bool { return len(a.lanes) == 1 }

// allDone says whether nobody begins an iteration any more.
func (a *Active) allDone() bool { return !slices.Contains(a.turns.done, false) }

// gathered says whether all others' parts of f are here.
func (a *Active) gathered() bool {
	for i, part := range a.turns.parts {
		if part == nil && i != a.mine.index {
			return false
		}
	}
	return true
}

// Round 7, Shares: parts of f, from one active worker to another (line 6 of
// Algorithm 1). They go straight to the one who asks and not through a tree, so
// that it sees each part and not only their sum.
func (a *Active) receiveShares(m protocol.Message) error {
	l, counter := a.laneOf(m)
	from := slices.Index(a.leaders(), m.Sender)
	if !l.own() || from < 0 || from == l.index || a.turns.iterating == 0 || counter != a.turns.iterating || a.turns.parts[from] != nil {
		return stray(m)
	}
	r := wire.NewReader(m.Body)
	part := make([]float64, len(a.turns.parts[l.index]))
	r.Float64s(part)
	for _, v := range part {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return malformed(m, "a part of f that is %v", v)
		}
	}
	if err := r.Close("fdskl: shares"); err != nil {
		return malformed(m, "%w", err)
	}
	a.turns.parts[from] = part
	return nil
}

func (a *Active) leaders() []string { return a.setup.Session.With(protocol.RoleLeader) }

// owe notes that another active worker waits for this one's part.
func (a *Active) owe(l *lane, sequence uint32) {
	if q := l.task.request; q.shares {
		a.turns.owed = append(a.turns.owed, owedShares{l.index, sequence, q.rows(0, q.count())})
	}
}

// pay sends the first part that is owed, or asks for what it needs.
func (a *Active) pay() protocol.Effects {
	o := a.turns.owed[0]
	values, missing, complete := a.schedule.(Partner).Share(o.rows)
	if !complete {
		return a.request(missing)
	}
	a.turns.owed = a.turns.owed[1:]
	var w wire.Writer
	w.Float64s(values)
	m := a.message(&a.lanes[o.lane], a.lanes[o.lane].names[0], roundShares, w.Bytes())
	m.Sequence = o.sequence
	return protocol.Effects{Sync: true, Send: []protocol.Message{m}}
}

// conclude gives the schedule the sum of the others' parts, in the session's
// order, and passes the turn on.
func (a *Active) conclude() protocol.Effects {
	sum := make([]float64, len(a.turns.parts[a.mine.index]))
	for i, part := range a.turns.parts {
		for k := range part {
			if i != a.mine.index {
				sum[k] += part[k]
			}
		}
	}
	a.turns.iterating, a.turns.parts = 0, nil
	a.schedule.(Partner).Shares(sum)
	if a.params.spec.Asynchronous {
		return protocol.Effects{}
	}
	return a.passTurn()
}

// Round 8, Turn: in turns, the right to make the next iteration goes round, with
// the list of who needs no more. Asynchronously it is said once to all by
// whoever needs no more.
func (a *Active) passTurn() protocol.Effects {
	a.turns.mine = false
	a.turns.made++
	next := (a.mine.index + 1) % len(a.lanes)
	return protocol.Effects{Sync: true, Send: []protocol.Message{a.turn(next)}}
}

// turn is the message to another active worker.
func (a *Active) turn(to int) protocol.Message {
	h := a.setup.Session.Header(a.setup.Self, a.leaders()[to], roundTurn, kindOf(roundTurn))
	h.Sequence = a.turns.made
	var w wire.Writer
	for _, d := range a.turns.done {
		w.Bool(d)
	}
	return protocol.Message{Header: h, Body: w.Bytes()}
}

// retire says that this worker needs no more iterations.
func (a *Active) retire() protocol.Effects {
	a.turns.done[a.mine.index] = true
	if !a.params.spec.Asynchronous {
		a.turns.told = a.allDone()
		return a.passTurn()
	}
	e := protocol.Effects{Sync: true}
	for to := range a.lanes {
		if to != a.mine.index {
			e.Send = append(e.Send, a.turn(to))
		}
	}
	return e
}

func (a *Active) receiveTurn(m protocol.Message) (protocol.Effects, error) {
	from, n := slices.Index(a.leaders(), m.Sender), len(a.lanes)
	if from < 0 || from == a.mine.index || a.turns.done[from] && a.params.spec.Asynchronous {
		return protocol.Effects{}, stray(m)
	}
	done := make([]bool, n)
	r := wire.NewReader(m.Body)
	for i := range done {
		done[i] = r.Bool()
	}
	if err := r.Close("fdskl: turn"); err != nil {
		return protocol.Effects{}, malformed(m, "%w", err)
	}
	if a.params.spec.Asynchronous {
		if m.Sequence != 0 || !done[from] {
			return protocol.Effects{}, stray(m)
		}
		a.turns.done[from] = true
		return protocol.Effects{}, nil
	}
	return a.takeTurn(m, from, done)
}

// takeTurn takes the right to make an iteration, or passes on that nobody needs
// one.
func (a *Active) takeTurn(m protocol.Message, from int, done []bool) (protocol.Effects, error) {
	n := len(a.lanes)
	if (from+1)%n != a.mine.index || a.turns.mine || int(m.Sequence)%n != a.mine.index || m.Sequence <= a.turns.made {
		return protocol.Effects{}, stray(m)
	}
	for i, d := range a.turns.done {
		if d && !done[i] {
			return protocol.Effects{}, stray(m)
		}
	}
	a.turns.done, a.turns.made = done, m.Sequence
	if !a.allDone() {
		a.turns.mine = true
		return protocol.Effects{}, nil
	}
	if a.turns.told {
		return protocol.Effects{}, nil
	}
	a.turns.told = true
	return a.passTurn(), nil
}

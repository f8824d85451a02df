package fdskl

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// turns holds the place of an active worker among several.
//
// In turns (the default) one of them makes an iteration, then the next, so that results equal those
// of one worker and do not depend on timing. Asynchronously all work at once, with parts of f that
// may be some iterations old; steps should then be shorter, gamma over the number of active
// workers.
type turns struct {
	mine      bool         // the next iteration may begin
	made      uint32       // turns passed so far, by anybody
	done      []retirement // of each active worker; nil while it needs more iterations
	told      bool         // that all are done has been passed on
	iterating uint32       // the counter of the request of the iteration, 0 for none
	parts     [][]float64  // of f, from each active worker
	owed      []owedShares // to others
}

func (a *Active) alone() bool { return len(a.queues) == 1 }

// retirement is an active worker's signature that it needs no more iterations. Others forward it
// and cannot forge it.
type retirement []byte

// retirementHash returns the hash that the active worker with this index signs.
func retirementHash(id protocol.SessionID, index int) [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/fdskl/done")
	w.Fixed(id[:])
	w.Uint32(uint32(index))
	return sha256.Sum256(w.Bytes())
}

// signRetirement records that this worker needs no more iterations.
func (a *Active) signRetirement() {
	hash := retirementHash(a.setup.Session.ID(), a.mine.index)
	a.turns.done[a.mine.index] = a.identity.Sign(hash[:])
}

var errNotRetired = errors.New("another active worker is said to be done and has not signed it")

// signed refuses a list with a newly retired worker that has not signed.
func (a *Active) signed(done []retirement) error {
	for i, r := range done {
		hash := retirementHash(a.setup.Session.ID(), i)
		if r != nil && !a.turns.retired(i) && !ed25519.Verify(a.identity.Keys[i], hash[:], r) {
			return fmt.Errorf("%s: %w", a.leaders()[i], errNotRetired)
		}
	}
	return nil
}

// retired reports whether the active worker with this index needs no more iterations.
func (t *turns) retired(index int) bool { return t.done[index] != nil }

// allDone reports whether no worker begins iterations any more.
func (a *Active) allDone() bool {
	return !slices.ContainsFunc(a.turns.done, func(r retirement) bool { return r == nil })
}

// Round 8, Turn: in turns, the right to make the next iteration goes round, with the list of the
// workers that have signed that they need no more. Asynchronously, a worker that needs no more
// sends it once to all.
func (a *Active) passTurn() protocol.Effects {
	a.turns.mine = false
	a.turns.made++
	next := (a.mine.index + 1) % len(a.queues)
	return protocol.Effects{Sync: true, Send: []protocol.Message{a.turn(next)}}
}

// turn returns the message to another active worker.
func (a *Active) turn(to int) protocol.Message {
	m := a.setup.Message(a.leaders()[to], roundTurn, kindOf(roundTurn), encodeDone(a.turns.done))
	m.Sequence = a.turns.made
	return m
}

// encodeDone lists which active workers need no more iterations.
func encodeDone(done []retirement) []byte {
	var w wire.Writer
	for _, d := range done {
		w.Bool(d != nil)
		w.Fixed(d)
	}
	return w.Bytes()
}

func decodeDone(b []byte, n int) ([]retirement, error) {
	r := wire.NewReader(b)
	done := make([]retirement, n)
	for i := range done {
		if r.Bool() {
			done[i] = make(retirement, ed25519.SignatureSize)
			r.Fixed(done[i])
		}
	}
	return done, r.Close("fdskl: turn")
}

// retire announces that this worker needs no more iterations.
func (a *Active) retire() protocol.Effects {
	a.signRetirement()
	if !a.params.spec.Asynchronous {
		a.turns.told = a.allDone()
		return a.passTurn()
	}
	e := protocol.Effects{Sync: true}
	for to := range a.queues {
		if to != a.mine.index {
			e.Send = append(e.Send, a.turn(to))
		}
	}
	return e
}

func (a *Active) receiveTurn(m protocol.Message) (protocol.Effects, error) {
	from := slices.Index(a.leaders(), m.Sender)
	if from < 0 || from == a.mine.index || a.turns.retired(from) && a.params.spec.Asynchronous {
		return protocol.Effects{}, m.Unexpected()
	}
	done, err := decodeDone(m.Body, len(a.queues))
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if err := a.signed(done); err != nil {
		return protocol.Effects{}, m.Inconsistent("%w", err)
	}
	if a.params.spec.Asynchronous {
		if m.Sequence != 0 || done[from] == nil {
			return protocol.Effects{}, m.Unexpected()
		}
		a.turns.done[from] = done[from]
		return protocol.Effects{}, nil
	}
	return a.takeTurn(m, from, done)
}

// takeTurn uses the right to make an iteration, or passes it on if this worker needs no more.
func (a *Active) takeTurn(m protocol.Message, from int, done []retirement) (protocol.Effects, error) {
	n := len(a.queues)
	if (from+1)%n != a.mine.index || a.turns.mine || int(m.Sequence)%n != a.mine.index || m.Sequence <= a.turns.made {
		return protocol.Effects{}, m.Unexpected()
	}
	for i := range done { // no retired worker begins again
		if a.turns.retired(i) && done[i] == nil {
			return protocol.Effects{}, m.Unexpected()
		}
	}
	for i := range done { // verified signatures stay, for the next worker to verify
		if !a.turns.retired(i) {
			a.turns.done[i] = done[i]
		}
	}
	a.turns.made = m.Sequence
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

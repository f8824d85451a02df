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

// turns holds the state by which several active workers coordinate their iterations.
//
// By default they take turns: one worker makes an iteration, then the next worker. So the results
// equal those of a single active worker and do not depend on timing. In asynchronous mode all
// workers make iterations at once, with parts of the model function f that can be some iterations
// old. The step size gamma should then be divided by the number of active workers.
type turns struct {
	mayIterate bool         // whether this worker is allowed to begin its next iteration
	made       uint32       // number of turns passed by all workers, as far as this worker knows; 0 in asynchronous mode
	done       []retirement // signed retirement of each active worker; nil if the worker has not retired
	told       bool         // whether this worker has told the next worker that all workers have retired
	iterating  uint32       // counter of the current iteration's request; 0 outside an iteration, and for a single active worker
	parts      [][]float64  // parts of the model function f, one from each active worker
	owed       []owedShares // parts of the model function f that this worker owes to others
}

func (a *Active) alone() bool { return len(a.queues) == 1 }

// retirement is an active worker's signature that it needs no more iterations. Other workers
// forward the signature and cannot forge it.
type retirement []byte

// retirementHash returns the hash that the active worker with the given index signs to retire.
func retirementHash(id protocol.SessionID, index int) [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/fdskl/done")
	w.Fixed(id[:])
	w.Uint32(uint32(index))
	return sha256.Sum256(w.Bytes())
}

// signRetirement signs and records that this worker needs no more iterations.
func (a *Active) signRetirement() {
	hash := retirementHash(a.setup.Session.ID(), a.mine.index)
	a.turns.done[a.mine.index] = a.identity.Sign(hash[:])
}

var errNotRetired = errors.New("the message says that this active worker has retired, but lacks the worker's valid signature")

// checkSigned returns an error if the list names a newly retired worker without that worker's valid
// signature.
func (a *Active) checkSigned(done []retirement) error {
	for i, r := range done {
		hash := retirementHash(a.setup.Session.ID(), i)
		if r != nil && !a.turns.retired(i) && !ed25519.Verify(a.identity.Keys[i], hash[:], r) {
			return fmt.Errorf("%s: %w", a.leaders()[i], errNotRetired)
		}
	}
	return nil
}

// retired reports whether the active worker with the given index needs no more iterations.
func (t *turns) retired(index int) bool { return t.done[index] != nil }

// allDone reports whether all active workers have retired.
func (a *Active) allDone() bool {
	return !slices.ContainsFunc(a.turns.done, func(r retirement) bool { return r == nil })
}

// Round 8, Turn: an active worker passes the right to make the next iteration to the next active
// worker, with the signed retirements so far. In asynchronous mode, a worker that needs no more
// iterations sends the message once to all.
func (a *Active) passTurn() protocol.Effects {
	a.turns.mayIterate = false
	a.turns.made++
	next := (a.mine.index + 1) % len(a.queues)
	return protocol.Effects{Sync: true, Send: []protocol.Message{a.turnMessage(next)}}
}

// turnMessage returns this worker's Turn message to another active worker.
func (a *Active) turnMessage(to int) protocol.Message {
	m := a.setup.Message(a.leaders()[to], roundTurn, kindOf(roundTurn), encodeDone(a.turns.done))
	m.Sequence = a.turns.made
	return m
}

// encodeDone encodes the list of retirements: for each active worker a flag and, if the flag is
// set, the worker's signature.
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

// retire signs and announces that this worker needs no more iterations.
func (a *Active) retire() protocol.Effects {
	a.signRetirement()
	if !a.params.spec.Asynchronous {
		a.turns.told = a.allDone()
		return a.passTurn()
	}
	e := protocol.Effects{Sync: true}
	for to := range a.queues {
		if to != a.mine.index {
			e.Send = append(e.Send, a.turnMessage(to))
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
	if err := a.checkSigned(done); err != nil {
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

// takeTurn accepts the right to make the next iteration. If all workers have retired, it passes the
// list of retirements on once.
func (a *Active) takeTurn(m protocol.Message, from int, done []retirement) (protocol.Effects, error) {
	n := len(a.queues)
	if (from+1)%n != a.mine.index || a.turns.mayIterate || int(m.Sequence)%n != a.mine.index || m.Sequence <= a.turns.made {
		return protocol.Effects{}, m.Unexpected()
	}
	for i := range done { // the list must contain every retirement that this worker knows, because retired workers stay retired
		if a.turns.retired(i) && done[i] == nil {
			return protocol.Effects{}, m.Unexpected()
		}
	}
	for i := range done { // store the new retirements, because this worker must list them in its own Turn message
		if !a.turns.retired(i) {
			a.turns.done[i] = done[i]
		}
	}
	a.turns.made = m.Sequence
	if !a.allDone() {
		a.turns.mayIterate = true
		return protocol.Effects{}, nil
	}
	if a.turns.told {
		return protocol.Effects{}, nil
	}
	a.turns.told = true
	return a.passTurn(), nil
}

package fdskl

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
)

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

func (a *Active) alone() bool { return len(a.lanes) == 1 }

// allDone says whether nobody begins an iteration any more.
func (a *Active) allDone() bool { return !slices.Contains(a.turns.done, false) }

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
	m := a.setup.Message(a.leaders()[to], roundTurn, kindOf(roundTurn), encodeDone(a.turns.done))
	m.Sequence = a.turns.made
	return m
}

// encodeDone lists which active workers need no more iterations.
func encodeDone(done []bool) []byte {
	var w wire.Writer
	for _, d := range done {
		w.Bool(d)
	}
	return w.Bytes()
}

func decodeDone(b []byte, n int) ([]bool, error) {
	r := wire.NewReader(b)
	done := make([]bool, n)
	for i := range done {
		done[i] = r.Bool()
	}
	return done, r.Close("fdskl: turn")
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
	from := slices.Index(a.leaders(), m.Sender)
	if from < 0 || from == a.mine.index || a.turns.done[from] && a.params.spec.Asynchronous {
		return protocol.Effects{}, m.Unexpected()
	}
	done, err := decodeDone(m.Body, len(a.lanes))
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if a.params.spec.Asynchronous {
		if m.Sequence != 0 || !done[from] {
			return protocol.Effects{}, m.Unexpected()
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
		return protocol.Effects{}, m.Unexpected()
	}
	for i, d := range a.turns.done { // nobody begins again, and others do not say when this one is done
		if d && !done[i] || !d && done[i] && i == a.mine.index {
			return protocol.Effects{}, m.Unexpected()
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

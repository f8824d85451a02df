package fdskl

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Partner is the schedule of an active worker in a session with several active workers. Each active
// worker has the coefficients of its own directions (the paper's Lambda^l); the model's function f
// is the sum of all active workers' parts.
type Partner interface {
	Schedule
	// Share returns this worker's part of the model function f at the rows of another active
	// worker's request (Algorithm 2). If this worker first needs more phases, Share returns a
	// request for them, and is called again after the answer. A returned part belongs to one
	// iteration of the other worker.
	Share(rows []int) (values []float64, missing Request, complete bool)
	// Shares receives the sum of all other active workers' parts of the model function f, at the
	// rows of the last request that Next returned. It is called after that request is answered, and
	// completes the iteration.
	Shares(sum []float64)
}

// maxShared is the largest number of rows in a request for parts of the model function f.
const maxShared = protocol.MaxChunkBytes / 8

// owedShares describes parts of the model function f that another active worker has requested and
// this worker has not yet sent.
type owedShares struct {
	requests *requests
	sequence uint32
	request  Request
}

// gathered reports whether the parts of the model function f from all other active workers have
// arrived.
func (a *Active) gathered() bool {
	for i, part := range a.turns.parts {
		if part == nil && i != a.mine.index {
			return false
		}
	}
	return true
}

// Round 7, Shares: an active worker sends its parts of the model function f to another active
// worker (line 6 of Algorithm 1). The parts go directly to the requesting worker and not through a
// tree. So the requesting worker sees each part and not only the sum of all parts.
func (a *Active) receiveShares(m protocol.Message) error {
	l, counter := a.requestsOf(m)
	from := slices.Index(a.leaders(), m.Sender)
	if !l.isOwn() || from < 0 || from == l.index || a.turns.iterating == 0 || counter != a.turns.iterating || a.turns.parts[from] != nil {
		return m.Unexpected()
	}
	part, err := decodeShares(m.Body, len(a.turns.parts[l.index]))
	if err != nil {
		return m.Malformed(err)
	}
	a.turns.parts[from] = part
	return nil
}

func encodeShares(values []float64) []byte {
	var w wire.Writer
	w.Float64s(values)
	return w.Bytes()
}

// decodeShares decodes one worker's part of the model function f: its values at n rows, which must
// be finite.
func decodeShares(b []byte, n int) ([]float64, error) {
	r := wire.NewReader(b)
	values := make([]float64, n)
	r.Float64s(values)
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			r.Fail(fmt.Errorf("the part of the model function f is %v at row %d of the request; it must be finite", v, i))
		}
	}
	return values, r.Close("fdskl: parts of f")
}

func (a *Active) leaders() []string { return a.setup.Session.With(protocol.RoleLeader) }

// recordOwed records that another active worker waits for this worker's part of the model function
// f.
func (a *Active) recordOwed(l *requests, sequence uint32) {
	if q := l.task.request; q.shares {
		l.owed = true
		a.turns.owed = append(a.turns.owed, owedShares{l, sequence, q})
	}
}

// sendOwed answers the oldest open request for a part of the model function f. If this worker lacks
// phases for the answer, it requests the phases first.
func (a *Active) sendOwed() protocol.Effects {
	o := a.turns.owed[0]
	values, missing, complete := a.schedule.(Partner).Share(o.request.rows(0, o.request.rowCount()))
	if !complete {
		return a.sendRequest(missing)
	}
	a.turns.owed, o.requests.owed = a.turns.owed[1:], false
	m := a.message(o.requests, o.requests.names[0], roundShares, encodeShares(values))
	m.Sequence = o.sequence
	return protocol.Effects{Sync: true, Send: []protocol.Message{m}}
}

// conclude ends an iteration. It passes the sum of the other workers' parts of f to the schedule.
// If the active workers take turns, it passes the turn to the next one.
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

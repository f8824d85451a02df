package fdskl

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
)

// rounds is a schedule of several requests, each of which depends on the answer to the last: it
// requests one direction or two.
type rounds struct {
	params Params
	next   int    // direction
	heard  []byte // all answers
}

func (s *rounds) Next() (Request, bool) {
	if s.next >= s.params.Spec().Directions {
		return Request{}, false
	}
	d := Span{s.next, 1}
	if n := len(s.heard); n > 0 && s.heard[n-1]&1 == 1 && d.First+2 <= s.params.Spec().Directions {
		d.Count = 2
	}
	s.next = d.end()
	return Request{Rows: Spans(0, 2, 3, 6), Directions: d}, true
}

func (s *rounds) Answer(rows []int, words []byte) {
	for _, r := range rows {
		s.heard = append(s.heard, byte(r))
	}
	s.heard = append(s.heard, words...)
}

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, mode := range []Mode{Hardened, Paper} {
		protocoltest.Run(t, protocoltest.Protocol{Name: string(mode) + " table", New: func(t testing.TB) protocoltest.Case {
			f := newFederation(t, Spec{Mode: mode, Bits: 16, Rows: 42, Directions: 3}, 4)
			f.chunk = 2 * 3
			return suiteCase(f, f.table, func(s Schedule) []byte { return s.(*Table).Words() })
		}})
		protocoltest.Run(t, protocoltest.Protocol{Name: string(mode) + " rounds", New: func(t testing.TB) protocoltest.Case {
			f := newFederation(t, Spec{Mode: mode, Bits: 8, Topology: Chain, Rows: 7, Directions: 6}, 3)
			f.chunk = 3
			return suiteCase(f, func() Schedule { return &rounds{params: f.params} }, func(s Schedule) []byte { return s.(*rounds).heard })
		}})
	}
}

func suiteCase(f *federation, schedule func() Schedule, result func(Schedule) []byte) protocoltest.Case {
	alone := f.alone(schedule)
	want := result(alone)
	return protocoltest.Case{
		Session: f.session, Nodes: f.nodes(schedule),
		InFlight: f.inFlight(),
		Check: func(_ string, m protocol.Machine) error {
			if a, ok := m.(*Active); ok && !bytes.Equal(result(a.schedule), want) {
				return fmt.Errorf("the answers are %x, want %x", result(a.schedule), want)
			}
			return nil
		},
		// Nobody can verify what a worker says its phases are, and a wrong key
		// spoils the sum as wrong phases do.
		Trusts: func(h protocol.Header) bool {
			return h.Round == roundKeys || h.Round == roundPhases || h.Round == roundMasks
		},
		Runs: 25,
	}
}

// inFlight is a window of words on each edge of each tree, a key from each worker
// to each, a request and a witness.
func (f *federation) inFlight() int64 {
	q := len(f.names)
	words := len(f.params.trees(q)) * window * f.chunk
	return int64(q*(q-1)*keyBytes + (q-1)*(words+signedBytes+4*spanBytes+witnessBytes))
}

// alone answers a schedule with the phases of all workers.
func (f *federation) alone(schedule func() Schedule) Schedule {
	s := schedule()
	for q, more := s.Next(); more; q, more = s.Next() {
		l := newLayout(q, f.params.ring(), f.chunk)
		for chunk := range l.chunks() {
			rows := q.rows(l.span(chunk))
			words := f.sum(rows, q.Directions)
			if f.params.Spec().Mode == Paper {
				f.addPhases(words, q.Directions)
			}
			s.Answer(rows, words)
		}
	}
	return s
}

package secagg

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// few is a session of few clients, for runs by the hundred.
func few(a Adversary) Spec {
	s := spec(a)
	s.Corrupted, s.Dropped = .25, .25
	return s
}

// insecureSparse has a sparse graph among few clients, at the price of all its
// guarantees.
func insecureSparse(a Adversary) Spec {
	s := few(a)
	s.Corrupted, s.Dropped, s.Sigma, s.Eta = .12, .13, 2, 2
	return s
}

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	long := few(Active)
	long.Groups = []Group{{Entries: 65_000, Bound: 1 << 40}, {Entries: 9_000, Bound: 9, Signed: true}}
	for _, tt := range []struct {
		name     string
		spec     Spec
		clients  int
		complete bool
		inFlight int64
		runs     int
	}{
		{"semi-honest", few(SemiHonest), 4, true, 16 << 10, 12},
		{"active", few(Active), 4, true, 16 << 10, 20},
		{"sparse semi-honest", insecureSparse(SemiHonest), 9, false, 32 << 10, 6},
		{"sparse active", insecureSparse(Active), 9, false, 32 << 10, 10},
		{"chunks", long, 4, true, 4 * 2 * protocol.MaxChunkBytes, 2},
	} {
		protocoltest.Run(t, protocoltest.Protocol{Name: tt.name, New: func(t testing.TB) protocoltest.Case {
			c := newCohort(t, tt.spec, tt.clients)
			if d := c.params.Degree(); d.Complete != tt.complete {
				t.Fatalf("degree %+v", d)
			}
			return protocoltest.Case{Session: c.session, Nodes: c.nodes(t), InFlight: tt.inFlight, Runs: tt.runs, Check: c.isSum, Trusts: ownWord}
		}})
	}
}

// ownWord reports whether a lie spoils only the liar's own part: a client's vector is its
// own, and a server that lies about the sharers gets wrong masks and with them a wrong sum.
func ownWord(h protocol.Header) bool { return h.Sender == "server" || h.Kind == kindMasked }

// isSum reports whether the server has the sum of its survivors' vectors.
func (c *cohort) isSum(name string, m protocol.Machine) error {
	s, ok := m.(*Server)
	if !ok {
		return nil
	}
	if len(s.Survivors()) < c.params.Spec().Minimum {
		return fmt.Errorf("a sum of %d vectors", len(s.Survivors()))
	}
	if !slices.EqualFunc(c.plain(s.Survivors()), s.Sums(), slices.Equal) {
		return errors.New("the sum is not the sum")
	}
	return nil
}

// The transcripts fix the bytes on the wire for given seeds: a change in them
// is a new version of the protocol.
func TestTranscripts(t *testing.T) {
	for _, tt := range []struct {
		file     string
		spec     Spec
		clients  int
		schedule sim.Schedule
	}{
		{"active.txt", few(Active), 4, sim.Schedule{}},
		{"semi-honest.txt", few(SemiHonest), 4, sim.Schedule{}},
		{"dropout.txt", few(Active), 4, sim.Schedule{Gone: map[string]int{"c002": afterShares}}},
		{"sparse.txt", insecureSparse(Active), 9, sim.Schedule{Gone: map[string]int{"c004": afterShares}}},
		{"rough.txt", few(Active), 4, sim.Schedule{Seed: 3, Loss: .4, Duplicate: .4, Reorder: 1, MaxDelay: 9, Crash: []sim.Crash{{Node: "server", Event: 9}, {Node: "c001", Event: 3}}}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			c := newCohort(t, tt.spec, tt.clients)
			r := c.run(t, tt.schedule, nil)
			protocoltest.Golden(t, tt.file, r.Transcript()+fmt.Sprintln("sums", r.Outcome("server").Machine.(*Server).Sums()))
		})
	}
}

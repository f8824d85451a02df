package escaped

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name     string
		f        int
		sizes    []int
		inFlight int64
		runs     int
	}{
		{"two", 5, []int{3, 2}, 4096, 100},
		{"three", 5, []int{4, 2, 3}, 8192, 60},
		{"four", 3, []int{1, 2, 2, 1}, 16384, 30},
		// Three chunks a sheet: a window and a step from each party to each.
		{"chunks", 70_000, []int{2, 2}, 4 * (protocoltest.Window + 8) * protocol.MaxChunkBytes, 3},
	} {
		protocoltest.Run(t, protocoltest.Protocol{Name: c.name, New: func(t testing.TB) protocoltest.Case {
			total := 0
			for _, n := range c.sizes {
				total += n
			}
			cfg := session(t, share(randomRows("properties", total, c.f), c.sizes...)...)
			return protocoltest.Case{Session: cfg.Session, Nodes: cfg.Nodes, InFlight: c.inFlight, Runs: c.runs,
				Check: sameAs(mustRun(t, cfg)), Trusts: ownWord}
		}})
	}
}

// ownWord reports whether only the sender can know the body: masks, products, labels.
func ownWord(h protocol.Header) bool { return h.Kind != kindGrant && h.Kind != kindReceipt }

// sameAs compares results bit by bit with the results of an undisturbed run.
func sameAs(undisturbed *sim.Result) func(string, protocol.Machine) error {
	return func(name string, m protocol.Machine) error {
		switch want := undisturbed.Outcome(name).Machine.(type) {
		case *Server:
			got := m.(*Server)
			if !slices.Equal(got.Gram().Data, want.Gram().Data) || !slices.Equal(got.Labels(), want.Labels()) || !slices.Equal(got.Test(), want.Test()) {
				return errors.New("another Gram matrix, other labels or held-out rows")
			}
		case *Party:
			if got := m.(*Party).TotalRows(); got != want.TotalRows() {
				return fmt.Errorf("%d rows in all, want %d", got, want.TotalRows())
			}
		}
		return nil
	}
}

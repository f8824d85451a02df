package secureboost

import (
	"errors"
	"reflect"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
)

func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	// With 36 rows both hosts have splits. More rows take longer, and add no message.
	for _, encryption := range []Encryption{None, Paillier} {
		protocoltest.Run(t, protocoltest.Protocol{Name: string(encryption), New: func(t testing.TB) protocoltest.Case {
			f := newFederation(t, Spec{Encryption: encryption, Rows: 40, Training: 36, Rounds: 2, Depth: 2}, 1, 2, 1)
			want := f.pooled(t)
			_, _, hosts := f.run(t, nil)
			return protocoltest.Case{
				Session: f.session, Nodes: f.nodes(), InFlight: 1 << 17, Runs: 25,
				Check: func(name string, m protocol.Machine) error {
					switch m := m.(type) {
					case *Guest:
						if got := m.learner.(interface{ Scores() []float64 }).Scores(); !reflect.DeepEqual(got, want.Scores()) {
							return errors.New("other scores")
						}
					case *Host:
						for h, host := range hosts {
							if f.names[h+1] == name && !reflect.DeepEqual(m.Splits(), host.Splits()) {
								return errors.New("other splits")
							}
						}
					}
					return nil
				},
				// Columns and gradients are their owner's word. Of a division a host can
				// check its own part.
				Trusts: func(h protocol.Header) bool { return h.Round != roundFinish },
			}
		}})
	}
}

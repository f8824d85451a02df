package protocol_test

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// A reach that this version does not know counts as the greatest.
func TestExposuresAreOrdered(t *testing.T) {
	order := []protocol.Reach{protocol.ReachNone, protocol.ReachPart, protocol.ReachAll, "unknown"}
	for i, a := range order {
		for k, b := range order {
			want := min(i, 2) > min(k, 2)
			if got := (protocol.Exposure{Reach: a}).Exceeds(protocol.Exposure{Reach: b}); got != want {
				t.Errorf("%s exceeds %s: %t", a, b, got)
			}
		}
	}
}

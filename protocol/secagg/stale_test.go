package secagg

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// A timer of an earlier round that runs out while there is work left must not make
// the runner forget that work.
func TestStaleTimersLeaveWorkToDo(t *testing.T) {
	for name, s := range map[string]*Server{
		"messages to send": {round: roundMasked, pending: make([]func() protocol.Message, 1)},
		"masks to remove":  {round: roundUnmask, recovery: &recovery{}},
	} {
		e, err := s.expire(TimerAdvertise)
		if err != nil || !e.Resume {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	if e, err := (&Server{round: roundMasked}).expire(TimerAdvertise); err != nil || e.Resume {
		t.Errorf("nothing to do: %+v, %v", e, err)
	}
}

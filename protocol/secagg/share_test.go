package secagg

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/internal/shamir"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A holder that releases a wrong share is found out when there are more shares
// than the threshold, and the sum is not given out.
func TestPitfall14WrongSharesAreFoundOut(t *testing.T) {
	c := newCrowd(t, spec(Active), 40)
	changed := 0
	r := c.run(t, sim.Schedule{Gone: map[string]int{c.names[9]: afterShares}}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundUnmask && m.Sender == c.names[3] {
			m.Body = bytes.Clone(m.Body)
			m.Body[len(m.Body)-1] ^= 1
			changed++
		}
		return []protocol.Message{m}
	})
	if changed != 1 {
		t.Fatal("nothing was changed")
	}
	if o := r.Outcome("server"); o.End == nil || !errors.Is(o.End.Err, shamir.ErrInconsistent) || o.Machine.(*Server).Sums() != nil {
		t.Errorf("the server ended with %+v", o.End)
	}
}

// Shares that are meant for another holder, or come from another client, do not
// open.
func TestPitfall15SharesNameSenderAndReceiver(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	r, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
		if m.Round != roundShares || m.Receiver != c.names[2] {
			return m
		}
		d, err := decodeDeliveries(m.Body, 5)
		if err != nil {
			t.Fatal(err)
		}
		d.list[0].sealed, d.list[1].sealed = d.list[1].sealed, d.list[0].sealed
		m.Body = d.encode()
		return m
	})
	if _, got := l.released[c.names[2]]; got {
		t.Error("the client answers all the same")
	}
	blames(t, r, c.names[2], "shares that do not open")
}

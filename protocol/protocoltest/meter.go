package protocoltest

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// Meter counts the messages of a session by sender, receiver, round and kind. The zero value has
// counted no messages. Its method Count is for sim.Config.Intercept.
type Meter struct {
	flows map[protocol.Flow]protocol.Flow
}

// Count counts a message and delivers it unchanged.
func (m *Meter) Count(one protocol.Message) []protocol.Message {
	m.add(protocol.Flow{From: one.Sender, To: one.Receiver, Round: one.Round, Kind: one.Kind, Messages: 1, Bytes: int64(len(one.Body))})
	return []protocol.Message{one}
}

func (m *Meter) add(f protocol.Flow) {
	if m.flows == nil {
		m.flows = make(map[protocol.Flow]protocol.Flow)
	}
	key := f
	key.Messages, key.Bytes = 0, 0
	sum := m.flows[key]
	f.Messages, f.Bytes = f.Messages+sum.Messages, f.Bytes+sum.Bytes
	m.flows[key] = f
}

// Check fails the test unless the cost of a session states the counted messages. The function reduce
// can clear fields of a flow that the cost does not state, such as its round; Check then adds up the
// flows that have become alike. If reduce is nil, nothing is cleared.
func (m *Meter) Check(t testing.TB, c protocol.Cost, reduce func(protocol.Flow) protocol.Flow) {
	t.Helper()
	if reduce == nil {
		reduce = func(f protocol.Flow) protocol.Flow { return f }
	}
	var planned, counted Meter
	for _, f := range c.Flows {
		planned.add(reduce(f))
	}
	for _, f := range m.flows {
		counted.add(reduce(f))
	}
	for key, f := range counted.flows {
		if planned.flows[key] != f {
			t.Errorf("%s>%s %d %s: the session has sent %d messages of %d bytes, and its cost states %d of %d", f.From, f.To, f.Round, f.Kind, f.Messages, f.Bytes, planned.flows[key].Messages, planned.flows[key].Bytes)
		}
	}
	for key, f := range planned.flows {
		if _, sent := counted.flows[key]; !sent {
			t.Errorf("%s>%s %d %s: the cost states %d messages, and the session has sent none", f.From, f.To, f.Round, f.Kind, f.Messages)
		}
	}
	if len(counted.flows) == 0 {
		t.Error("the session has sent no messages")
	}
}

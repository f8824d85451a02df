package bench

import (
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// meeting is a session of which all members are in this process, with its traffic.
type meeting struct {
	*memory.Session
	sent map[route]amount
}

// A route leads from one member to another; an amount counts its traffic.
type (
	route  struct{ from, to string }
	amount struct {
		messages int
		bytes    int64 // of bodies
	}
)

func newMeeting(d protocol.Descriptor) meeting {
	m := meeting{memory.New(d), make(map[route]amount)}
	m.Sent = func(message protocol.Message) {
		r := route{message.Sender, message.Receiver}
		m.sent[r] = amount{m.sent[r].messages + 1, m.sent[r].bytes + int64(len(message.Body))}
	}
	return m
}

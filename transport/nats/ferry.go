package nats

import (
	"errors"
	"log/slog"
	"strings"

	natsgo "github.com/nats-io/nats.go"

	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/transport"
)

// Each member's messages reach the queues through a ferry, so that no member delays another.
// Without ferries, messages would wait behind the messages of members that send without waiting for
// answers. The hub receives a member's messages under another subject than the queues have. The
// member's ferry moves them into the queues, one message of each lane at a time. A member that sends faster than
// its ferry fills only the room of its own ferry, and loses the messages beyond this room.

const (
	landed = "mercer.landed."
	// ferryRoom limits the bytes of one member's messages of a lane that wait for its ferry. A member
	// that waits for answers has one message of each session in flight.
	ferryRoom     = 32 << 20
	ferryMessages = 4096
)

// hubSubject returns the hub's subject for a member's subject. It renames only the subjects of
// members' messages.
func hubSubject(subject string) string {
	for _, lane := range transport.Lanes() {
		if rest, sent := strings.CutPrefix(subject, "mercer."+laneWord(lane)+"."); sent {
			return landed + laneWord(lane) + "." + rest
		}
	}
	return subject
}

// ferry moves one member's messages into the receivers' queues.
type ferry struct {
	nc    *natsgo.Conn // separate connection, so that no ferry delays another
	log   *slog.Logger
	lost  *tally.Tally
	names string // the member's name
}

// ferryFor starts a member's ferry and returns its connection.
func ferryFor(s *Server, member string) (*natsgo.Conn, error) {
	f := &ferry{log: s.cfg.Logger, lost: &tally.Tally{}, names: member}
	var err error
	f.nc, err = s.connectHub(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { f.complain(err) })
	if err != nil {
		return nil, err
	}
	for _, lane := range transport.Lanes() {
		sub, err := f.nc.Subscribe(landed+laneWord(lane)+"."+member+".*", f.carry)
		if err == nil {
			err = sub.SetPendingLimits(ferryMessages, ferryRoom)
		}
		if err != nil {
			f.nc.Close()
			return nil, err
		}
	}
	return f.nc, f.nc.Flush() // makes the server know the subscriptions before members connect
}

// carry puts one message into the receiver's queue and returns the queue's answer to the
// sender.
func (f *ferry) carry(m *natsgo.Msg) {
	to := "mercer." + strings.TrimPrefix(m.Subject, landed)
	answer, err := f.nc.Request(to, m.Data, ackLimit)
	if m.Reply == "" {
		return
	}
	back := &natsgo.Msg{Subject: m.Reply}
	switch {
	case errors.Is(err, natsgo.ErrNoResponders):
		back.Header = natsgo.Header{"Status": {"503"}}
	case err != nil:
		return // the member sends the message again
	default:
		back.Data = answer.Data
	}
	if err := f.nc.PublishMsg(back); err != nil && !errors.Is(err, natsgo.ErrConnectionClosed) {
		f.complain(err)
	}
}

// complain logs that messages of a member are lost.
func (f *ferry) complain(err error) {
	if n, tell := f.lost.Count("", f.names); tell {
		f.log.Warn("a member sends faster than the server answers, or its ferry has another problem", "member", f.names, "so far", n, "error", err)
	}
}

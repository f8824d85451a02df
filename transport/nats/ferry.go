package nats

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/transport"
)

// What members send does not go into the queues by itself: it would wait there behind what
// others send without waiting for an answer. It lands under another name, from where one ferry for
// each member takes it over, a message at a time. Who sends faster than its ferry fills
// its own room only, and the rest of what it sends is lost.

const (
	landed = "mercer.landed."
	// ferryRoom bounds the bytes of one member that wait for its ferry. A member that
	// waits for answers has one message of each session under way.
	ferryRoom     = 32 << 20
	ferryMessages = 4096
)

// landing is the name in the hub of what members say; other subjects keep theirs.
func landing(subject string) string {
	for _, lane := range transport.Lanes() {
		if rest, sent := strings.CutPrefix(subject, "mercer."+word(lane)+"."); sent {
			return landed + word(lane) + "." + rest
		}
	}
	return subject
}

// ferry takes what one member sends over into the queues.
type ferry struct {
	nc    *natsgo.Conn // its own: what waits in it delays nobody else
	log   *slog.Logger
	lost  *tally.Tally
	names string
}

// ferries connects one ferry for each member.
func ferries(s *Server, key nkeys.KeyPair, pub string) ([]*natsgo.Conn, error) {
	var list []*natsgo.Conn
	for _, m := range s.cfg.Members {
		nc, err := ferryFor(s, m.Name, key, pub)
		if err != nil {
			for _, other := range list {
				other.Close()
			}
			return nil, fmt.Errorf("ferry of %q: %w", m.Name, err)
		}
		list = append(list, nc)
	}
	return list, nil
}

func ferryFor(s *Server, member string, key nkeys.KeyPair, pub string) (*natsgo.Conn, error) {
	f := &ferry{log: s.cfg.Logger, lost: &tally.Tally{}, names: member}
	var err error
	f.nc, err = natsgo.Connect("", natsgo.InProcessServer(s.nats), natsgo.Nkey(pub, key.Sign), natsgo.MaxReconnects(-1),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { f.complain(err) }))
	if err != nil {
		return nil, err
	}
	for _, lane := range transport.Lanes() {
		sub, err := f.nc.Subscribe(landed+word(lane)+"."+member+".*", f.carry)
		if err == nil {
			err = sub.SetPendingLimits(ferryMessages, ferryRoom)
		}
		if err != nil {
			f.nc.Close()
			return nil, err
		}
	}
	return f.nc, f.nc.Flush() // the server knows the subscriptions before members come
}

// carry puts one message into its queue, and passes the answer on.
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
		return // the member asks again
	default:
		back.Data = answer.Data
	}
	if err := f.nc.PublishMsg(back); err != nil && !errors.Is(err, natsgo.ErrConnectionClosed) {
		f.complain(err)
	}
}

// complain names the member whose messages are lost.
func (f *ferry) complain(err error) {
	if n, tell := f.lost.Count("", f.names); tell {
		f.log.Warn("a member sends faster than it is answered, or its ferry has another trouble", "member", f.names, "so far", n, "error", err)
	}
}

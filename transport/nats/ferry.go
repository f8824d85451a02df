package nats

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/transport"
)

// What members send does not go into the queues by itself: it would wait there behind what
// others send without waiting for an answer. It lands under another name, from where one ferry for
// each member takes it over, a message at a time. Who sends faster than its ferry fills
// its own room only. The rest of what it sends is refused at once: for each message
// without an answer the server would keep where the answer goes, see answerLimit.

const (
	landed = "mercer.landed."
	// ferryRoom bounds the bytes of one member that wait for its ferry. A member that
	// waits for answers has one message of each session under way.
	ferryRoom     = 32 << 20
	ferryMessages = 4096
	// ferryDoor bounds the messages that are still to be taken in or refused.
	ferryDoor = 64 << 10
)

// errRoom says that a message is lost, since its sender's ferry has no room.
var errRoom = errors.New("its ferry has no room")

// noRoom is the answer to a message for which there is no room, in the form of the server's
// own. Its sender tries again.
var noRoom = []byte(`{"error":{"code":429,"description":"too many messages of this member wait"}}`)

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
	nc     *natsgo.Conn // its own: what waits in it delays nobody else
	log    *slog.Logger
	lost   *tally.Tally
	names  string
	closed chan struct{}
}

// hold is the room of a ferry for one lane.
type hold struct {
	waiting chan *natsgo.Msg
	bytes   atomic.Int64
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
	f := &ferry{log: s.cfg.Logger, lost: &tally.Tally{}, names: member, closed: make(chan struct{})}
	var err error
	f.nc, err = natsgo.Connect("", natsgo.InProcessServer(s.nats), natsgo.Nkey(pub, key.Sign), natsgo.MaxReconnects(-1),
		natsgo.ClosedHandler(func(*natsgo.Conn) { close(f.closed) }),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { f.complain(err) }))
	if err != nil {
		return nil, err
	}
	for _, lane := range transport.Lanes() {
		h := &hold{waiting: make(chan *natsgo.Msg, ferryMessages)}
		go f.run(h)
		sub, err := f.nc.Subscribe(landed+word(lane)+"."+member+".*", func(m *natsgo.Msg) { f.take(h, m) })
		if err == nil {
			err = sub.SetPendingLimits(ferryDoor, ferryRoom)
		}
		if err != nil {
			f.nc.Close()
			return nil, err
		}
	}
	return f.nc, f.nc.Flush() // the server knows the subscriptions before members come
}

// take holds a message for which there is room, and refuses it otherwise. It never waits, and
// is the only one that adds to the room.
func (f *ferry) take(h *hold, m *natsgo.Msg) {
	if len(h.waiting) < cap(h.waiting) && h.bytes.Load()+int64(m.Size()) <= ferryRoom {
		h.bytes.Add(int64(m.Size()))
		h.waiting <- m
		return
	}
	f.complain(errRoom)
	if m.Reply != "" {
		f.answer(&natsgo.Msg{Subject: m.Reply, Data: noRoom})
	}
}

// run carries what is held until the ferry's connection is closed.
func (f *ferry) run(h *hold) {
	for {
		select {
		case <-f.closed:
			return
		case m := <-h.waiting:
			f.carry(m)
			h.bytes.Add(-int64(m.Size()))
		}
	}
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
	f.answer(back)
}

func (f *ferry) answer(back *natsgo.Msg) {
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

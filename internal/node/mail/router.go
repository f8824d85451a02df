package mail

import (
	"context"
	"crypto/hpke"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// Control is the protocol name of messages between daemons. They are sealed to identity keys; all
// other messages are sealed to session keys.
const Control = "control"

// Router passes verified messages to their sessions, and sends messages. It is safe for concurrent
// use.
type Router struct {
	self    string
	keys    *identity.Identity
	members atomic.Pointer[roster.Roster]
	conn    transport.Conn
	log     *slog.Logger
	control chan driver.Inbound

	assembling sync.Mutex
	unfinished map[messageKey]*unfinished
	arrivals   uint64

	mu        sync.Mutex
	boxes     map[protocol.SessionID]*Mailbox
	announced map[protocol.SessionID]*protocol.Session
	dropped   tally.Tally // counts dropped messages by the sender that the transport names
}

// New returns the router of the member self. Run starts it.
func New(self string, keys *identity.Identity, members *roster.Roster, conn transport.Conn, log *slog.Logger) *Router {
	x := &Router{
		self: self, keys: keys, conn: conn, log: log,
		control: make(chan driver.Inbound, mailboxSize),

		unfinished: make(map[messageKey]*unfinished),

		boxes:     make(map[protocol.SessionID]*Mailbox),
		announced: make(map[protocol.SessionID]*protocol.Session),
	}
	x.members.Store(members)
	return x
}

// SetRoster replaces the roster. From now on the messages of a member that it does not have, or has with
// other keys, are dropped.
func (x *Router) SetRoster(members *roster.Roster) { x.members.Store(members) }

// Run receives messages until ctx ends or the transport fails permanently.
func (x *Router) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	var receiving sync.WaitGroup
	receiving.Go(func() { stop(x.receive(ctx, transport.Bulk, x.route)) })
	receiving.Go(func() { stop(x.receive(ctx, transport.Control, x.routeControl)) })
	receiving.Wait()
	return fmt.Errorf("mail: %w", context.Cause(ctx))
}

// receive passes each delivery of a lane to the function route.
func (x *Router) receive(ctx context.Context, lane transport.Lane, route func(transport.Delivery)) error {
	for {
		d, err := x.conn.Receive(ctx, lane)
		if err != nil {
			return err
		}
		route(d)
	}
}

// Control returns the channel of verified control messages.
func (x *Router) Control() <-chan driver.Inbound { return x.control }

// Tell seals a control message to the receiver's identity key and sends it.
func (x *Router) Tell(ctx context.Context, to string, session protocol.SessionID, kind string, body []byte) error {
	m, ok := x.members.Load().Lookup(to)
	if !ok {
		return fmt.Errorf("mail: the receiver %q is not in the roster", to)
	}
	key, err := m.KEMKey()
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	pieces, err := split(body)
	if err != nil {
		return err
	}
	for i, piece := range pieces {
		h := protocol.Header{
			Session: session, Protocol: Control, Kind: kind, Sender: x.self, Receiver: to,
			Chunk: uint32(i), Chunks: uint32(len(pieces)),
		}
		if err := x.post(ctx, transport.Control, h, piece, key); err != nil {
			return err
		}
	}
	return nil
}

// split cuts the body of a control message into the bodies of its pieces. Most messages have one
// piece.
func split(body []byte) ([][]byte, error) {
	if len(body) <= protocol.MaxChunkBytes {
		return [][]byte{body}, nil
	}
	if len(body) > maxPieces*pieceBytes {
		return nil, fmt.Errorf("mail: the control message has %d bytes, but at most %d are allowed", len(body), maxPieces*pieceBytes)
	}
	sum := sha256.Sum256(body)
	var pieces [][]byte
	for piece := range slices.Chunk(body, pieceBytes) {
		pieces = append(pieces, slices.Concat(sum[:], piece))
	}
	return pieces, nil
}

// Announce registers a session that has not begun. Messages that its members have signed then wait
// until the session's mailbox opens.
func (x *Router) Announce(s *protocol.Session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.announced[s.ID()] = s
}

// Forget removes a session's mailbox, and drops every message that still arrives for the session.
func (x *Router) Forget(id protocol.SessionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.announced, id)
	delete(x.boxes, id)
}

func (x *Router) post(ctx context.Context, lane transport.Lane, h protocol.Header, body []byte, key hpke.PublicKey) error {
	sealed, err := envelope.Seal(h, body, key, x.keys.SigningKey())
	if err != nil {
		return err
	}
	return x.conn.Send(ctx, h.Receiver, lane, sealed)
}

// route decides what happens to a delivery in the bulk lane. It never waits: a busy session must
// not delay the others. It puts a session's message back only after it has verified that a member of
// the session has signed the message, because a message takes a place in its sender's share until it is
// settled.
func (x *Router) route(d transport.Delivery) {
	h, err := envelope.Peek(d.Data)
	if err != nil {
		x.drop(d, err)
		return
	}
	if h.Protocol == Control { // an earlier version put control messages into the bulk lane
		x.routeControl(d)
		return
	}
	x.mu.Lock()
	box, announced := x.boxes[h.Session], x.announced[h.Session]
	x.mu.Unlock()
	switch {
	case box != nil:
		announced = box.session
	case announced == nil:
		x.drop(d, fmt.Errorf("session %v is not open here", h.Session))
		return
	}
	sealed, err := x.verify(d, announced)
	switch {
	case err != nil:
		x.drop(d, err)
	case box == nil:
		x.later(d, waitForBegin)
	default:
		box.deliver(d, sealed)
	}
}

// verify checks that a member of the session has signed a message for this member.
func (x *Router) verify(d transport.Delivery, s *protocol.Session) (envelope.Verified, error) {
	sealed, err := envelope.Verify(d.Data, x.members.Load().SigningKey, x.self)
	if err == nil {
		err = s.Check(sealed.Header, x.self)
	}
	return sealed, err
}

// routeControl decides what happens to a delivery in the control lane. It drops the messages of
// sessions.
func (x *Router) routeControl(d transport.Delivery) {
	sealed, err := envelope.Verify(d.Data, x.members.Load().SigningKey, x.self)
	if err == nil && sealed.Header.Protocol != Control {
		err = fmt.Errorf("the message %v must not come in the control lane, because it is not a control message", sealed.Header)
	}
	if err != nil {
		x.drop(d, err)
		return
	}
	if len(x.control) == cap(x.control) {
		x.later(d, waitForRoom)
		return
	}
	m, err := sealed.Open(x.keys.KEMKey())
	if err != nil {
		x.drop(d, err)
		return
	}
	in := driver.Inbound{Message: m, Receipt: d.Receipt}
	if m.Chunks > 1 {
		var ready bool
		if in, ready, err = x.assemble(m, d.Receipt); err != nil {
			x.drop(d, err)
		}
		if !ready {
			return
		}
	}
	select {
	case x.control <- in:
	default:
		x.later(transport.Delivery{Receipt: in.Receipt}, waitForRoom)
	}
}

// drop acknowledges a delivery that this member cannot use. It logs the reason and the sender that
// the transport names. It logs only some of many such deliveries, so that no member can fill the
// log.
func (x *Router) drop(d transport.Delivery, why error) {
	if n, tell := x.dropped.Count("", d.From); tell {
		x.log.Warn("dropped a message", "sender", d.From, "so far", n, "error", why)
	}
	if err := d.Ack(); err != nil {
		x.log.Warn("could not acknowledge a message", "error", err)
	}
}

func (x *Router) later(d transport.Delivery, after time.Duration) {
	if err := d.Later(after); err != nil {
		x.log.Warn("could not put a message back", "error", err)
	}
}

const (
	waitForBegin = 50 * time.Millisecond
	waitForRoom  = 20 * time.Millisecond
)

// mailboxSize is the greatest number of verified messages that wait in a mailbox, or for the reader of
// control messages. All other messages stay with the broker.
const mailboxSize = 16

// Mailbox receives and sends the messages of one session. It is a [driver.Mail].
type Mailbox struct {
	session *protocol.Session
	router  *Router
	key     identity.SessionKeys
	keys    map[string]hpke.PublicKey // members' public keys in this session; nil for absent members
	in      chan driver.Inbound
}

// Open opens the mailbox of a session. The directory must have been verified.
func (x *Router) Open(s *protocol.Session, key identity.SessionKeys, d control.Directory) (*Mailbox, error) {
	b := &Mailbox{session: s, router: x, key: key, keys: make(map[string]hpke.PublicKey, len(d)), in: make(chan driver.Inbound, mailboxSize)}
	for _, a := range d {
		if a.Absent() {
			b.keys[a.Member] = nil
			continue
		}
		public, err := identity.ParseKEM(a.Key)
		if err != nil {
			return nil, protocol.Blame(a.Member, protocol.KindMalformed, err)
		}
		b.keys[a.Member] = public
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.boxes[s.ID()] = b
	return b, nil
}

// In returns the channel of the session's verified messages.
func (b *Mailbox) In() <-chan driver.Inbound { return b.in }

// Send seals m to the receiver's session key and sends it. It drops messages for an absent member.
func (b *Mailbox) Send(ctx context.Context, m protocol.Message) error {
	key, ok := b.keys[m.Receiver]
	if !ok || m.Session != b.session.ID() || m.Sender != b.router.self {
		return fmt.Errorf("mail: the message %v does not belong to this mailbox", m.Header)
	}
	if key == nil {
		return nil // the receiver does not take part in this session
	}
	return b.router.post(ctx, transport.Bulk, m.Header, m.Body, key)
}

// deliver passes a session's message to the driver. A member of the session has signed the message.
// While the driver is busy, deliver leaves the message with the broker.
func (b *Mailbox) deliver(d transport.Delivery, sealed envelope.Verified) {
	if len(b.in) == cap(b.in) {
		b.router.later(d, waitForRoom)
		return
	}
	m, fault := sealed.Open(b.key.KEMKey())
	m.Header = sealed.Header
	b.in <- driver.Inbound{Message: m, Fault: fault, Receipt: d.Receipt} // never blocks: only this goroutine sends, and the channel has space
}

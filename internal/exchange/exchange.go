package exchange

import (
	"context"
	"crypto/hpke"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/driver"
	"github.com/mercer-fl/mercer/internal/envelope"
	"github.com/mercer-fl/mercer/internal/identity"
	"github.com/mercer-fl/mercer/internal/roster"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// Control is the protocol name of messages between daemons; they are sealed
// to identity keys, everything else to session keys.
const Control = "control"

// Exchange is safe for concurrent use.
type Exchange struct {
	self    string
	keys    *identity.Identity
	roster  *roster.Roster
	conn    transport.Conn
	log     *slog.Logger
	control chan driver.Inbound

	mu        sync.Mutex
	boxes     map[protocol.SessionID]*Mailbox
	announced map[protocol.SessionID]bool
}

// New returns the exchange of the member called self. Run starts it.
func New(self string, keys *identity.Identity, members *roster.Roster, conn transport.Conn, log *slog.Logger) *Exchange {
	return &Exchange{
		self: self, keys: keys, roster: members, conn: conn, log: log,
		control:   make(chan driver.Inbound, mailboxSize),
		boxes:     make(map[protocol.SessionID]*Mailbox),
		announced: make(map[protocol.SessionID]bool),
	}
}

// Run receives until ctx ends or the transport fails for good.
func (x *Exchange) Run(ctx context.Context) error {
	for {
		d, err := x.conn.Receive(ctx)
		if err != nil {
			return fmt.Errorf("exchange: %w", err)
		}
		x.route(d)
	}
}

// Control delivers verified control messages.
func (x *Exchange) Control() <-chan driver.Inbound { return x.control }

// Tell seals a control message to the receiver's identity and sends it.
func (x *Exchange) Tell(ctx context.Context, to string, session protocol.SessionID, kind string, body []byte) error {
	m, ok := x.roster.Lookup(to)
	if !ok {
		return fmt.Errorf("exchange: %q is not in the roster", to)
	}
	key, err := m.KEMKey()
	if err != nil {
		return fmt.Errorf("exchange: %w", err)
	}
	h := protocol.Header{Session: session, Protocol: Control, Kind: kind, Sender: x.self, Receiver: to, Chunks: 1}
	return x.post(ctx, h, body, key)
}

// Announce makes messages of a session wait until its mailbox opens.
func (x *Exchange) Announce(id protocol.SessionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.announced[id] = true
}

// Forget drops whatever still arrives for a session.
func (x *Exchange) Forget(id protocol.SessionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.announced, id)
	delete(x.boxes, id)
}

func (x *Exchange) post(ctx context.Context, h protocol.Header, body []byte, key hpke.PublicKey) error {
	sealed, err := envelope.Seal(h, body, key, x.keys.SigningKey())
	if err != nil {
		return err
	}
	return x.conn.Send(ctx, h.Receiver, sealed)
}

// route decides what becomes of one delivery. It never waits: a busy session
// must not hold up the others.
func (x *Exchange) route(d transport.Delivery) {
	h, err := envelope.Peek(d.Data)
	if err != nil {
		x.drop(d, err)
		return
	}
	if h.Protocol == Control {
		x.routeControl(d)
		return
	}
	x.mu.Lock()
	box, announced := x.boxes[h.Session], x.announced[h.Session]
	x.mu.Unlock()
	switch {
	case box != nil:
		box.deliver(x, d)
	case announced:
		x.later(d, waitForBegin)
	default:
		x.drop(d, fmt.Errorf("session %v is not open here", h.Session))
	}
}

func (x *Exchange) routeControl(d transport.Delivery) {
	if len(x.control) == cap(x.control) {
		x.later(d, waitForRoom)
		return
	}
	m, err := envelope.Open(d.Data, x.roster.SigningKey, x.keys.KEMKey(), x.self)
	if err != nil {
		x.drop(d, err)
		return
	}
	x.control <- driver.Inbound{Message: m, Receipt: d.Receipt} // there is room: only this goroutine sends
}

// drop acknowledges bytes that nobody here can use, and says why.
func (x *Exchange) drop(d transport.Delivery, why error) {
	x.log.Warn("dropped a message", "hint", d.From, "error", why)
	if err := d.Ack(); err != nil {
		x.log.Warn("could not acknowledge a message", "error", err)
	}
}

func (x *Exchange) later(d transport.Delivery, after time.Duration) {
	if err := d.Later(after); err != nil {
		x.log.Warn("could not put a message back", "error", err)
	}
}

const (
	waitForBegin = 50 * time.Millisecond
	waitForRoom  = 20 * time.Millisecond
)

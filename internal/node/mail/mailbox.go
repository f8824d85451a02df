package mail

import (
	"context"
	"crypto/hpke"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// mailboxSize is the number of verified messages that wait for a session's driver, or for
// the reader of control messages; the others stay with the broker.
const mailboxSize = 16

// Mailbox is one session's side of the router; it is a [driver.Mail].
type Mailbox struct {
	session *protocol.Session
	router  *Router
	key     identity.SessionKeys
	keys    map[string]hpke.PublicKey // members' keys of this session, nil of the absent
	in      chan driver.Inbound
}

// Open makes the mailbox of a session. The directory must have been verified.
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

// In delivers verified messages of the session.
func (b *Mailbox) In() <-chan driver.Inbound { return b.in }

// Send seals m to the receiver's session key and sends it. What is for an absent
// member is not sent.
func (b *Mailbox) Send(ctx context.Context, m protocol.Message) error {
	key, ok := b.keys[m.Receiver]
	if !ok || m.Session != b.session.ID() || m.Sender != b.router.self {
		return fmt.Errorf("mail: %v does not belong to this mailbox", m.Header)
	}
	if key == nil {
		return nil // it was not there when the session began, and never will be
	}
	return b.router.post(ctx, transport.Bulk, m.Header, m.Body, key)
}

// deliver passes on what a member of the session has signed, or leaves it with the
// broker while the driver is busy.
func (b *Mailbox) deliver(d transport.Delivery, sealed envelope.Verified) {
	if len(b.in) == cap(b.in) {
		b.router.later(d, waitForRoom)
		return
	}
	m, fault := sealed.Open(b.key.KEMKey())
	m.Header = sealed.Header
	b.in <- driver.Inbound{Message: m, Fault: fault, Receipt: d.Receipt} // there is room: only the bulk lane's goroutine sends
}

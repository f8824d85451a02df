package devices

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// box is the server's mailbox for one session. It holds the messages for each device in the order
// in which the machine sent them. It is the [driver.Mail] and the Log of the server's machine.
type box struct {
	vault.Session
	session *protocol.Session
	in      chan driver.Inbound
	done    chan struct{} // closed when the machine has ended without an error
	over    chan struct{} // closed when the next step has begun

	fromServer, toServer atomic.Uint64 // bytes of message bodies

	mu     sync.Mutex
	inbox  protocol.Inbox             // the messages in the journal
	held   map[[sha256.Size]byte]bool // for the hash of each journalled or refused message: whether the machine has handled the message
	lists  map[string][]protocol.Message
	more   map[string]chan struct{} // for each device: closed when the device gets another message
	bodies map[[sha256.Size]byte][]byte

	stayed   []string        // devices that finished the session; set when the session ends
	finished map[string]bool // devices that have said farewell
	refused  map[string]int  // number of messages that the machine has refused, by device
}

const (
	room       = 64 // capacity of the queue of messages to the machine
	maxRefused = 64 // number of refused messages after which a session reads no more from a device
)

func newBox(s *protocol.Session, kept vault.Session) *box {
	b := &box{
		Session: kept, session: s, in: make(chan driver.Inbound, room), done: make(chan struct{}), over: make(chan struct{}),
		lists: make(map[string][]protocol.Message), more: make(map[string]chan struct{}), bodies: make(map[[sha256.Size]byte][]byte), held: make(map[[sha256.Size]byte]bool), finished: make(map[string]bool), refused: make(map[string]int),
	}
	for _, m := range s.Members {
		if m.Name != Server {
			b.more[m.Name] = make(chan struct{})
		}
	}
	return b
}

// Records yields the journal's records except deliveries and the session's successful end. A device
// gets a message when it asks, and may ask again after a restart, so a replay sends all messages again.
func (b *box) Records() iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range b.Session.Records() {
			if err == nil && (r.Delivered > 0 || r.Ended == endedWell) {
				continue
			}
			b.noteAccepted(r)
			if e, is := r.Event.(protocol.Received); is {
				b.settle(e.Message.Sender, sumOf(e.Message))
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// endedWell is the outcome that marks a session as successful in the journal.
const endedWell = "done"

// Append writes a record to the journal, unless it is a delivery.
func (b *box) Append(r journal.Record) error {
	if r.Delivered > 0 {
		return nil
	}
	err := b.Session.Append(r)
	if err == nil {
		b.noteAccepted(r)
	}
	return err
}

// noteAccepted records a message that the machine has accepted.
func (b *box) noteAccepted(r journal.Record) {
	e, is := r.Event.(protocol.Received)
	if !is {
		return
	}
	b.toServer.Add(uint64(len(e.Message.Body)))
	sum := sumOf(e.Message)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inbox.Accept(e.Message)
	b.held[sum] = false
}

// Send puts a message into the list of its receiving device.
func (b *box) Send(_ context.Context, m protocol.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	woken, known := b.more[m.Receiver]
	if !known {
		return fmt.Errorf("devices: the receiver of message %v is not in the session", m.Header)
	}
	b.fromServer.Add(uint64(len(m.Body)))
	m.Body = b.shareBody(m.Body)
	b.lists[m.Receiver] = append(b.lists[m.Receiver], m)
	close(woken)
	b.more[m.Receiver] = make(chan struct{})
	return nil
}

// shareBody returns an earlier equal body if there is one, so that devices share one copy. It does
// not store small bodies.
func (b *box) shareBody(body []byte) []byte {
	const small = 4 << 10
	if len(body) < small {
		return body
	}
	sum := sha256.Sum256(body)
	if old, known := b.bodies[sum]; known {
		return old
	}
	b.bodies[sum] = body
	return body
}

// In delivers verified messages of the session.
func (b *box) In() <-chan driver.Inbound { return b.in }

// has reports whether a device is in the session.
func (b *box) has(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.more[name] != nil
}

// pull waits for messages to a device and returns at least one. The argument offset is the number of
// messages that the device already has. pull returns nil if the next step begins or ctx ends first.
func (b *box) pull(ctx context.Context, name string, offset int) []protocol.Message {
	for {
		list, more := b.behind(name, offset)
		if len(list) > 0 {
			return list
		}
		select {
		case <-more:
		case <-b.over:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (b *box) behind(name string, offset int) ([]protocol.Message, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.lists[name]
	if offset < 0 || offset > len(all) {
		return nil, b.more[name]
	}
	end, bytes := offset, 0
	for end < len(all) && (end == offset || bytes+len(all[end].Body) <= maxPullBytes) {
		bytes += len(all[end].Body)
		end++
	}
	return all[offset:end:end], b.more[name]
}

// verdict is the answer to a device that sent a message.
type verdict int

const (
	taken   verdict = iota // the message is on disk, or the machine has refused it
	later                  // the device must send the message again
	tooLate                // the machine has ended without the message
)

// receipt passes the verdict on a message to the request that waits for it. A message on disk stays
// accepted even if the request has ended: its device sends it again, and then gets the verdict.
type receipt struct {
	answer chan verdict
	box    *box
	sender string
	sum    [sha256.Size]byte
}

// Ack implements [transport.Receipt].
func (r *receipt) Ack() error {
	r.box.settle(r.sender, r.sum)
	return r.settle(taken)
}

// Later implements [transport.Receipt].
func (r *receipt) Later(time.Duration) error { return r.settle(later) }

func (r *receipt) settle(v verdict) error {
	select {
	case r.answer <- v:
	default: // the request already has its verdict
	}
	return nil
}

package memory

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// ErrStalled reports that no machine can continue although not all machines have ended. The error
// of Run wraps it.
var ErrStalled = errors.New("no machine can continue")

// Session is one session with all its members. It is not safe for concurrent use.
type Session struct {
	*protocol.Session
	// Ledger holds the names that members have claimed (Effects.Claim). If it is nil, Run uses
	// an empty ledger.
	Ledger *Ledger
	// The session calls Sent with each message that a member sends. Sent can be nil. The function
	// must not change the body.
	Sent func(protocol.Message)

	seats []*seat
	queue []protocol.Message // messages that are sent but not yet delivered
	err   error              // first error of New, Setup, Sign or Add; once Run has begun, the error of a second Run
}

// seat holds a member's machine, secrets and pending messages.
type seat struct {
	name    string
	seed    [32]byte
	key     ed25519.PrivateKey
	machine protocol.Machine
	later   []protocol.Message // messages that the machine deferred with ErrLater
	owed    int                // number of this member's messages that other machines deferred
	resume  bool               // whether the machine has requested the event Resumed
	ended   bool
}

// New creates a session without machines. It draws the nonce if the descriptor has none.
func New(d protocol.Descriptor) *Session {
	if d.Nonce == ([32]byte{}) {
		draw(&d.Nonce)
	}
	opened, err := protocol.NewSession(d)
	if err != nil {
		return &Session{Session: new(protocol.Session), err: err} // constructors refuse this empty session, because it names no protocol
	}
	s := &Session{Session: opened}
	for _, m := range d.Members {
		at := &seat{name: m.Name}
		draw(&at.seed)
		var identity [32]byte
		draw(&identity)
		at.key = ed25519.NewKeyFromSeed(identity[:])
		s.seats = append(s.seats, at)
	}
	return s
}

func draw(b *[32]byte) { _, _ = rand.Read(b[:]) } // crypto/rand never returns an error

// seat returns the state of the member with the given name. If there is no such member, it records
// an error and returns nil.
func (s *Session) seat(name string) *seat {
	if i := s.Index(name); i >= 0 {
		return s.seats[i]
	}
	s.recordError(fmt.Errorf("memory: the session has no member %q", name))
	return nil
}

// recordError records an error that Run will return, unless an earlier error is recorded.
func (s *Session) recordError(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Setup returns the argument for the constructor of a member's machine. It contains the
// member's seed.
func (s *Session) Setup(name string) protocol.Setup {
	setup := protocol.Setup{Session: s.Session, Self: name}
	if at := s.seat(name); at != nil {
		setup.Seed = at.seed
	}
	return setup
}

// Keys returns the public keys of the members that have one of the roles, in the
// descriptor's order.
func (s *Session) Keys(roles ...protocol.Role) []ed25519.PublicKey {
	var keys []ed25519.PublicKey
	for _, name := range s.With(roles...) {
		keys = append(keys, s.seat(name).key.Public().(ed25519.PublicKey))
	}
	return keys
}

// Sign returns a function that signs messages by a member's private key.
func (s *Session) Sign(name string) func(message []byte) []byte {
	at := s.seat(name)
	if at == nil {
		return nil
	}
	return func(message []byte) []byte { return ed25519.Sign(at.key, message) }
}

// Add gives the session a member's machine, or the error of the machine's constructor.
func (s *Session) Add(name string, m protocol.Machine, err error) {
	at := s.seat(name)
	switch {
	case err != nil:
		s.recordError(fmt.Errorf("memory: the constructor of the machine of %s failed: %w", name, err))
	case at == nil:
	case at.machine != nil:
		s.recordError(fmt.Errorf("memory: %s has two machines", name))
	default:
		at.machine = m
	}
}

// Run runs the machines until all have ended. Call it once. The session fails if a machine refuses
// an event or ends with an error, or if no machine can continue ([ErrStalled]).
func (s *Session) Run() error {
	if err := s.begin(); err != nil {
		return err
	}
	for moved := true; moved; {
		var err error
		if moved, err = s.deliverSent(); err != nil {
			return err
		}
	}
	if names := s.waiting(); names != nil {
		return fmt.Errorf("memory: %w, and %s did not end", ErrStalled, strings.Join(names, ", "))
	}
	return nil
}

// begin starts every machine.
func (s *Session) begin() error {
	for _, at := range s.seats {
		if at.machine == nil {
			s.recordError(fmt.Errorf("memory: %s has no machine; add one for every member", at.name))
		}
	}
	if s.err != nil {
		return s.err
	}
	s.err = errors.New("memory: this session has run already; create a new one")
	if s.Ledger == nil {
		s.Ledger = new(Ledger)
	}
	for _, at := range s.seats {
		start := protocol.Start{}
		if m, is := at.machine.(interface{ InputHash() [sha256.Size]byte }); is {
			start.InputHash = m.InputHash()
		}
		if err := s.offer(at, start); err != nil {
			return err
		}
	}
	return nil
}

// deliverSent delivers the sent messages in order. Then it resumes the machines that requested time
// for further work. It reports whether any machine accepted an event.
func (s *Session) deliverSent() (moved bool, err error) {
	for len(s.queue) > 0 {
		m := s.queue[0]
		s.queue[0] = protocol.Message{} // lets the body be freed
		s.queue = s.queue[1:]
		taken, err := s.deliver(m)
		if err != nil {
			return false, err
		}
		moved = moved || taken
	}
	for _, at := range s.resuming() {
		at.resume, moved = false, true
		if err := s.offer(at, protocol.Resumed{}); err != nil {
			return false, err
		}
	}
	return moved, nil
}

// resuming returns the members that can now resume. A member waits while a receiver defers one of
// its messages, so that the number of undelivered messages is bounded. Such members continue if no
// other member can.
func (s *Session) resuming() []*seat {
	var free, owed []*seat
	for _, at := range s.seats {
		switch {
		case !at.resume || at.ended:
		case at.owed == 0:
			free = append(free, at)
		default:
			owed = append(owed, at)
		}
	}
	if free == nil {
		return owed
	}
	return free
}

// deliver passes a message to its receiver, or stores it if the receiver defers it. It drops the
// message if the receiver's machine has ended, or has finished that part of the session.
func (s *Session) deliver(m protocol.Message) (taken bool, err error) {
	at, from := s.seats[s.Index(m.Receiver)], s.seats[s.Index(m.Sender)]
	if at.ended {
		return false, nil
	}
	m.Body = bytes.Clone(m.Body) // copies the body, because the receiver is allowed to change it
	err = s.offer(at, protocol.Received{Message: m})
	if errors.Is(err, protocol.ErrLater) {
		at.later = append(at.later, m)
		from.owed++
		return false, nil
	}
	if errors.Is(err, protocol.ErrPast) {
		return false, nil
	}
	return err == nil, err
}

// offer passes an event to a machine and performs the effects that the machine returns.
func (s *Session) offer(at *seat, e protocol.Event) error {
	effects, err := at.machine.Step(e)
	if err != nil {
		return fmt.Errorf("memory: %s: %w", at.name, err)
	}
	for _, name := range effects.Claim {
		if err := s.Ledger.Claim(at.name, name, s.ID()); err != nil {
			return err
		}
	}
	for _, m := range effects.Send {
		if m.Sender != at.name || m.Receiver == at.name || s.Index(m.Receiver) < 0 {
			return fmt.Errorf("memory: %s sends %v; a machine must send in its own name and to another member", at.name, m.Header)
		}
		if s.Sent != nil {
			s.Sent(m)
		}
	}
	s.retry(at)
	s.queue = append(s.queue, effects.Send...)
	at.resume = at.resume || effects.Resume
	if effects.End != nil {
		at.ended = true
		if effects.End.Err != nil {
			return fmt.Errorf("memory: %s ended with an error: %w", at.name, effects.End.Err)
		}
	}
	return nil
}

// retry puts a machine's deferred messages at the front of the queue. It is called after the
// machine has accepted an event.
func (s *Session) retry(at *seat) {
	if at.later == nil {
		return
	}
	for _, m := range at.later {
		s.seats[s.Index(m.Sender)].owed--
	}
	s.queue = slices.Concat(at.later, s.queue)
	at.later = nil
}

// waiting returns the names of the members whose machines have not ended.
func (s *Session) waiting() (names []string) {
	for _, at := range s.seats {
		if !at.ended {
			names = append(names, at.name)
		}
	}
	return names
}

// Ledger records which session has claimed each name of a member. Use the same ledger for
// several sessions of the same members. The zero value is an empty ledger.
type Ledger struct{ taken map[claim]protocol.SessionID }

type claim struct{ member, name string }

// Claim records that a session of a member claims a name. It returns an error if another
// session has claimed the name. The same session can claim a name again, as a replay does.
func (l *Ledger) Claim(member, name string, by protocol.SessionID) error {
	key := claim{member, name}
	if holder, taken := l.taken[key]; taken && holder != by {
		return fmt.Errorf("memory: the name %q of %s is taken by session %v", name, member, holder)
	}
	if l.taken == nil {
		l.taken = make(map[claim]protocol.SessionID)
	}
	l.taken[key] = by
	return nil
}

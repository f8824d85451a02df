package dropout

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// Client is one client of a session.
type Client struct {
	Name      string
	Machine   protocol.Machine
	InputHash [sha256.Size]byte
	Ledger    *memory.Ledger // client's ledger, which outlives the session
	// LeavesBefore is the kind of the message before which the client drops out; "" for a client
	// that stays.
	LeavesBefore string
}

// Config holds a session and the machines of all its members.
type Config struct {
	Session  *protocol.Session
	Server   protocol.Machine
	Clients  []Client
	Progress func(protocol.Progress) // receives the server's progress; may be nil
}

// Result reports which clients completed a session. The typed result is in the server's machine.
type Result struct {
	Stayed   []string  // clients that completed the session, in the order of Config.Clients
	Failures []Failure // clients whose machines failed, in the same order
	Traffic  Traffic
}

// Failure is the reason why a client failed.
type Failure struct {
	Client string
	Err    error
}

// Traffic counts bytes of message bodies.
type Traffic struct{ ToServer, FromServer uint64 }

// batch is the number of clients that compute before the server receives their messages. It limits
// memory: each client can have 4 MiB to send, and two batches exist at a time.
const batch = 16

// Run runs the session to its end. A client that fails counts as dropped out. Run returns an error
// if the server fails or refuses a client's message, or if ctx ends.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	for r.end == nil {
		moved, err := r.round(ctx)
		if err != nil {
			return nil, err
		}
		if moved || r.end != nil {
			continue
		}
		if r.armed == "" {
			return nil, errors.New("dropout: the session has not ended, but no member can continue and no timer is armed")
		}
		timer := r.armed
		r.armed = ""
		if err := r.serve(ctx, protocol.Expired{Timer: timer}); err != nil {
			return nil, err
		}
	}
	if r.end.Err != nil {
		return nil, r.end.Err
	}
	return r.result(), nil
}

// run holds the state of a session in progress.
type run struct {
	Config
	server string
	seats  []*seat
	byName map[string]*seat
	armed  protocol.Timer // the last timer that the server has armed; "" for none
	end    *protocol.End  // how the server ended the session; nil while the session runs
	Traffic
}

func newRun(c Config) (*run, error) {
	servers := c.Session.With(protocol.RoleServer)
	if len(servers) != 1 {
		return nil, fmt.Errorf("dropout: the session has %d servers; it must have exactly one", len(servers))
	}
	r := &run{Config: c, server: servers[0], byName: make(map[string]*seat, len(c.Clients))}
	for _, client := range c.Clients {
		switch {
		case c.Session.RoleOf(client.Name) != protocol.RoleParty:
			return nil, fmt.Errorf("dropout: client %q is not a party of the session", client.Name)
		case r.byName[client.Name] != nil:
			return nil, fmt.Errorf("dropout: client %q is listed twice", client.Name)
		case client.Ledger == nil:
			return nil, fmt.Errorf("dropout: client %q has no ledger", client.Name)
		}
		s := &seat{Client: client, session: c.Session.ID(), server: r.server}
		s.inbox = []protocol.Event{protocol.Start{InputHash: client.InputHash}}
		r.seats, r.byName[client.Name] = append(r.seats, s), s
	}
	return r, r.serve(context.Background(), protocol.Start{})
}

// round lets every client process at most one event. While the server receives the messages of one
// batch, the next batch computes. The server's messages wait for the next round, so the result does
// not depend on speed.
func (r *run) round(ctx context.Context) (moved bool, err error) {
	for _, s := range r.seats {
		s.acceptArrived()
	}
	ahead := r.compute(0)
	for lo := 0; lo < len(r.seats); lo += batch {
		moved = <-ahead || moved
		ahead = r.compute(lo + batch)
		for _, s := range r.batch(lo) {
			taken, err := r.deliver(ctx, s)
			if err != nil {
				<-ahead
				return false, err
			}
			moved = moved || taken
		}
	}
	return moved, nil
}

// batch returns the batch of clients that begins at index lo.
func (r *run) batch(lo int) []*seat {
	lo = min(lo, len(r.seats))
	return r.seats[lo:min(lo+batch, len(r.seats))]
}

// compute starts a batch of clients, each of which processes at most one event. The channel then
// reports whether any client has processed an event.
func (r *run) compute(lo int) <-chan bool {
	done := make(chan bool, 1)
	go func() {
		seats := r.batch(lo)
		worked := make([]bool, len(seats))
		linalg.Each(len(seats), 1, func(i int) {
			worked[i] = seats[i].processNext()
		})
		done <- slices.Contains(worked, true)
	}()
	return done
}

// deliver passes a client's messages to the server until the server postpones a message. It reports
// whether the server has taken any message.
func (r *run) deliver(ctx context.Context, s *seat) (taken bool, err error) {
	for len(s.outbox) > 0 && r.end == nil {
		m := s.outbox[0]
		err := r.serve(ctx, protocol.Received{Message: m})
		if errors.Is(err, protocol.ErrLater) {
			return taken, nil
		}
		if err != nil {
			return taken, err
		}
		r.ToServer += uint64(len(m.Body))
		s.outbox[0].Body = nil // lets the garbage collector free the body
		taken, s.outbox = true, s.outbox[1:]
	}
	return taken, nil
}

// serve lets the server handle an event and all events that follow from it.
func (r *run) serve(ctx context.Context, e protocol.Event) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		effects, err := r.Server.Step(e)
		if err != nil {
			return err
		}
		if err := r.obey(effects); err != nil || !effects.Resume || effects.End != nil {
			return err
		}
		e = protocol.Resumed{}
	}
}

func (r *run) obey(e protocol.Effects) error {
	for _, m := range e.Send {
		s := r.byName[m.Receiver]
		if s == nil {
			return fmt.Errorf("dropout: the server sent a message to %q; a server may send messages only to clients", m.Receiver)
		}
		r.FromServer += uint64(len(m.Body))
		s.arrived = append(s.arrived, m)
	}
	for _, t := range e.Arm {
		r.armed = t
	}
	if r.Progress != nil && e.Progress.Total > 0 {
		r.Progress(e.Progress)
	}
	r.end = e.End
	return nil
}

func (r *run) result() *Result {
	out := &Result{Traffic: r.Traffic}
	for _, s := range r.seats {
		switch {
		case s.err != nil:
			out.Failures = append(out.Failures, Failure{s.Name, s.err})
		case s.ended:
			out.Stayed = append(out.Stayed, s.Name)
		}
	}
	return out
}

// seat holds a client's queues and state in a session. While the client's batch computes, only this
// client uses the seat, except for the field arrived.
type seat struct {
	Client
	session protocol.SessionID
	server  string
	arrived []protocol.Message // messages for the next round; only the server's side uses this field
	inbox   []protocol.Event
	outbox  []protocol.Message // messages of one step that the server has not yet taken; the client waits until it is empty
	gone    bool               // the client has dropped out or failed
	ended   bool               // the client has completed the session
	err     error
}

// acceptArrived moves arrived messages to the inbox, or discards them if the client has dropped
// out.
func (s *seat) acceptArrived() {
	for _, m := range s.arrived {
		if !s.gone {
			s.inbox = append(s.inbox, protocol.Received{Message: m})
		}
	}
	s.arrived = nil
}

// processNext processes the client's next event, if any, once the outbox is empty. It reports
// whether it has processed an event.
func (s *seat) processNext() bool {
	if s.gone || s.ended || len(s.outbox) > 0 || len(s.inbox) == 0 {
		return false
	}
	event := s.inbox[0]
	s.inbox[0] = nil // lets the garbage collector free the event
	s.inbox = s.inbox[1:]
	effects, err := s.Machine.Step(event)
	if err == nil {
		err = s.obey(effects)
	}
	if err != nil {
		s.dropOut()
		s.err = err
	}
	return true
}

// obey carries out the effects of a client's step in the order that protocol.Effects specifies.
func (s *seat) obey(e protocol.Effects) error {
	for _, name := range e.Claim {
		if err := s.Ledger.Claim(s.Name, name, s.session); err != nil {
			return err
		}
	}
	for _, m := range e.Send {
		switch {
		case m.Kind == s.LeavesBefore:
			s.dropOut()
			return nil
		case m.Receiver != s.server:
			return fmt.Errorf("dropout: a client sent a message to %q; clients may send messages only to the server", m.Receiver)
		}
		s.outbox = append(s.outbox, m)
	}
	if e.Resume { // the resumed event comes before all waiting messages
		s.inbox = append([]protocol.Event{protocol.Resumed{}}, s.inbox...)
	}
	if e.End != nil {
		s.ended = true
		return e.End.Err
	}
	return nil
}

// dropOut marks the client as dropped out and discards its queues.
func (s *seat) dropOut() { s.gone, s.inbox, s.outbox = true, nil, nil }

package turns

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// seat holds a client's place in a session. While its batch computes, its own client alone
// works on it, except for arrived.
type seat struct {
	Client
	session protocol.SessionID
	server  string
	arrived []protocol.Message // for the next round; the server's side alone touches it
	inbox   []protocol.Event
	outbox  []protocol.Message // of one step; nothing more happens until it is empty
	gone    bool               // left or failed
	ended   bool               // went through to the end
	err     error
}

// settle takes in what has arrived, unless nobody is there any more.
func (s *seat) settle() {
	for _, m := range s.arrived {
		if !s.gone {
			s.inbox = append(s.inbox, protocol.Received{Message: m})
		}
	}
	s.arrived = nil
}

// work takes one event, if there is one and everything before has been sent.
func (s *seat) work() bool {
	if s.gone || s.ended || len(s.outbox) > 0 || len(s.inbox) == 0 {
		return false
	}
	event := s.inbox[0]
	s.inbox[0] = nil // or the rest of the list would hold on to it
	s.inbox = s.inbox[1:]
	effects, err := s.Machine.Step(event)
	if err == nil {
		err = s.obey(effects)
	}
	if err != nil {
		s.leave()
		s.err = err
	}
	return true
}

// obey does what a step asks for, in the contract's order.
func (s *seat) obey(e protocol.Effects) error {
	for _, name := range e.Claim {
		if err := s.Ledger.Claim(s.Name, name, s.session); err != nil {
			return err
		}
	}
	for _, m := range e.Send {
		switch {
		case m.Kind == s.LeavesBefore:
			s.leave()
			return nil
		case m.Receiver != s.server:
			return fmt.Errorf("crowd: a message to %q; clients write to the server only", m.Receiver)
		}
		s.outbox = append(s.outbox, m)
	}
	if e.Resume { // before anything that has come meanwhile
		s.inbox = append([]protocol.Event{protocol.Resumed{}}, s.inbox...)
	}
	if e.End != nil {
		s.ended = true
		return e.End.Err
	}
	return nil
}

// leave gives up all that the client has.
func (s *seat) leave() { s.gone, s.inbox, s.outbox = true, nil, nil }

package protocol

import "fmt"

// Life records how far one machine's session has come: not begun, under way, over.
// The zero value has not begun. A machine that hands it every event does the
// checks that do not depend on the protocol in the same order as all others.
type Life struct{ started, ended bool }

// Handlers are a machine's functions for each kind of event. All but Start may be
// nil: that machine refuses messages, has nothing to resume, or has no timer.
type Handlers struct {
	Start   func(Start) (Effects, error)
	Receive func(Message) (Effects, error) // of this session, from a member, for this machine
	Resume  func() (Effects, error)
	Expire  func(Timer) (Effects, error)
}

// Step refuses what cannot come now (anything before the start or after the
// end, a second start) and messages that are not for s, and hands the rest over.
// A session starts when its handler accepts the start, and is over when a
// handler sets Effects.End.
func (l *Life) Step(s Setup, e Event, h Handlers) (Effects, error) {
	if err := l.admit(s, e); err != nil {
		return Effects{}, err
	}
	effects, err := h.handle(s, e)
	if err != nil {
		return Effects{}, err
	}
	l.started, l.ended = true, effects.End != nil
	return effects, nil
}

func (l *Life) admit(s Setup, e Event) error {
	_, isStart := e.(Start)
	switch {
	case l.ended:
		return fmt.Errorf("%s: the session is over", s.Session.Protocol)
	case isStart && l.started:
		return fmt.Errorf("%s: the session has started already", s.Session.Protocol)
	case !isStart && !l.started:
		return fmt.Errorf("%s: the session has not started", s.Session.Protocol)
	}
	if r, ok := e.(Received); ok {
		return s.Session.Check(r.Message.Header, s.Self)
	}
	return nil
}

func (h Handlers) handle(s Setup, e Event) (Effects, error) {
	switch e := e.(type) {
	case Start:
		return h.Start(e)
	case Received:
		if h.Receive == nil {
			return Effects{}, e.Message.Unexpected()
		}
		return h.Receive(e.Message)
	case Resumed:
		if h.Resume == nil {
			return Effects{}, fmt.Errorf("%s: %s has nothing to resume", s.Session.Protocol, s.Self)
		}
		return h.Resume()
	case Expired:
		if h.Expire == nil {
			return Effects{}, fmt.Errorf("%s: %s has no timer %q", s.Session.Protocol, s.Self, e.Timer)
		}
		return h.Expire(e.Timer)
	}
	return Effects{}, fmt.Errorf("%s: unknown event %T", s.Session.Protocol, e)
}

// Finish ends a session with e's effects, well if err is nil.
func Finish(e Effects, err error) (Effects, error) {
	e.Sync, e.End = true, &End{Err: err}
	return e, nil
}

package protocol

import (
	"crypto/sha256"
	"fmt"
)

// A Machine runs one member's role in one session of a protocol.
type Machine interface {
	// Step accepts one event. It takes about 100 ms at most, and sends at most
	// [MaxStepBytes]; a machine requests time for further work with Effects.Resume.
	//
	// An error refuses the event and leaves the state as it was. [ErrLater] requests the same message again later.
	// [ErrPast] drops a message. A [*BlameError] names the peer that sent a forbidden message.
	Step(Event) (Effects, error)
}

// MustGoOn reports whether a machine has revealed something for which other members reveal secrets to it, so that it
// must not stop before the session's end. Such a machine has a method MustGoOn. Its runner only refuses a second
// message under one header, which would end the session of any other machine.
func MustGoOn(m Machine) bool {
	bound, can := m.(interface{ MustGoOn() bool })
	return can && bound.MustGoOn()
}

// AnewUntil returns a name that a machine claims at some point of its session. If the journal is lost before this
// claim, the session can begin anew, with a new machine that has [Setup].Anew; after the claim it cannot. Such a
// machine has a method AnewUntil. For any other machine, AnewUntil returns "": its session ends if the journal is lost.
func AnewUntil(m Machine) string {
	if able, can := m.(interface{ AnewUntil() string }); can {
		return able.AnewUntil()
	}
	return ""
}

// Event is something that happens to a machine: [Start], [Received], [Expired] or
// [Resumed].
type Event interface{ event() }

// Start is the first event of every session.
type Start struct {
	// InputHash is the SHA-256 of the encoded private input given to the constructor, or zero if a
	// machine has no input. The runner records the hash in its journal. So a replay with an edited
	// input is detected before the machine can send two answers under the same masks.
	InputHash [sha256.Size]byte
}

// Received is a new message from a verified sender.
type Received struct{ Message Message }

// Expired says that a timer armed earlier has run out.
type Expired struct{ Timer Timer }

// Resumed is the event by which a machine continues the work for which it set Effects.Resume.
type Resumed struct{}

func (Start) event()    {}
func (Received) event() {}
func (Expired) event()  {}
func (Resumed) event()  {}

// Every machine keeps these limits on its output. Runners can rely on them.
const (
	// MaxStepBytes limits the total size of the message bodies that one Step sends.
	MaxStepBytes = 4 << 20
	// MaxChunkBytes limits the body of one message. Larger data is split into chunks.
	MaxChunkBytes = 512 << 10
)

// Effects are the actions that a step requests of its runner.
type Effects struct {
	Sync     bool      // whether the runner must write the event to disk before the actions below
	Claim    []string  // names to claim for this session; the runner aborts if another session has claimed one of them
	Send     []Message // messages to send; their bodies have at most MaxStepBytes together
	Arm      []Timer   // timers to start; the runner's configuration sets their durations
	Resume   bool      // whether the machine has more work and needs the event Resumed
	Progress Progress  // progress to report; zero for none
	End      *End      // non-nil when the session is over
}

// Timer is the name of a timer. Its duration belongs to the runner's configuration, because a
// machine has no clock.
type Timer string

// Progress reports how far a stage of a computation has come. A report without a total says that the
// stage begins.
type Progress struct {
	Stage       string
	Done, Total int64
}

// End closes a session. If Err is nil, the typed result can be read from the machine.
type End struct{ Err error }

// Life records whether a machine's session has not started, is running or has ended. The zero
// value has not started. Machines that pass every event to Life.Step share the checks that do
// not depend on the protocol.
type Life struct{ started, ended bool }

// Handlers holds a machine's function for each kind of event. Only Start must be set. Without Receive, the machine
// refuses all messages; without Resume, it refuses the event Resumed; without Expire, it refuses the event Expired.
type Handlers struct {
	Start   func(Start) (Effects, error)
	Receive func(Message) (Effects, error) // handles a message of the session to this machine
	Resume  func() (Effects, error)
	Expire  func(Timer) (Effects, error)
}

// Step passes an event to its handler in h. It refuses events that are out of order (any event before the start or
// after the end, a second start), and messages that [Session.Check] refuses. A session starts when its handler accepts
// the start, and ends when a handler sets Effects.End.
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

// Finish adds the end of the session to e. The session succeeded if err is nil.
func Finish(e Effects, err error) (Effects, error) {
	e.Sync, e.End = true, &End{Err: err}
	return e, nil
}

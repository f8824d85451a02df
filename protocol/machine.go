package protocol

import "crypto/sha256"

// A Machine is one role of one session of a protocol.
type Machine interface {
	// Step accepts one event. It takes about 100 ms at most, and sends at most
	// [MaxStepBytes]; work beyond that is asked for with Effects.Resume.
	//
	// An error refuses the event and leaves the state as it was. [ErrLater]
	// asks for the same event again when the machine has room. A [*BlameError]
	// names the peer that sent something it must not.
	Step(Event) (Effects, error)
}

// Event is something that happens to a machine: [Start], [Received], [Expired] or
// [Resumed].
type Event interface{ event() }

// Start is the first event of every session.
type Start struct {
	// InputHash is the SHA-256 of the encoded private input given to the
	// constructor. It is journalled, so that a replay over an edited input is
	// found out before it can answer twice under the same masks.
	InputHash [sha256.Size]byte
}

// Received is a message whose sender has been verified and that has not been
// seen before.
type Received struct{ Message Message }

// Expired says that a timer armed earlier has run out.
type Expired struct{ Timer Timer }

// Resumed grants a request for more work.
type Resumed struct{}

func (Start) event()    {}
func (Received) event() {}
func (Expired) event()  {}
func (Resumed) event()  {}

// Limits that every machine keeps and every runner may rely on.
const (
	// MaxStepBytes bounds the bodies that one Step sends.
	MaxStepBytes = 4 << 20
	// MaxChunkBytes bounds one message's body; bulk data travels in chunks.
	MaxChunkBytes = 512 << 10
)

// Effects are the demands of a step on its runner.
type Effects struct {
	Sync     bool      // the event is on disk before anything below happens
	Claim    []string  // once-for-ever names; held by another session: abort
	Send     []Message // at most MaxStepBytes of bodies
	Arm      []Timer   // how long each lasts is configuration
	Resume   bool      // there is more to do
	Progress Progress  // zero: nothing to report
	End      *End      // set once: the session is over
}

// Timer names a timer. Its duration belongs to the runner's configuration,
// because a machine has no clock.
type Timer string

// Progress reports how far a stage of the machine has come.
type Progress struct {
	Stage       string
	Done, Total int64
}

// End closes a session. With Err nil the typed result can be read from the
// machine.
type End struct{ Err error }

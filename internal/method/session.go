package method

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// Step is one step of a plan. It is a session of a protocol or, if Session is nil, a computation at
// the coordinator.
type Step struct {
	Name    string // the key in the result's timings, such as scale, protocol or tune
	Session *Session
}

// Session describes a step that its members run together. All fields except Follow are data.
type Session struct {
	Protocol string
	Version  uint16
	Params   []byte
	Members  []protocol.Member
	Purpose  string
	Parent   protocol.SessionID
	Salt     []byte // further bytes on which the session's ID depends, such as a query's tag

	// Discloses lists the kinds of messages that release data. The first message of such a kind
	// releases the data that the party's ledger has entered. Nil means any message.
	Discloses []string
	// Seeks is the number of ids that each other party may look up in this party's table; 0 if the
	// session looks up no ids.
	Seeks int

	// Absent is the number of parties without which the session can begin or continue. The protocol
	// decides how the other parties continue.
	Absent int
	// Claims lists names that only one session can ever enter in a party's ledger. If another
	// session has entered one of them, the party cannot take part.
	Claims []string
	// SlowTimers lists the timers of waits that can last longer than one round.
	SlowTimers []protocol.Timer

	// Follow computes the complete session from the public values of the earlier steps and the
	// coordinator's announcement. It is a pure function: coordinator and parties call the same
	// function and must compute the same descriptor. Nil means that the job determines the whole
	// session, and that the coordinator must not announce anything.
	Follow func(k Public, announced []byte) (*Session, error)
}

// Public holds the values that a job's steps so far have made public to all its members. Each
// method has its own type for them. Public is nil at a party whose table has not been read.
type Public any

// errAnnounced is the error for an announcement in a step that allows none.
var errAnnounced = errors.New("method: the coordinator announces a value in a step that allows no announcement")

// After returns the session that Follow computes, or s itself if Follow is nil. A party can call it
// twice. It returns an error for an announcement if Follow is nil.
func (s *Session) After(k Public, announced []byte) (*Session, error) {
	switch {
	case s.Follow == nil && len(announced) > 0:
		return nil, errAnnounced
	case s.Follow == nil:
		return s, nil
	}
	return s.Follow(k, announced)
}

// Has reports whether s has a member of this name.
func (s *Session) Has(name string) bool {
	return slices.ContainsFunc(s.Members, func(m protocol.Member) bool { return m.Name == name })
}

// Descriptor returns the protocol descriptor of the session. One submission of a job, one step and
// one attempt give an equal descriptor, as long as the roster's members of the job keep their keys. So a restarted
// coordinator returns to its session.
func (s *Session) Descriptor(id job.ID, step int, roster [sha256.Size]byte, attempt uint32) protocol.Descriptor {
	return protocol.Descriptor{
		Protocol: s.Protocol, Version: s.Version, Params: s.Params, Members: s.Members,
		Purpose: s.Purpose, Parent: s.Parent, Roster: roster, Attempt: attempt, Nonce: nonce(id, step, attempt, s.Salt),
	}
}

// nonce derives a session's nonce from its arguments. The ID of a job or query is drawn for every submission.
func nonce(id job.ID, step int, attempt uint32, salt []byte) [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/nonce")
	w.Fixed(id[:])
	w.Uint32(uint32(step))
	w.Uint32(attempt)
	w.Bytes32(salt)
	return sha256.Sum256(w.Bytes())
}

// Setup holds the inputs from which a member's machine is built.
type Setup struct {
	protocol.Setup
	Announced []byte // the announcement given to Follow; the descriptor sometimes holds only its hash
	// Sign signs with the member's identity key.
	Sign func(message []byte) []byte
	// Key returns a member's identity key from the roster; nil for a name that is not in it.
	Key func(member string) ed25519.PublicKey
	// Interrupt, if not nil, is polled while a member trains before it builds its machine. An error
	// ends the training and is returned wrapped.
	Interrupt func() error
}

// Keys returns the identity keys of members.
func (s Setup) Keys(names []string) []ed25519.PublicKey {
	keys := make([]ed25519.PublicKey, len(names))
	for i, name := range names {
		keys[i] = s.Key(name)
	}
	return keys
}

// Run is one member's machine, with the functions that process its result.
type Run struct {
	Machine   protocol.Machine
	InputHash [sha256.Size]byte
	// Finish processes the machine's result. It is called after the session has ended without
	// error, whether the session ran in this process or was replayed after a restart.
	Finish func() error
	// The function Own, if set, returns the fault that the machine has found in this member's own
	// data, or nil. It can be called however the session ended. The error belongs in the member's own
	// log.
	Own func() error
	// Announced returns how many ids each peer has contributed to an intersection, as far as this
	// member knows. It can be called however the session ended.
	Announced func() map[string]int
	// Stayed returns the parties whose completion the session requires. It is called after the
	// server's machine has ended. Nil means that the session requires all participants.
	Stayed func() []string
}

// RunOf returns the run of a newly built machine, or the error err of building it.
func RunOf[M interface {
	protocol.Machine
	InputHash() [sha256.Size]byte
}](m M, err error, finish func() error) (*Run, error) {
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: finish}, nil
}

// Nothing does nothing. It serves as Finish of a machine without a result.
func Nothing() error { return nil }

// slowRounds is the number of rounds that a member waits with one of the session's SlowTimers. The
// slowest party and the member that learns from all rows take more than one round. So does a server that waits
// one round for each client that drops out.
const slowRounds = 24

// Timeout returns the duration of a machine's timer; round is the time limit of one round.
func (s *Session) Timeout(t protocol.Timer, round time.Duration) time.Duration {
	if slices.Contains(s.SlowTimers, t) {
		return slowRounds * round
	}
	return round
}

// Translated wraps a machine and rewrites its final error into an error about the job.
type Translated struct {
	protocol.Machine
	Meaning func(error) error // rewrites the error with which the session ends
}

// Step implements protocol.Machine.
func (w Translated) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := w.Machine.Step(e)
	if err == nil && effects.End != nil && effects.End.Err != nil {
		effects.End = &protocol.End{Err: w.Meaning(effects.End.Err)}
	}
	return effects, err
}

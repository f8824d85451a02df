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

// Step is one step of a plan: a session of a protocol or, without one, a computation
// at the coordinator.
type Step struct {
	Name    string // the key in the result's timings: scale, protocol, tune, learn, evaluate
	Session *Session
}

// Session describes a step that its members run together. All of it but Follow is data.
type Session struct {
	Protocol string
	Version  uint16
	Params   []byte
	Members  []protocol.Member
	Purpose  string
	Parent   protocol.SessionID
	Salt     []byte // distinguishes sessions of one step: queries

	// Discloses lists kinds of messages. The first message of these kinds releases the data that
	// the party's ledger has entered; nil means any message.
	Discloses []string
	// Seeks counts the ids that each other party may look up in this party's table; 0 if no ids are
	// looked up.
	Seeks int

	// Absent counts the parties that may be missing, from the beginning or later; the protocol
	// decides how the others continue.
	Absent int
	// Claims lists the names that a party enters in its ledger once for ever: if another session
	// has entered one of them, the party cannot take part.
	Claims []string
	// SlowTimers are the timers that wait for others' work, which takes more than one round.
	SlowTimers []protocol.Timer

	// Follow returns the session that follows from the public values of the steps before and the
	// coordinator's announcement, or the reason why there can be none. It is a pure function:
	// coordinator and parties call the same function and must compute the same descriptor. Nil
	// means that the job determines everything, and nothing may be announced.
	Follow func(k Public, announced []byte) (*Session, error)
}

// Public holds the values that a job's steps so far have made public to all its members. Its
// type is the method's own, and it is nil before the first step has ended.
type Public any

// errAnnounced refuses an announcement that no session follows from.
var errAnnounced = errors.New("method: the coordinator announces something where there is nothing to announce")

// After returns the session that follows; see Follow. A party may call it twice.
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

// Descriptor describes the session. One submission of a job, one step and one attempt always give
// an equal descriptor, so a restarted coordinator returns to its session.
func (s *Session) Descriptor(id job.ID, step int, roster [sha256.Size]byte, attempt uint32) protocol.Descriptor {
	return protocol.Descriptor{
		Protocol: s.Protocol, Version: s.Version, Params: s.Params, Members: s.Members,
		Purpose: s.Purpose, Parent: s.Parent, Roster: roster, Attempt: attempt, Nonce: nonce(id, step, attempt, s.Salt),
	}
}

// nonce derives a nonce from the job id, which is drawn for every submission.
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
	Announced []byte // the input of Follow: the descriptor may hold only its hash
	// Sign signs with the member's identity key.
	Sign func(message []byte) []byte
	// Key returns a member's identity key from the roster; nil for a stranger.
	Key func(member string) ed25519.PublicKey
	// Interrupt, if not nil, is polled while a machine is built that requires training first.
	// An error ends the training and is returned wrapped.
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
	// Finish processes the result. It is called once the session has ended without error, in the
	// process's life or by replay.
	Finish func() error
	// Own, if not nil, returns the fault that the machine has found in this member's own
	// data, or nil, however the session ends. The error belongs in the member's own log.
	Own func() error
	// Announced counts the ids that each peer is known to have brought to an intersection. It may be called however the session ended.
	Announced func() map[string]int
	// Stayed names, after the end of the server's machine, the parties that must have completed
	// the session; nil means that all participants must.
	Stayed func() []string
}

// RunOf returns the run of a machine that has just been built, unless building it has failed.
func RunOf[M interface {
	protocol.Machine
	InputHash() [sha256.Size]byte
}](m M, err error, finish func() error) (*Run, error) {
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: finish}, nil
}

// Nothing is the Finish of a machine without a result.
func Nothing() error { return nil }

// slowRounds is the number of rounds that an idle member waits: for the slowest other party, and
// for the member that learns from all rows.
const slowRounds = 24

// Timeout returns the duration of a machine's timer where one round may take the given time.
func (s *Session) Timeout(t protocol.Timer, round time.Duration) time.Duration {
	if slices.Contains(s.SlowTimers, t) {
		return slowRounds * round
	}
	return round
}

// Translated wraps a machine that does not know the job it serves. It rewrites the machine's final
// error into an error about the job.
type Translated struct {
	protocol.Machine
	Meaning func(error) error // of an end that is not nil
}

// Step implements protocol.Machine.
func (w Translated) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := w.Machine.Step(e)
	if err == nil && effects.End != nil && effects.End.Err != nil {
		effects.End = &protocol.End{Err: w.Meaning(effects.End.Err)}
	}
	return effects, err
}

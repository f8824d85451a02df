package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// Stage is one step of a job. Exactly one of Session and Compute is set.
type Stage struct {
	Name    string // the key in the result's timings: scale, protocol, tune, learn, evaluate
	Session *Session
	// Compute is a method of the server, which soon ends when ctx does, with an
	// error that wraps that of ctx.
	Compute func(s *Server, ctx context.Context, progress Reporter) error
}

// Session is a stage that the members run together.
type Session struct {
	Protocol string
	Version  uint16
	Params   []byte
	Members  []protocol.Member
	Purpose  string
	Parent   protocol.SessionID
	Salt     []byte // tells apart sessions of one stage: questions about new rows

	// Release says what the session lets out of a party's data; nil where no ledger
	// is kept of it, the zero release where this party lets nothing out.
	Release func(*Party) method.Release
	// Discloses are the kinds of messages of which the first lets it out; nil where
	// that is any message.
	Discloses []string
	// Seeks is how many ids each other party may look for in this one's table; 0 where
	// nobody looks for any.
	Seeks int

	// Absent is how many of the parties may be missing, from the beginning or later;
	// the protocol says what becomes of the others.
	Absent int
	// Claims are the names that a party takes in its ledger once for ever: where
	// another session has them, it cannot take part.
	Claims []string

	// Patient are the timers that last longer than one round, because they wait for
	// the work of others: see [Session.Timeout].
	Patient []protocol.Timer

	// Follow returns the session as it follows from what is known and from what the
	// coordinator announces, or why it cannot be. It is a pure function and sees no
	// secret: coordinator and parties call the same one and must come to the same
	// descriptor. Nil: the job says all, and nothing may be announced.
	Follow func(k Known, announced []byte) (*Session, error)

	// announce returns what the coordinator alone knows and has to tell the parties,
	// so that Follow finds the session; nil where nothing is announced.
	announce func(*Server) ([]byte, error)
	party    func(*Party, Setup) (*Run, error)
	server   func(*Server, Setup) (*Run, error)
}

// Known is what a job's stages so far have made public to all its members. It is
// all that [Session.Follow] sees of them.
type Known struct {
	Declared declared // by the holders of columns
}

// errAnnounced refuses an announcement that no session follows from.
var errAnnounced = errors.New("stage: the coordinator announces something where there is nothing to announce")

// After returns the session as it follows from what is known and from what is
// announced. All members come to the same; a party may be told twice.
func (s *Session) After(k Known, announced []byte) (*Session, error) {
	if s.Follow != nil {
		return s.Follow(k, announced)
	}
	if len(announced) > 0 {
		return nil, errAnnounced
	}
	return s, nil
}

// following returns a session whose parameters follow from what is known: the
// coordinator announces nothing of them.
func following(s Session, params func(Known) ([]byte, error)) *Session {
	s.Follow = func(k Known, announced []byte) (*Session, error) {
		if len(announced) > 0 {
			return nil, errAnnounced
		}
		next := s
		var err error
		if next.Params, err = params(k); err != nil {
			return nil, err
		}
		return &next, nil
	}
	return &s
}

// adopted is a session of the frame whose parameters follow from what is known, with
// what builds its machines.
func adopted(f *method.Session, party func(*Party, Setup) (*Run, error), server func(*Server, Setup) (*Run, error)) *Session {
	return following(Session{
		Protocol: f.Protocol, Version: f.Version, Members: f.Members, Purpose: f.Purpose, Discloses: f.Discloses, party: party, server: server,
	}, func(k Known) ([]byte, error) {
		next, err := f.After(k, nil)
		if err != nil {
			return nil, err
		}
		return next.Params, nil
	})
}

// Announce returns what the coordinator announces with its proposal of the session,
// so that parties can find it too; nil where the session needs nothing of the kind.
func (s *Session) Announce(srv *Server) ([]byte, error) {
	if s.announce == nil {
		return nil, nil
	}
	return s.announce(srv)
}

// Ended is how a session went for its parties, by their own reports.
type Ended = method.End

// Descriptor describes the session: see [method.Session.Descriptor].
func (s *Session) Descriptor(id job.ID, stage int, roster [sha256.Size]byte, attempt uint32) protocol.Descriptor {
	return s.framed().Descriptor(id, stage, roster, attempt)
}

// Party builds the machine of a party.
func (s *Session) Party(p *Party, setup Setup) (*Run, error) { return s.party(p, setup) }

// Server builds the machine of the coordinator, which must be a member.
func (s *Session) Server(srv *Server, setup Setup) (*Run, error) {
	return s.server(srv, setup)
}

// Cast names who takes part in a job. The first party leads: it draws what
// the coordinator must not know.
type Cast struct {
	ID          job.ID // of this submission of the job, or of the question; sessions' epochs hold it
	Coordinator string
	Parties     []string
}

// Plan returns the stages of a job, in order.
func Plan(j *job.Job, c Cast) ([]Stage, error) {
	switch j.Protocol.Values.(type) {
	case *gramKeys:
		return planGram(j, c)
	case *fdsklKeys:
		return planFDSKL(j, c)
	}
	return nil, fmt.Errorf("stage: protocol %q cannot be run by a federation", j.Protocol.Name())
}

// framed is the cast as the frame knows it.
func (c Cast) framed() method.Case {
	return method.Case{ID: c.ID, Coordinator: c.Coordinator, Parties: c.Parties}
}

// parties lists the data holders, the first as leader.
func (c Cast) parties() []protocol.Member { return c.framed().Holders() }

// withServer lists the coordinator as server and then the parties.
func (c Cast) withServer() []protocol.Member { return c.framed().Everybody() }

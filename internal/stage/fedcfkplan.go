package stage

import (
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// purposeKernel is that of the session in which the kernel is told.
const purposeKernel = "fedcfk/kernel"

// planFedCFK: count how many like each item, count how many like both of two that
// enough like, make a kernel of that, tell it to everybody who is still there. Each
// party recommends to itself.
func planFedCFK(j *job.Job, c Cast) ([]Stage, error) {
	if err := j.Deployable(); err != nil {
		return nil, err
	}
	crowd := newCrowd(j, c.Coordinator)
	if err := crowd.check(len(c.Parties)); err != nil {
		return nil, err
	}
	first, err := crowd.summing(crowd.counting(), c.Parties, crowd.spec(len(c.Parties), crowd.Items), tally{
		vector:  func(p *Party) secagg.Vector { return p.crowd.device.Popularity() },
		heard:   func(p *Party, h heard) { p.crowd.first = h },
		counted: func(s *Server) *counted { return &s.crowd.first },
	})
	if err != nil {
		return nil, err
	}
	return []Stage{
		{Name: "popularity", Session: first},
		{Name: "triangle", Session: &Session{
			Protocol: secagg.Name, Version: secagg.Version, Members: c.crowd(), Purpose: PurposeTriangle,
			conduct: (*Server).pairItems, follow: (*Party).pairItems,
		}},
		{Name: "learn", Compute: (*Server).makeKernel},
		{Name: "tell", Session: &Session{
			Protocol: broadcast.Name, Version: broadcast.Version, Members: c.crowd(), Purpose: purposeKernel,
			conduct: (*Server).tellKernel, follow: (*Party).awaitKernel,
		}},
	}, nil
}

func newCrowd(j *job.Job, server string) Crowd {
	return Crowd{Job: j, Server: server, Items: len(j.Protocol.Items)}
}

// tally says what a sum adds, and where its result goes.
type tally struct {
	vector  func(*Party) secagg.Vector
	heard   func(*Party, heard)
	counted func(*Server) *counted
}

// heard is what a party knows of a sum that it was in.
type heard struct {
	Summation
	survivors []string // whose vectors are in it
}

// counted is what the server knows of a sum.
type counted struct {
	Summation
	sums  []int64
	added []string // whose vectors are in it
	Ended
}

// summing is one of the two sums as a stage of a federation.
func (c Crowd) summing(s Session, clients []string, spec secagg.Spec, t tally) (*Session, error) {
	params, err := secagg.NewParams(spec, len(clients))
	if err != nil {
		return nil, fault.BadInput(err)
	}
	s = s.adding(params, c.Server, clients)
	s.Absent, s.Claims = len(clients)-params.Cohort(), []string{secagg.Claim(onceForEver, s.Purpose)}
	s.party = func(p *Party, setup Setup) (*Run, error) { return p.addList(setup, params, t) }
	s.server = func(srv *Server, setup Setup) (*Run, error) { return srv.addLists(setup, params, t.counted(srv)) }
	s.ended = func(srv *Server, e Ended) { t.counted(srv).Ended = e }
	return &s, nil
}

// pairStage is the second sum among all who are in the first, with its items.
func (c Crowd) pairStage(first Summation, survivors []string, sums []int64) (*Session, []int, error) {
	pairing, kept, err := c.pairing(first, sums)
	if err != nil {
		return nil, nil, err
	}
	spec := c.pairSpec(first.people(), len(survivors), triangle(len(kept)-1))
	s, err := c.summing(pairing, survivors, spec, tally{
		vector: func(p *Party) secagg.Vector { return p.crowd.device.Pairs(kept) },
		heard: func(party *Party, h heard) {
			party.crowd.second, party.crowd.kept, party.crowd.popularity = h, kept, sums
		},
		counted: func(s *Server) *counted { return &s.crowd.second },
	})
	return s, kept, err
}

// telling is the session in which the kernel is told. Its name holds the kernel's
// hash, so that all who are told one are told the same.
func (c Crowd) telling(second Summation, n notice) *Session {
	return &Session{
		Protocol: broadcast.Name, Version: broadcast.Version, Params: broadcast.Encode(n.bytes), Members: served(c.Server, n.clients),
		Purpose: purposeKernel, Parent: second.Session.ID(), Salt: n.hash[:], Absent: len(n.clients),
	}
}

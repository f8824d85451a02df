package stage

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
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
			announce: (*Server).announcePairs, Follow: crowd.followPairs,
		}},
		{Name: "learn", Compute: (*Server).makeKernel},
		{Name: "tell", Session: &Session{
			Protocol: broadcast.Name, Version: broadcast.Version, Members: c.crowd(), Purpose: purposeKernel,
			announce: (*Server).announceKernel, Follow: crowd.followKernel,
		}},
	}, nil
}

func newCrowd(j *job.Job, server string) Crowd {
	return Crowd{Job: j, Server: server, Items: len(job.As[*fedcfkKeys](j.Protocol).Items)}
}

// tally says what a sum adds, and where its result goes.
type tally struct {
	vector  func(*Party) secagg.Vector
	heard   func(*Party, heard)
	counted func(*Server) *counted
}

// crowdKnown is what the two sums have made public to all who were in them.
type crowdKnown struct {
	first, second heard
	kept          []int // items in the second sum
}

// heard is what all who were in a sum know of it.
type heard struct {
	Summation
	survivors []string // whose vectors are in it
}

// counted is what the server knows of a sum.
type counted struct {
	heard
	sums []int64
}

// summing is one of the two sums as a stage of a federation.
func (c Crowd) summing(s Session, clients []string, spec secagg.Spec, t tally) (*Session, error) {
	params, err := secagg.NewParams(spec, len(clients))
	if err != nil {
		return nil, fault.BadInput(err)
	}
	s = s.adding(params, c.Server, clients)
	s.Absent, s.Claims = len(clients)-params.Cohort(), []string{secagg.Claim(onceForEver, s.Purpose)}
	s.Patient = []protocol.Timer{secagg.TimerServer} // the server waits a round for each that vanishes
	s.party = func(p *Party, setup Setup) (*Run, error) { return p.addList(setup, params, t) }
	s.server = func(srv *Server, setup Setup) (*Run, error) { return srv.addLists(setup, params, t.counted(srv)) }
	return &s, nil
}

// pairStage returns the second sum among all who are in the first.
func (c Crowd) pairStage(first heard, sums []int64) (*Session, error) {
	pairing, kept, err := c.pairing(first.Summation, sums)
	if err != nil {
		return nil, err
	}
	spec := c.pairSpec(first.people(), len(first.survivors), triangle(len(kept)-1))
	return c.summing(pairing, first.survivors, spec, tally{
		vector: func(p *Party) secagg.Vector { return p.crowd.device.Pairs(kept) },
		heard: func(party *Party, h heard) {
			party.crowd.second, party.crowd.kept, party.crowd.popularity = h, kept, sums
		},
		counted: func(s *Server) *counted { return &s.crowd.second },
	})
}

// followPairs returns the second sum, if it follows from the first.
func (c Crowd) followPairs(k Known, announced []byte) (*Session, error) {
	first := k.Crowd.first
	if first.Session == nil {
		return nil, errors.New("stage: the first sum has not ended here")
	}
	next, err := decodeProposal(announced)
	if err == nil {
		err = c.possible(first.survivors, next)
	}
	if err != nil {
		return nil, toldWrong(c.Server, "%w", err)
	}
	return c.pairStage(first, next.Sums)
}

// followKernel returns the session in which the kernel of the second sum is told.
func (c Crowd) followKernel(k Known, announced []byte) (*Session, error) {
	second := k.Crowd.second
	if second.Session == nil {
		return nil, errors.New("stage: the second sum has not ended here")
	}
	n, err := decodeNotice(announced)
	if err != nil {
		return nil, toldWrong(c.Server, "%w", err)
	}
	if name, ok := subset(n.clients, second.survivors); !ok {
		return nil, toldWrong(c.Server, "%s is to be told the kernel, and is not in the second sum", name)
	}
	if most := kernelBytes(len(k.Crowd.kept)); n.bytes > most {
		return nil, toldWrong(c.Server, "a kernel of %d bytes, %d items have at most %d", n.bytes, len(k.Crowd.kept), most)
	}
	return c.telling(second.Summation, n), nil
}

// telling is the session in which the kernel is told. Its name holds the kernel's
// hash, so that all who are told one are told the same.
func (c Crowd) telling(second Summation, n notice) *Session {
	return &Session{
		Protocol: broadcast.Name, Version: broadcast.Version, Params: broadcast.Encode(n.bytes), Members: served(c.Server, n.clients),
		Purpose: purposeKernel, Parent: second.Session.ID(), Salt: n.hash[:], Absent: len(n.clients),
		party: func(p *Party, setup Setup) (*Run, error) {
			m, err := broadcast.NewParty(setup.Setup)
			if err != nil {
				return nil, err
			}
			return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return p.recommend(m.Body(), n.hash) }}, nil
		},
		server: func(srv *Server, setup Setup) (*Run, error) {
			m, err := broadcast.NewServer(setup.Setup, srv.crowd.broadcast)
			if err != nil {
				return nil, err
			}
			return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return nil }}, nil
		},
	}
}

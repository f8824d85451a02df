package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// crowdServer is what the coordinator has of a recommender: counts, and what
// follows from them.
type crowdServer struct {
	first, second counted
	kept          []int // items in the second sum
	kernel        *ItemKernel
	broadcast     []byte // the kernel as it is told
}

func (s *Server) crowdOf() Crowd { return newCrowd(s.Job, s.Cast.Coordinator) }

// addLists is the machine that adds up the parties' vectors.
func (s *Server) addLists(setup Setup, params secagg.Params, into *counted) (*Run, error) {
	m, err := secagg.NewServer(setup.Setup, params, setup.keys(setup.Session.With(protocol.RoleParty)), secagg.Limits{})
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, Stayed: m.Stayed, Finish: func() error {
		into.Summation, into.sums, into.added = Summation{setup.Session, params}, m.Sums()[0], m.Survivors()
		return nil
	}}, nil
}

// pairItems is the second sum, among all who are in the first. Those who have not
// reported its good end are not waited for.
func (s *Server) pairItems() (*Session, []byte, error) {
	first := &s.crowd.first
	if least := s.crowdOf().Remaining(len(s.Cast.Parties)); len(first.Stayed) < least {
		gone := slices.DeleteFunc(slices.Clone(s.Cast.Parties), func(name string) bool { return slices.Contains(first.Stayed, name) })
		return nil, nil, protocol.Blame(gone[0], protocol.KindSilent, fmt.Errorf("stage: %d of %d parties are left after the first sum, and %d are needed; missing: %s", len(first.Stayed), len(s.Cast.Parties), least, strings.Join(gone, ", ")))
	}
	next, kept, err := s.crowdOf().pairStage(first.Summation, first.added, first.sums)
	if err != nil {
		return nil, nil, err
	}
	next.Left = slices.DeleteFunc(slices.Clone(first.added), func(name string) bool { return slices.Contains(first.Stayed, name) })
	s.crowd.kept = kept
	return next, Proposal{Sums: first.sums}.encode(), nil
}

// makeKernel makes the kernel between items of the second sum.
func (s *Server) makeKernel(context.Context, Reporter) error {
	first := &s.crowd.first
	var err error
	if s.crowd.kernel, err = s.crowdOf().ItemKernel(s.crowd.kept, first.sums, s.crowd.second.sums, len(first.added)); err != nil {
		return err
	}
	s.crowd.broadcast = s.crowd.kernel.Encode()
	return nil
}

// tellKernel tells the kernel to everybody who is still there.
func (s *Server) tellKernel() (*Session, []byte, error) {
	n := notice{clients: s.crowd.second.Stayed, bytes: len(s.crowd.broadcast), hash: sha256.Sum256(s.crowd.broadcast)}
	if len(n.clients) == 0 {
		return nil, nil, errors.New("stage: no party is left that could be told the kernel")
	}
	told := s.crowdOf().telling(s.crowd.second.Summation, n)
	told.server = func(srv *Server, setup Setup) (*Run, error) {
		m, err := broadcast.NewServer(setup.Setup, srv.crowd.broadcast)
		if err != nil {
			return nil, err
		}
		return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return nil }}, nil
	}
	return told, n.encode(), nil
}

// crowdResult is what the coordinator knows of a recommender. How good it is only
// the parties could tell.
func (s *Server) crowdResult() *Result {
	c, first, second := s.crowdOf(), &s.crowd.first, &s.crowd.second
	people, likes := len(s.Cast.Parties), 0
	for _, n := range first.sums {
		likes += int(n)
	}
	return &Result{
		Job: s.Job.Name, Grid: []Cell{}, Training: likes,
		Crowd: &CrowdResult{
			Source: s.Job.Data.Source, People: people, Items: c.Items, Ratings: likes, Cut: c.Cut(people, first.sums),
			Kept: len(s.crowd.kernel.Kept), Broadcast: len(s.crowd.broadcast), Sums: []CrowdSum{first.figures(), second.figures()},
		},
		Leakage: c.Leakage(CrowdFacts{
			People: people, First: first.added, Second: second.added, Sums: first.sums, Kept: s.crowd.kept, Pairs: second.sums,
		}),
	}
}

// figures are what there is to tell of a sum.
func (c *counted) figures() CrowdSum {
	f := c.Figures()
	f.Added, f.Vanished, f.ToServer, f.FromServer = len(c.added), f.Clients-len(c.Stayed), c.Sent, c.Received
	return f
}

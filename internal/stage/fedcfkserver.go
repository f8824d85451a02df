package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// crowdServer is what the coordinator has of a recommender: counts, and what
// follows from them.
type crowdServer struct {
	first, second counted
	kernel        *ItemKernel // between the items in the second sum
	broadcast     []byte      // the kernel as it is told
}

// known is what all members know of the sums.
func (s *crowdServer) known() crowdKnown {
	k := crowdKnown{first: s.first.heard, second: s.second.heard}
	if s.kernel != nil {
		k.kept = s.kernel.Kept
	}
	return k
}

func (s *Server) crowdOf() Crowd { return newCrowd(s.Job, s.Cast.Coordinator) }

// addLists is the machine that adds up the parties' vectors.
func (s *Server) addLists(setup Setup, params secagg.Params, into *counted) (*Run, error) {
	m, err := secagg.NewServer(setup.Setup, params, setup.Keys(setup.Session.With(protocol.RoleParty)), secagg.Limits{})
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, Stayed: m.Stayed, Finish: func() error {
		into.heard, into.sums = heard{Summation{setup.Session, params}, m.Survivors()}, m.Sums()[0]
		return nil
	}}, nil
}

// announcePairs returns the first sum, from which the second follows, if enough are
// left. Who has added what is no list of likes is not known.
func (s *Server) announcePairs() ([]byte, error) {
	first, stayed := &s.crowd.first, s.ended["popularity"].Stayed
	if least := s.crowdOf().Remaining(len(s.Cast.Parties)); len(stayed) < least {
		gone := slices.DeleteFunc(slices.Clone(s.Cast.Parties), func(name string) bool { return slices.Contains(stayed, name) })
		return nil, protocol.Blame(gone[0], protocol.KindSilent, fmt.Errorf("stage: %d of %d parties are left after the first sum, and %d are needed; missing: %s", len(stayed), len(s.Cast.Parties), least, strings.Join(gone, ", ")))
	}
	p := Proposal{Sums: first.sums}
	if err := s.crowdOf().possible(first.survivors, p); err != nil {
		return nil, fmt.Errorf("stage: a party has added what is no list of likes: %w", err)
	}
	return p.encode(), nil
}

// makeKernel makes the kernel between items of the second sum.
func (s *Server) makeKernel(context.Context, Reporter) error {
	first, c := &s.crowd.first, s.crowdOf()
	kept := c.Kept(first.Summation, first.sums)
	var err error
	if s.crowd.kernel, err = c.ItemKernel(kept, first.sums, s.crowd.second.sums, len(first.survivors)); err != nil {
		return err
	}
	s.crowd.broadcast = s.crowd.kernel.Encode()
	return nil
}

// announceKernel names the kernel, and everybody who is still there to be told it.
func (s *Server) announceKernel() ([]byte, error) {
	n := notice{clients: s.ended["triangle"].Stayed, bytes: len(s.crowd.broadcast), hash: sha256.Sum256(s.crowd.broadcast)}
	if len(n.clients) == 0 {
		return nil, errors.New("stage: no party is left that could be told the kernel")
	}
	return n.encode(), nil
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
			Kept: len(s.crowd.kernel.Kept), Broadcast: len(s.crowd.broadcast),
			Sums: []CrowdSum{first.figures(s.ended["popularity"]), second.figures(s.ended["triangle"])},
		},
		Leakage: c.Leakage(CrowdFacts{
			People: people, First: first.survivors, Second: second.survivors, Sums: first.sums, Kept: s.crowd.kernel.Kept, Pairs: second.sums,
		}),
	}
}

// figures are what there is to tell of a sum that went so.
func (c *counted) figures(e Ended) CrowdSum {
	f := c.Figures()
	f.Added, f.Vanished, f.ToServer, f.FromServer = len(c.survivors), f.Clients-len(e.Stayed), e.Sent, e.Received
	return f
}

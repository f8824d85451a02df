package fedcfk

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Server holds the coordinator's state of a job: counts, and the results computed from them.
type Server struct {
	Crowd
	first, second counted
	kernel        *ItemKernel           // between the items in the second sum
	broadcast     []byte                // the kernel as it is told
	ended         map[string]method.End // how sessions went, by step
}

// counted holds the server's knowledge of a sum.
type counted struct {
	heard
	likes []int64
}

// Server implements [method.Federated].
func (Method) Server(c method.Case) (method.Server, error) { return crowdOf(c).Server(), nil }

// Server returns the coordinator's state at the start of a job.
func (c Crowd) Server() *Server { return &Server{Crowd: c, ended: make(map[string]method.End)} }

// Known implements [method.Member].
func (s *Server) Known() method.Known {
	k := known{first: s.first.heard, second: s.second.heard}
	if s.kernel != nil {
		k.kept = s.kernel.Kept
	}
	return k
}

// Machine implements [method.Member].
func (s *Server) Machine(step string, setup method.Setup) (*method.Run, error) {
	if step == Tell {
		return sums.Sender(setup, s.broadcast)
	}
	params, err := secagg.DecodeParams(setup.Session.Params)
	if err != nil {
		return nil, err
	}
	m, err := secagg.NewServer(setup.Setup, params, setup.Keys(setup.Session.With(protocol.RoleParty)), secagg.Limits{})
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, Stayed: m.Stayed, Finish: func() error {
		return s.Count(step, sums.Summation{Session: setup.Session, Params: params}, m.Survivors(), m.Sums()[0])
	}}, nil
}

// Count takes in the sum of a step.
func (s *Server) Count(step string, of sums.Summation, survivors []string, likes []int64) error {
	c := counted{heard{of, survivors}, likes}
	switch step {
	case Popularity:
		s.first = c
	case Triangle:
		s.second = c
	default:
		return noSum(step)
	}
	return nil
}

// Ended implements [method.Observer].
func (s *Server) Ended(step string, e method.End) { s.ended[step] = e }

// Announce implements [method.Announcer].
func (s *Server) Announce(step string) ([]byte, error) {
	switch step {
	case Triangle:
		return s.announcePairs()
	case Tell:
		return s.announceKernel()
	}
	return nil, nil
}

// announcePairs returns the counts of the first sum, from which the second follows, if enough
// parties are left. If a party has added a vector that is no list of likes, nobody knows
// which party.
func (s *Server) announcePairs() ([]byte, error) {
	stayed := s.ended[Popularity].Stayed
	if least := s.Remaining(len(s.Parties)); len(stayed) < least {
		gone := slices.DeleteFunc(slices.Clone(s.Parties), func(name string) bool { return slices.Contains(stayed, name) })
		return nil, protocol.Blame(gone[0], protocol.KindSilent, fmt.Errorf("fedcfk: %d of %d parties are left after the first sum, and %d are needed; missing: %s", len(stayed), len(s.Parties), least, strings.Join(gone, ", ")))
	}
	if err := s.possible(s.first.survivors, s.first.likes); err != nil {
		return nil, fmt.Errorf("fedcfk: a party has added what is no list of likes: %w", err)
	}
	return encodeCounts(s.first.likes), nil
}

// announceKernel names the kernel, and everybody who is still there to be told it.
func (s *Server) announceKernel() ([]byte, error) {
	n := notice{clients: s.ended[Triangle].Stayed, bytes: len(s.broadcast), hash: sha256.Sum256(s.broadcast)}
	if len(n.clients) == 0 {
		return nil, errors.New("fedcfk: no party is left that could be told the kernel")
	}
	return n.encode(), nil
}

// Compute implements [method.Server]: it makes the kernel between items of the
// second sum.
func (s *Server) Compute(_ context.Context, step string, _ method.Reporter) error {
	if step != Learn {
		return fmt.Errorf("fedcfk: nothing to compute in step %q", step)
	}
	kept := s.Kept(s.first.People(), s.Popularity(s.first.likes))
	var err error
	if s.kernel, err = s.ItemKernel(kept, s.Squares(s.first.likes), s.second.likes, len(s.first.survivors)); err != nil {
		return err
	}
	s.broadcast = s.kernel.Encode()
	return nil
}

// Result implements [method.Server]. How good the recommendations are only the
// parties could tell.
func (s *Server) Result() (*method.Result, error) {
	people, popularity, likes := len(s.Parties), s.Popularity(s.first.likes), 0
	for _, n := range popularity {
		likes += int(n)
	}
	return &method.Result{
		Job: s.Job.Name, Grid: []learner.Cell{}, Training: likes,
		Details: &Details{&Figures{
			Source: s.Job.Data.Source, People: people, Items: s.Items, Ratings: likes, Cut: s.Cut(people, popularity),
			Kept: len(s.kernel.Kept), Broadcast: len(s.broadcast),
			Sums: []sums.Figures{s.first.Ended(len(s.first.survivors), s.ended[Popularity]), s.second.Ended(len(s.second.survivors), s.ended[Triangle])},
		}},
		Leakage: s.leakage(facts{
			people: people, first: s.first.survivors, second: s.second.survivors, likes: popularity, kept: s.kernel.Kept, pairs: s.second.likes,
		}),
	}, nil
}

// Outcome implements [method.Decider]: what is decided about held-out ratings stays
// with each device.
func (s *Server) Outcome() *method.Outcome { return &method.Outcome{} }

// WriteModel implements [method.Model].
func (s *Server) WriteModel(w io.Writer) error {
	_, err := w.Write(s.broadcast)
	return err
}

// Private implements [method.Model]: every device gets the model.
func (s *Server) Private() bool { return false }

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
)

// Server holds the coordinator's state of a job: the two sums and the results computed from them.
type Server struct {
	Devices
	first, second       serverSum
	firstEnd, secondEnd method.End
	kernel              *ItemKernel // kernel between the items in the second sum
	broadcast           []byte      // the encoded kernel that is broadcast
}

// serverSum is a finished sum at the server: its public part and the added counts.
type serverSum struct {
	publicSum
	likes []int64
}

// Server returns the coordinator's state at the start of a job.
func (c Devices) Server() *Server { return &Server{Devices: c} }

func (s *Server) values() public {
	k := public{first: s.first.publicSum, second: s.second.publicSum}
	if s.kernel != nil {
		k.kept = s.kernel.Kept
	}
	return k
}

// Public returns the values that the sums so far have made public.
func (s *Server) Public() method.Public { return s.values() }

func (s *Server) addLikes(setup method.Setup) (*method.Run, error) {
	return sums.Collector(setup, s.CountFirst)
}

func (s *Server) addPairs(setup method.Setup) (*method.Run, error) {
	return sums.Collector(setup, s.CountSecond)
}

func (s *Server) tell(setup method.Setup) (*method.Run, error) {
	return sums.Sender(setup, s.broadcast)
}

// CountFirst stores the result of the first sum.
func (s *Server) CountFirst(of sums.Summation, survivors []string, sums [][]int64) error {
	s.first = serverSum{publicSum{of, survivors}, sums[0]}
	return nil
}

// CountSecond stores the result of the second sum.
func (s *Server) CountSecond(of sums.Summation, survivors []string, sums [][]int64) error {
	s.second = serverSum{publicSum{of, survivors}, sums[0]}
	return nil
}

// EndedFirst records how the first sum ended for its members.
func (s *Server) EndedFirst(e method.End) { s.firstEnd = e }

// EndedSecond records how the second sum ended for its members.
func (s *Server) EndedSecond(e method.End) { s.secondEnd = e }

// AnnouncePairs returns the announcement of the second sum, which holds the first sum's counts of
// likes. It returns an error if too few parties remain, or if the sum shows that some vector is not
// a list of likes. The sum does not show whose vector this is.
func (s *Server) AnnouncePairs() ([]byte, error) {
	stayed := s.firstEnd.Stayed
	if least := s.Remaining(len(s.Parties)); len(stayed) < least {
		gone := slices.DeleteFunc(slices.Clone(s.Parties), func(name string) bool { return slices.Contains(stayed, name) })
		return nil, protocol.Blame(gone[0], protocol.KindSilent, fmt.Errorf("fedcfk: only %d of %d parties are left after the first sum; at least %d are required; missing: %s", len(stayed), len(s.Parties), least, strings.Join(gone, ", ")))
	}
	if err := s.checkCounts(s.first.survivors, s.first.likes); err != nil {
		return nil, fmt.Errorf("fedcfk: a party has added a vector that is not a list of likes: %w", err)
	}
	return encodeCounts(s.first.likes), nil
}

// announceKernel returns the announcement of the kernel. The announcement names the remaining
// parties, which receive the kernel.
func (s *Server) announceKernel() ([]byte, error) {
	n := notice{clients: s.secondEnd.Stayed, bytes: len(s.broadcast), hash: sha256.Sum256(s.broadcast)}
	if len(n.clients) == 0 {
		return nil, errors.New("fedcfk: no party is left to receive the kernel")
	}
	return n.encode(), nil
}

// Learn computes the kernel between items from the second sum.
func (s *Server) Learn(context.Context, method.Reporter) error {
	kept := s.Kept(s.first.People(), s.Popularity(s.first.likes))
	var err error
	if s.kernel, err = s.ItemKernel(kept, s.Squares(s.first.likes), s.second.likes, len(s.first.survivors)); err != nil {
		return err
	}
	s.broadcast = s.kernel.Encode()
	return nil
}

// Result returns the coordinator's result. It has no metrics of the recommendations, which only the
// parties can compute.
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
			Sums: []sums.Figures{s.first.Ended(len(s.first.survivors), s.firstEnd), s.second.Ended(len(s.second.survivors), s.secondEnd)},
		}},
		Exposures: s.exposures(people),
		Leakage: s.leakage(facts{
			people: people, first: s.first.survivors, second: s.second.survivors, likes: popularity, kept: s.kernel.Kept, pairs: s.second.likes,
		}),
	}, nil
}

// WriteModel writes the kernel between items as the model file.
func (s *Server) WriteModel(w io.Writer) error {
	_, err := w.Write(s.broadcast)
	return err
}

package psi

import (
	"errors"

	"github.com/mercer-fl/mercer/protocol"
)

// Server is the machine that compares the sets of three or more parties. It has no key.
type Server struct {
	core
	sets   []*list    // tokens of each party's set; nil before its size is known
	sorted int        // number of sorted sets
	ranks  [][]uint32 // ranks of the common tokens in each set
	sent   int        // number of chunks of positions sent, over all sets
	common int
}

// NewServer returns the machine of the session's server, which compares the sets.
func NewServer(s protocol.Setup, p Params) (*Server, error) { return newServer(s, p, bulk()) }

func newServer(s protocol.Setup, p Params, size sizing) (*Server, error) {
	d, err := newCore(s, p, size, protocol.RoleServer)
	if err != nil {
		return nil, err
	}
	return &Server{core: d, sets: make([]*list, len(d.parties))}, nil
}

// Common returns the number of ids that all parties have, once the session has ended well.
func (s *Server) Common() int { return s.common }

// Step implements [protocol.Machine].
func (s *Server) Step(e protocol.Event) (protocol.Effects, error) { return s.step(s, e) }

func (s *Server) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != [32]byte{} {
		return protocol.Effects{}, errors.New("psi: the comparer has no input")
	}
	return protocol.Effects{}, nil
}

func (s *Server) receive(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Round == roundAnnounce && m.Kind == kindCount:
		return s.takeCount(m)
	case m.Round == roundTokens && m.Kind == kindTokens:
		return s.takeTokens(m)
	}
	return protocol.Effects{}, m.Unexpected()
}

func (s *Server) takeCount(m protocol.Message) (protocol.Effects, error) {
	i := s.index(m.Sender)
	if i < 0 || s.sets[i] != nil {
		return protocol.Effects{}, m.Unexpected()
	}
	n, err := s.count(m, countBytes)
	if err != nil {
		return protocol.Effects{}, err
	}
	s.sets[i] = newList(n, tokenBytes, s.sizing.elements)
	return protocol.Effects{}, nil
}

// last returns the party that blinds a set last and sends it to the comparer.
func (s *Server) last(owner int) string { return s.parties[s.around(owner, -1)] }

func (s *Server) takeTokens(m protocol.Message) (protocol.Effects, error) {
	owner := int(m.Sequence)
	if owner >= len(s.sets) || m.Sender != s.last(owner) {
		return protocol.Effects{}, m.Unexpected()
	}
	l := s.sets[owner]
	if l == nil {
		return protocol.Effects{}, protocol.ErrLater
	}
	if err := l.check(m, tokenBytes); err != nil {
		return protocol.Effects{}, err
	}
	l.put(int(m.Chunk), m.Body)
	return protocol.Effects{Progress: s.progress()}, nil
}

func (s *Server) progress() protocol.Progress {
	p := protocol.Progress{Stage: "receive"}
	for _, set := range s.sets {
		if set != nil {
			p.Total += int64(len(set.have))
			p.Done += int64(len(set.have) - set.missing)
		}
	}
	return p
}

// busy reports whether all sets have arrived. The session ends when the server has no more
// work.
func (s *Server) busy() bool {
	name, _ := s.debtor()
	return name == ""
}

func (s *Server) debtor() (name, what string) {
	for i, set := range s.sets {
		if set == nil {
			return s.parties[i], "the size of its set"
		}
	}
	for i, set := range s.sets {
		if !set.complete() {
			return s.last(i), "the tokens of " + s.parties[i]
		}
	}
	return "", ""
}

// resume sorts one set, compares all sets, or sends some positions of common elements.
func (s *Server) resume() (protocol.Effects, error) {
	if !s.busy() {
		return protocol.Effects{}, errIdle
	}
	if owner := s.sorted; owner < len(s.sets) {
		if !s.sets[owner].sort() {
			return end(repeated(s.last(owner), s.parties[owner]))
		}
		s.sorted++
		return protocol.Effects{}, nil
	}
	if s.ranks == nil {
		return s.compare()
	}
	return s.tell()
}

func (s *Server) compare() (protocol.Effects, error) {
	s.ranks = intersect(s.sets)
	if s.common = len(s.ranks[0]); s.common > 0 {
		return protocol.Effects{}, nil
	}
	var eff protocol.Effects
	e := &EmptyError{Parties: s.parties}
	for i, name := range s.parties {
		e.Sizes = append(e.Sizes, s.sets[i].n)
		eff.Send = append(eff.Send, s.setup.Message(name, roundCommon, kindNone, nil))
	}
	return protocol.Finish(eff, e)
}

// tell sends the next chunks of positions of common elements. The chunks of a set go to the party
// that blinded the set last.
func (s *Server) tell() (protocol.Effects, error) {
	each := s.sizing.positions
	n := chunks(s.common, each)
	eff := protocol.Effects{Sync: true}
	for range min(s.sizing.messages, n*len(s.sets)-s.sent) {
		owner, i := s.sent%len(s.sets), s.sent/len(s.sets)
		places := make([]uint32, 0, each)
		for _, rank := range s.ranks[owner][i*each : min((i+1)*each, s.common)] {
			places = append(places, s.sets[owner].order[rank])
		}
		eff.Send = append(eff.Send, s.message(s.last(owner), roundCommon, kindCommon, owner, i, n, encodePlaces(s.common, places)))
		s.sent++
	}
	if s.sent == n*len(s.sets) {
		return protocol.Finish(eff, nil)
	}
	return eff, nil
}

package sums

import (
	"encoding/hex"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Sum describes what all parties of a job add up.
type Sum struct {
	Epoch  string // names what all must have been told alike
	Groups []secagg.Group
}

// Summing adds up a vector of every party by secure aggregation, once for each submission of
// a job. The sum follows from the public values.
func Summing[K any](c method.Case, purpose string, of func(K) (Sum, error)) (*method.Session, func(method.Session, K, []byte) (*method.Session, error)) {
	params := func(k K) ([]byte, error) {
		sum, err := of(k)
		if err != nil {
			return nil, err
		}
		p, err := Params(len(c.Parties), hex.EncodeToString(c.ID[:])+"/"+sum.Epoch, sum.Groups)
		if err != nil {
			return nil, fault.BadInput(err)
		}
		return p.Encode(), nil
	}
	return &method.Session{
		Protocol: secagg.Name, Version: secagg.Version, Members: c.Crowd(), Purpose: purpose, Discloses: []string{secagg.InputKind},
	}, method.From(params)
}

// Check refuses groups that cannot be added up among some parties: a fault in them is a fault
// in every epoch.
func Check(parties int, groups []secagg.Group) error {
	_, err := Params(parties, "any", groups)
	return err
}

// Params requires every party in the sum, and allows all parties but two to work with the
// server, within the limits of secagg's promises.
func Params(parties int, epoch string, groups []secagg.Group) (secagg.Params, error) {
	return secagg.NewParams(secagg.Spec{
		Adversary: secagg.Active, Corrupted: min(float64(parties-2)/float64(parties), 0.9), Minimum: parties, Groups: groups, Epoch: epoch,
	}, parties)
}

// Vector is entries that are held as they are, group by group.
type Vector [][]int64

// Read implements [secagg.Vector].
func (v Vector) Read(group, first int, dst []int64) { copy(dst, v[group][first:]) }

// Client is the machine that adds a vector. added is called once the session has ended
// well.
func Client(s method.Setup, v secagg.Vector, added func()) (*method.Run, error) {
	return Adder(s, v, func(Summation, []string) error { added(); return nil })
}

// Adder is Client where added wants to know of the sum, and who is in it.
func Adder(s method.Setup, v secagg.Vector, added func(of Summation, survivors []string) error) (*method.Run, error) {
	params, err := secagg.DecodeParams(s.Session.Params)
	if err != nil {
		return nil, err
	}
	id := secagg.Identity{Sign: s.Sign, Keys: s.Keys(s.Session.With(protocol.RoleParty))}
	m, err := secagg.NewClient(s.Setup, params, v, id)
	return method.RunOf(m, err, func() error { return added(Summation{s.Session, params}, m.Survivors()) })
}

// Collector is the machine that adds the clients' vectors up, and hands the sums and who is in
// them to take.
func Collector(s method.Setup, take func(of Summation, survivors []string, sums [][]int64) error) (*method.Run, error) {
	return collector(s, secagg.Limits{}, take)
}

// Server is Collector where a sum that lacks a party is refused.
func Server(s method.Setup, room secagg.Limits, take func(sums [][]int64) error) (*method.Run, error) {
	run, err := collector(s, room, func(of Summation, survivors []string, sums [][]int64) error {
		if len(survivors) != of.People() {
			return fmt.Errorf("sums: of %d parties only, of %d", len(survivors), of.People())
		}
		return take(sums)
	})
	if err == nil {
		run.Stayed = nil // all
	}
	return run, err
}

func collector(s method.Setup, room secagg.Limits, take func(Summation, []string, [][]int64) error) (*method.Run, error) {
	params, err := secagg.DecodeParams(s.Session.Params)
	if err != nil {
		return nil, err
	}
	m, err := secagg.NewServer(s.Setup, params, s.Keys(s.Session.With(protocol.RoleParty)), room)
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, Stayed: m.Stayed, Finish: func() error { return take(Summation{s.Session, params}, m.Survivors(), m.Sums()) }}, nil
}

package sums

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Sum describes the entries that all parties of a job add up.
type Sum struct {
	Epoch  string // names the data that must be equal at all parties
	Groups []secagg.Group
}

// Summing adds up a vector of every party by secure aggregation, once for each submission of a job.
// The sum's settings follow from the public values.
func Summing[K any](c method.Instance, purpose string, of func(K) (Sum, error)) (*method.Session, func(method.Session, K, []byte) (*method.Session, error)) {
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
		Protocol: secagg.Name, Version: secagg.Version, Members: c.MembersWithoutLeader(), Purpose: purpose, Discloses: []string{secagg.InputKind},
	}, method.From(params)
}

// Check refuses groups that cannot be added up among the given number of parties. The result is the
// same in every epoch.
func Check(parties int, groups []secagg.Group) error {
	_, err := Params(parties, "any", groups)
	return err
}

// Params requires every party in the sum, and allows all parties but two to collude with the
// server, within the limits of secagg.
func Params(parties int, epoch string, groups []secagg.Group) (secagg.Params, error) {
	return secagg.NewParams(secagg.Spec{
		Adversary: secagg.Active, Corrupted: min(float64(parties-2)/float64(parties), 0.9), Minimum: parties, Groups: groups, Epoch: epoch,
	}, parties)
}

// Vector holds entries in memory, group by group.
type Vector [][]int64

// Read implements [secagg.Vector].
func (v Vector) Read(group, first int, dst []int64) { copy(dst, v[group][first:]) }

// Client builds the machine that adds a vector. added is called once the session has ended without
// error.
func Client(s method.Setup, v secagg.Vector, added func()) (*method.Run, error) {
	return Adder(s, v, func(Summation, []string) error { added(); return nil })
}

// Adder is like Client, but passes the sum and its survivors to added.
func Adder(s method.Setup, v secagg.Vector, added func(of Summation, survivors []string) error) (*method.Run, error) {
	params, err := secagg.DecodeParams(s.Session.Params)
	if err != nil {
		return nil, err
	}
	id := secagg.Identity{Sign: s.Sign, Keys: s.Keys(s.Session.With(protocol.RoleParty))}
	m, err := secagg.NewClient(s.Setup, params, v, id)
	return method.RunOf(m, err, func() error { return added(Summation{s.Session, params}, m.Survivors()) })
}

// Collector builds the machine that adds up the clients' vectors. take receives the sums and the
// survivors.
func Collector(s method.Setup, take func(of Summation, survivors []string, sums [][]int64) error) (*method.Run, error) {
	return collector(s, secagg.Limits{}, take)
}

// Server is like Collector, but refuses a sum in which a party is missing.
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

// Broadcasting describes a session in which the coordinator sends all parties the result of a sum, in
// length bytes.
func Broadcasting[K any](c method.Instance, length func(K) int) (*method.Session, func(method.Session, K, []byte) (*method.Session, error)) {
	return &method.Session{Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Members: c.MembersWithoutLeader(), Purpose: "train"},
		method.From(func(k K) ([]byte, error) { return collective.EncodeBroadcast(length(k)), nil })
}

// Sender builds the machine of the member that sends a body to the others.
func Sender(s method.Setup, body []byte) (*method.Run, error) {
	m, err := collective.NewBroadcastServer(s.Setup, body)
	return method.RunOf(m, err, method.Nothing)
}

// Receiver builds the machine of a member that receives a body and passes it to take.
func Receiver(s method.Setup, take func(body []byte) error) (*method.Run, error) {
	m, err := collective.NewBroadcastParty(s.Setup)
	return method.RunOf(m, err, func() error { return take(m.Body()) })
}

// AllGatherer builds the machine of a party that sends a statement to all members. take receives all
// parties' statements.
func AllGatherer(s method.Setup, own []byte, take func(statements [][]byte) error) (*method.Run, error) {
	m, err := collective.NewAllGather(s.Setup, own)
	return method.RunOf(m, err, func() error { return take(m.Statements()) })
}

// Listener builds the coordinator's machine, which sends no statement.
func Listener(s method.Setup, take func(statements [][]byte) error) (*method.Run, error) {
	m, err := collective.NewAllGatherServer(s.Setup)
	return method.RunOf(m, err, func() error { return take(m.Statements()) })
}

// Statements reads every statement, and returns a digest of all of them. An error of read blames
// the party.
func Statements(parties []string, statements [][]byte, read func([]byte) error) ([sha256.Size]byte, error) {
	var all wire.Writer
	for i, b := range statements {
		if err := read(b); err != nil {
			return [sha256.Size]byte{}, protocol.Blame(parties[i], protocol.KindMalformed, err)
		}
		all.Bytes32(b) // after its length, so that lists of statements have one reading
	}
	return sha256.Sum256(all.Bytes()), nil
}

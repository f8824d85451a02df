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

// Sum describes a vector that every party of a job contributes to one secure sum.
type Sum struct {
	Epoch  string // identifies the data that must be equal at all parties
	Groups []secagg.Group
}

// Summing returns a session that adds up one vector of every party by secure aggregation. Each
// submission of a job has its own epoch, in which the session runs once. The returned function
// derives the settings from the public values.
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

// Check refuses groups that secagg cannot add up among the given number of parties. The result does
// not depend on the epoch.
func Check(parties int, groups []secagg.Group) error {
	_, err := Params(parties, "any", groups)
	return err
}

// Params returns the parameters of a sum that needs every party. The sum withstands a server with which all
// parties but two collude, within the limits of secagg.
func Params(parties int, epoch string, groups []secagg.Group) (secagg.Params, error) {
	return secagg.NewParams(secagg.Spec{
		Adversary: secagg.Active, Corrupted: min(float64(parties-2)/float64(parties), 0.9), Minimum: parties, Groups: groups, Epoch: epoch,
	}, parties)
}

// Vector holds a party's entries in memory, group by group.
type Vector [][]int64

// Read implements [secagg.Vector].
func (v Vector) Read(group, first int, dst []int64) { copy(dst, v[group][first:]) }

// Client builds the machine of a party that adds a vector to the sum. It calls onEnd after the
// session has ended without error.
func Client(s method.Setup, v secagg.Vector, onEnd func()) (*method.Run, error) {
	return Adder(s, v, func(Summation, []string) error { onEnd(); return nil })
}

// Adder builds the machine of a party that adds a vector to the sum. Unlike Client, Adder passes
// the sum's description and the survivors to the function onEnd.
func Adder(s method.Setup, v secagg.Vector, onEnd func(of Summation, survivors []string) error) (*method.Run, error) {
	params, err := secagg.DecodeParams(s.Session.Params)
	if err != nil {
		return nil, err
	}
	id := secagg.Identity{Sign: s.Sign, Keys: s.Keys(s.Session.With(protocol.RoleParty))}
	m, err := secagg.NewClient(s.Setup, params, v, id)
	return method.RunOf(m, err, func() error { return onEnd(Summation{s.Session, params}, m.Survivors()) })
}

// Collector builds the server's machine, which adds up the clients' vectors. The function take
// receives the sums and the survivors.
func Collector(s method.Setup, take func(of Summation, survivors []string, sums [][]int64) error) (*method.Run, error) {
	return collector(s, secagg.Limits{}, take)
}

// Server builds the coordinator's machine for a sum that needs the vector of every party. Otherwise
// it works like [Collector].
func Server(s method.Setup, room secagg.Limits, take func(sums [][]int64) error) (*method.Run, error) {
	run, err := collector(s, room, func(of Summation, survivors []string, sums [][]int64) error {
		if len(survivors) != of.People() {
			return fmt.Errorf("sums: the sum has the vectors of only %d of %d parties; all are required", len(survivors), of.People())
		}
		return take(sums)
	})
	if err == nil {
		run.Stayed = nil // all parties must complete the session
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

// Broadcasting returns a session in which the coordinator sends one message to all parties. length
// returns the message's size in bytes.
func Broadcasting[K any](c method.Instance, length func(K) int) (*method.Session, func(method.Session, K, []byte) (*method.Session, error)) {
	return &method.Session{Protocol: collective.BroadcastName, Version: collective.BroadcastVersion, Members: c.MembersWithoutLeader(), Purpose: "train"},
		method.From(func(k K) ([]byte, error) { return collective.EncodeBroadcast(length(k)), nil })
}

// Sender builds the machine of the member that broadcasts a message body.
func Sender(s method.Setup, body []byte) (*method.Run, error) {
	m, err := collective.NewBroadcastServer(s.Setup, body)
	return method.RunOf(m, err, method.Nothing)
}

// Receiver builds the machine of a member that receives a broadcast body and passes it to take.
func Receiver(s method.Setup, take func(body []byte) error) (*method.Run, error) {
	m, err := collective.NewBroadcastParty(s.Setup)
	return method.RunOf(m, err, func() error { return take(m.Body()) })
}

// AllGatherer builds the machine of a party that sends a statement to all members. take receives
// all parties' statements.
func AllGatherer(s method.Setup, own []byte, take func(statements [][]byte) error) (*method.Run, error) {
	m, err := collective.NewAllGather(s.Setup, own)
	return method.RunOf(m, err, func() error { return take(m.Statements()) })
}

// Listener builds the coordinator's machine, which receives all parties' statements and sends none.
func Listener(s method.Setup, take func(statements [][]byte) error) (*method.Run, error) {
	m, err := collective.NewAllGatherServer(s.Setup)
	return method.RunOf(m, err, func() error { return take(m.Statements()) })
}

// Statements parses every party's statement with the given function, and returns a digest of all
// statements. An error of the function blames the party that sent the statement.
func Statements(parties []string, statements [][]byte, parse func([]byte) error) ([sha256.Size]byte, error) {
	var all wire.Writer
	for i, b := range statements {
		if err := parse(b); err != nil {
			return [sha256.Size]byte{}, protocol.Blame(parties[i], protocol.KindMalformed, err)
		}
		all.Bytes32(b) // writes the length first, so that different lists have different encodings
	}
	return sha256.Sum256(all.Bytes()), nil
}

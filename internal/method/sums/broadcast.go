package sums

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/declare"
)

// Telling describes a session in which the coordinator sends all parties the result of a sum, in
// length bytes.
func Telling[K any](c method.Case, length func(K) int) (*method.Session, func(method.Session, K, []byte) (*method.Session, error)) {
	return &method.Session{Protocol: broadcast.Name, Version: broadcast.Version, Members: c.Crowd(), Purpose: "train"},
		method.From(func(k K) ([]byte, error) { return broadcast.Encode(length(k)), nil })
}

// Sender is the machine of the member that sends a body to the others.
func Sender(s method.Setup, body []byte) (*method.Run, error) {
	m, err := broadcast.NewServer(s.Setup, body)
	return method.RunOf(m, err, method.Nothing)
}

// Receiver is the machine of a member that receives a body, which take takes over.
func Receiver(s method.Setup, take func(body []byte) error) (*method.Run, error) {
	m, err := broadcast.NewParty(s.Setup)
	return method.RunOf(m, err, func() error { return take(m.Body()) })
}

// Declarer is the machine of a party that declares something to all members. take is given
// what each party has declared.
func Declarer(s method.Setup, own []byte, take func(statements [][]byte) error) (*method.Run, error) {
	m, err := declare.NewParty(s.Setup, own)
	return method.RunOf(m, err, func() error { return take(m.Statements()) })
}

// Listener is the machine of the coordinator, which declares nothing.
func Listener(s method.Setup, take func(statements [][]byte) error) (*method.Run, error) {
	m, err := declare.NewServer(s.Setup)
	return method.RunOf(m, err, func() error { return take(m.Statements()) })
}

// Statements has every statement read, and names all of them by a digest. An error of read
// blames the party.
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

package sums

import (
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol/broadcast"
)

// Tell describes a session in which the coordinator tells all parties what follows from
// a sum, in so many bytes.
func Tell(c method.Case, length func(method.Known) int) *method.Session {
	return method.Following(method.Session{
		Protocol: broadcast.Name, Version: broadcast.Version, Members: c.Crowd(), Purpose: "train",
	}, func(k method.Known) ([]byte, error) { return broadcast.Encode(length(k)), nil })
}

// Teller is the machine of the member that tells a body to the others.
func Teller(s method.Setup, body []byte) (*method.Run, error) {
	m, err := broadcast.NewServer(s.Setup, body)
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, InputHash: m.InputHash(), Finish: method.Nothing}, nil
}

// Hearer is the machine of a member that is told a body, which take takes over.
func Hearer(s method.Setup, take func(body []byte) error) (*method.Run, error) {
	m, err := broadcast.NewParty(s.Setup)
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return take(m.Body()) }}, nil
}

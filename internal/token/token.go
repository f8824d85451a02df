// Package token says what the tokens of a SecVM job are for.
package token

import (
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Challenge is what tokens for the packages of one iteration are asked for: the
// same for all devices.
func Challenge(c *secvm.Configuration, iteration uint32) privacypass.Challenge {
	return of(c, secvm.Challenge(c.Hash(), iteration))
}

// Presence is what the token is asked for that a device shows the relay. The
// gateway takes none of it.
func Presence(c *secvm.Configuration, iteration uint32) privacypass.Challenge {
	return of(c, secvm.PresenceChallenge(c.Hash(), iteration))
}

func of(c *secvm.Configuration, context [32]byte) privacypass.Challenge {
	return privacypass.Challenge{Type: privacypass.Type(c.TokenType), Issuer: c.Issuer, Context: context[:]}
}

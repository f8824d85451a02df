// Package token says what the tokens of a SecVM job are for.
package token

import (
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Challenge is what tokens for one iteration are asked for: the same for all
// devices.
func Challenge(c *secvm.Configuration, iteration uint32) privacypass.Challenge {
	context := secvm.Challenge(c.Hash(), iteration)
	return privacypass.Challenge{Type: privacypass.Type(c.TokenType), Issuer: c.Issuer, Context: context[:]}
}

package secvm

import "github.com/mercer-fl/mercer/privacypass"

// PackageToken returns what tokens for the packages of one iteration are asked for: the
// same for all devices.
func (c *Configuration) PackageToken(iteration uint32) privacypass.Challenge {
	return c.token(Challenge(c.Hash(), iteration))
}

// PresenceToken returns what the token is asked for that a device shows the relay. The
// gateway takes none of it.
func (c *Configuration) PresenceToken(iteration uint32) privacypass.Challenge {
	return c.token(PresenceChallenge(c.Hash(), iteration))
}

func (c *Configuration) token(context [32]byte) privacypass.Challenge {
	return privacypass.Challenge{Type: privacypass.Type(c.TokenType), Issuer: c.Issuer, Context: context[:]}
}

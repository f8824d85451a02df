package identity

import (
	"crypto/hpke"
	"fmt"
)

// SessionKeys belong to one session of one process. They are announced to the
// other members under the identity's signature and destroyed with the
// session's seed.
type SessionKeys struct {
	kem func() hpke.PrivateKey // a closure for the reason given at Identity
}

// DeriveSession derives a session's keys from the session's seed, never from
// the identity's: a stolen identity file must not open old traffic.
func DeriveSession(seed [SeedSize]byte) (SessionKeys, error) {
	kem, err := deriveKEM(seed, labelSession)
	if err != nil {
		return SessionKeys{}, fmt.Errorf("identity: %w", err)
	}
	return SessionKeys{func() hpke.PrivateKey { return kem }}, nil
}

// KEMKey opens messages that were sealed to the session.
func (k SessionKeys) KEMKey() hpke.PrivateKey { return k.kem() }

// Public returns the key to announce.
func (k SessionKeys) Public() hpke.PublicKey { return k.kem().PublicKey() }

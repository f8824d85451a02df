package identity

import (
	"crypto/hpke"
	"fmt"
)

// ParseKEM reads a public key that others seal to.
func ParseKEM(key []byte) (hpke.PublicKey, error) {
	k, err := hpke.MLKEM768X25519().NewPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity: a KEM key of %d bytes: %w", len(key), err)
	}
	return k, nil
}

package envelope

import (
	"crypto/hpke"

	"github.com/mercer-fl/mercer/protocol"
)

// Open verifies and decrypts in one go, for a receiver that has one key only.
// It returns the errors of [Verify] and [Verified.Open].
func Open(wire []byte, lookup Lookup, key hpke.PrivateKey, self string) (protocol.Message, error) {
	v, err := Verify(wire, lookup, self)
	if err != nil {
		return protocol.Message{}, err
	}
	return v.Open(key)
}

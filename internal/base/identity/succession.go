package identity

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

// succession returns the statement that an earlier identity signs: the member's name, and the fingerprint of all
// keys of its next identity.
func succession(name string, next Public) []byte {
	f := next.Fingerprint()
	var w wire.Writer
	w.String("mercer/v1/identity/succession")
	w.Bytes32([]byte(name))
	w.Fixed(f[:])
	return w.Bytes()
}

// SignNext signs the keys with which a member of this name replaces this identity.
func (id *Identity) SignNext(name string, next Public) []byte {
	return ed25519.Sign(id.SigningKey(), succession(name, next))
}

// SignedNext reports whether the identity with the keys p has signed the member's next keys.
func (p Public) SignedNext(name string, next Public, signature []byte) bool {
	return len(signature) == ed25519.SignatureSize && ed25519.Verify(p.Sign, succession(name, next), signature)
}

// Rotation is a change of the identity file at a path to another seed.
type Rotation struct {
	Earlier, Next *Identity

	path       string
	next       [SeedSize]byte
	passphrase []byte // passphrase of the file; nil for a plain file
}

// Rotate prepares the change of an identity file to the given seed. It changes nothing yet.
func (s Secrets) Rotate(path string, next [SeedSize]byte) (*Rotation, error) {
	switch _, ok, err := s.credential(CredentialIdentity); {
	case err != nil:
		return nil, fault.BadInputf("identity: %w", err)
	case ok:
		return nil, fault.BadInputf("the identity is the credential %s, which only systemd encrypts; move it into the home, rotate it there, and make the credential again", CredentialIdentity)
	}
	seed, passphrase, err := s.open(path)
	if err != nil {
		return nil, err
	}
	r := &Rotation{path: path, next: next, passphrase: passphrase}
	var failed error
	r.Earlier, err = FromSeed(seed)
	r.Next, failed = FromSeed(next)
	if err = errors.Join(err, failed); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return r, nil
}

// Commit replaces the file, under the same passphrase, and overwrites the earlier seed. A crash leaves
// the earlier file or the next one.
func (r *Rotation) Commit() error { return store(r.path, r.next, r.passphrase) }

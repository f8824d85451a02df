package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/crypto/shamir"
	"github.com/mercer-fl/mercer/protocol"
)

// Identity holds the keys by which clients know each other, independently of the server.
type Identity struct {
	Sign func(message []byte) []byte // Ed25519 under the client's own key
	Keys []ed25519.PublicKey         // of all clients, in the descriptor's order
}

// checkIdentities refuses keys that cannot verify the clients' signatures.
func checkIdentities(list []ed25519.PublicKey, clients int) error {
	if len(list) != clients {
		return fmt.Errorf("secagg: %d identity keys for %d clients", len(list), clients)
	}
	for i, key := range list {
		if len(key) != ed25519.PublicKeySize {
			return fmt.Errorf("secagg: the identity key of client %d has %d bytes; take it from the roster", i, len(key))
		}
	}
	return nil
}

// keyBytes is the size of a public key.
const keyBytes = 32

// keys are a client's advertised keys: one for receiving shares, and one for agreeing on
// masks.
type keys struct {
	encryption, mask [keyBytes]byte
	signature        [ed25519.SignatureSize]byte
}

const keysBytes = 2*keyBytes + ed25519.SignatureSize

func (k keys) encode(w *wire.Writer) {
	w.Fixed(k.encryption[:])
	w.Fixed(k.mask[:])
	w.Fixed(k.signature[:])
}

func readKeys(r *wire.Reader) (k keys) {
	r.Fixed(k.encryption[:])
	r.Fixed(k.mask[:])
	r.Fixed(k.signature[:])
	return k
}

// statement returns the bytes that a client signs for its keys.
func (k keys) statement(id protocol.SessionID, client int) []byte {
	var w wire.Writer
	w.String("mercer/v1/secagg/keys")
	w.Fixed(id[:])
	w.Uint32(uint32(client))
	w.Fixed(k.encryption[:])
	w.Fixed(k.mask[:])
	return w.Bytes()
}

func (k keys) verify(id protocol.SessionID, client int, signer ed25519.PublicKey) error {
	if k.encryption == k.mask {
		return errors.New("the client has advertised one key for two purposes")
	}
	if !ed25519.Verify(signer, k.statement(id, client), k.signature[:]) {
		return errors.New("the client has not signed its keys")
	}
	return nil
}

// secrets are a client's own secrets, all derived from its session seed and the session's
// name: a secret of one session is of no use in another.
type secrets struct {
	encryption, mask *ecdh.PrivateKey
	maskSeed         [shamir.Size]byte // gives the key of the pairwise masks; shared among the holders
	self             [shamir.Size]byte // seed of the self mask; shared among the holders
	shares           [32]byte          // seed of the polynomials
}

func newSecrets(seed [32]byte, id protocol.SessionID) (*secrets, error) {
	s := &secrets{
		maskSeed: prg.Derive(seed, "secagg/mask", id[:]),
		self:     prg.Derive(seed, "secagg/self", id[:]),
		shares:   prg.Derive(seed, "secagg/shamir", id[:]),
	}
	var err error
	if s.encryption, err = privateKey(prg.Derive(seed, "secagg/encryption", id[:])); err != nil {
		return nil, err
	}
	s.mask, err = privateKey(s.maskSeed)
	return s, err
}

func privateKey(seed [32]byte) (*ecdh.PrivateKey, error) {
	k, err := ecdh.X25519().NewPrivateKey(seed[:])
	if err != nil {
		return nil, fmt.Errorf("secagg: %w", err)
	}
	return k, nil
}

// public signs the public keys.
func (s *secrets) public(id protocol.SessionID, client int, sign func([]byte) []byte) keys {
	k := keys{encryption: [keyBytes]byte(s.encryption.PublicKey().Bytes()), mask: [keyBytes]byte(s.mask.PublicKey().Bytes())}
	copy(k.signature[:], sign(k.statement(id, client)))
	return k
}

// agree performs the Diffie-Hellman exchange. A key of low order, which would give a
// publicly known secret, is an error.
func agree(own *ecdh.PrivateKey, other [keyBytes]byte) ([32]byte, error) {
	public, err := ecdh.X25519().NewPublicKey(other[:])
	if err != nil {
		return [32]byte{}, fmt.Errorf("secagg: %w", err)
	}
	secret, err := own.ECDH(public)
	if err != nil {
		return [32]byte{}, fmt.Errorf("secagg: %w", err)
	}
	return [32]byte(secret), nil
}

func number(i int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(i)) }

// pairMask returns the mask that two clients agree on. The client with the higher number
// adds it and the other subtracts it.
func pairMask(id protocol.SessionID, own *ecdh.PrivateKey, self, other int, key [keyBytes]byte) (Mask, error) {
	secret, err := agree(own, key)
	if err != nil {
		return Mask{}, err
	}
	lo, hi := min(self, other), max(self, other)
	return Mask{prg.Derive(secret, "secagg/pair", id[:], number(lo), number(hi)), self < other}, nil
}

// selfMask returns a client's self mask, which others can reconstruct from shares only.
func selfMask(id protocol.SessionID, seed [shamir.Size]byte) Mask {
	return Mask{Key: prg.Derive(seed, "secagg/single", id[:])}
}

// sealingKey encrypts the one message that a client sends to one holder of its shares. Each
// direction has its own key, so that a nonce is never used twice.
func sealingKey(id protocol.SessionID, own *ecdh.PrivateKey, from, to int, key [keyBytes]byte) ([32]byte, error) {
	secret, err := agree(own, key)
	if err != nil {
		return [32]byte{}, err
	}
	return prg.Derive(secret, "secagg/share", id[:], number(from), number(to)), nil
}

// sealer returns the cipher under that key.
func sealer(id protocol.SessionID, own *ecdh.PrivateKey, from, to int, key [keyBytes]byte) (cipher.AEAD, error) {
	derived, err := sealingKey(id, own, from, to, key)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived[:])
	if err != nil {
		return nil, fmt.Errorf("secagg: %w", err)
	}
	return cipher.NewGCM(block)
}

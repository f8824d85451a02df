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

// Identity holds the signing keys by which clients recognize each other without trusting the
// server.
type Identity struct {
	Sign func(message []byte) []byte // signs with Ed25519 under the client's own key
	Keys []ed25519.PublicKey         // public keys of all clients, in the descriptor's order
}

// checkIdentities returns an error unless there is one Ed25519 public key for each client.
func checkIdentities(list []ed25519.PublicKey, clients int) error {
	if len(list) != clients {
		return fmt.Errorf("secagg: there are %d identity keys for %d clients; give one for each client", len(list), clients)
	}
	for i, key := range list {
		if len(key) != ed25519.PublicKeySize {
			return fmt.Errorf("secagg: the identity key of client %d has %d bytes; it must have %d; take it from the roster", i, len(key), ed25519.PublicKeySize)
		}
	}
	return nil
}

// keyBytes is the size of an X25519 public key.
const keyBytes = 32

// keys is the pair of public keys that a client advertises: one to receive shares, and one to agree
// on masks. The client signs both.
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

// statement returns the bytes that a client signs to advertise its keys.
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
		return errors.New("the client has advertised the same key for encryption and for masks; the keys must differ")
	}
	if !ed25519.Verify(signer, k.statement(id, client), k.signature[:]) {
		return errors.New("the signature of the client's keys is not valid")
	}
	return nil
}

// secrets is the set of all secrets that a client generates for a session. The client derives all
// of them from its seed for the session and from the session's identity, so that a secret of one
// session is of no use in another.
type secrets struct {
	encryption, mask *ecdh.PrivateKey
	maskSeed         [shamir.Size]byte // seed of the private mask key; secret-shared among the holders
	self             [shamir.Size]byte // seed of the self mask; secret-shared among the holders
	shares           [32]byte          // seed of the polynomials for secret sharing
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

// publicKeys returns the client's public keys with its signature.
func (s *secrets) publicKeys(id protocol.SessionID, client int, sign func([]byte) []byte) keys {
	k := keys{encryption: [keyBytes]byte(s.encryption.PublicKey().Bytes()), mask: [keyBytes]byte(s.mask.PublicKey().Bytes())}
	copy(k.signature[:], sign(k.statement(id, client)))
	return k
}

// agree computes the Diffie-Hellman secret of the client's own key and another client's key. A key
// of low order, which would give a publicly known secret, is an error.
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

// pairMask returns the mask that two clients agree on. The client with the higher number adds the
// mask, and the other client subtracts it.
func pairMask(id protocol.SessionID, own *ecdh.PrivateKey, self, other int, key [keyBytes]byte) (Mask, error) {
	secret, err := agree(own, key)
	if err != nil {
		return Mask{}, err
	}
	lo, hi := min(self, other), max(self, other)
	return Mask{prg.Derive(secret, "secagg/pair", id[:], number(lo), number(hi)), self < other}, nil
}

// selfMask returns the self mask that belongs to a client's seed. Others can learn the seed only
// from its shares.
func selfMask(id protocol.SessionID, seed [shamir.Size]byte) Mask {
	return Mask{Key: prg.Derive(seed, "secagg/single", id[:])}
}

// sealingKey returns the key for the single message of shares that one client sends to one holder.
// Each direction has its own key, so that a nonce is never used twice.
func sealingKey(id protocol.SessionID, own *ecdh.PrivateKey, from, to int, key [keyBytes]byte) ([32]byte, error) {
	secret, err := agree(own, key)
	if err != nil {
		return [32]byte{}, err
	}
	return prg.Derive(secret, "secagg/share", id[:], number(from), number(to)), nil
}

// sealer returns the AES-GCM cipher for a message of shares, under the key from sealingKey.
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

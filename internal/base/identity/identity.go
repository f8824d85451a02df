package identity

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// The labels keep the derived keys apart; changing one changes every identity.
const (
	labelSign    = "mercer/v1/identity/sign"
	labelKEM     = "mercer/v1/identity/kem"
	labelNATS    = "mercer/v1/identity/nats"
	labelTLS     = "mercer/v1/identity/tls"
	labelSession = "mercer/v1/session/kem"
)

// Identity is a process's key pairs. Get one from [Create], [Load] or
// [FromSeed].
type Identity struct {
	// In a closure, because fmt follows pointers in another struct's unexported
	// fields, where it cannot call Format; it cannot look into a function.
	secret func() *secret
	public Public
}

type secret struct {
	sign ed25519.PrivateKey
	kem  hpke.PrivateKey
	nkey nkeys.KeyPair
	tls  ed25519.PrivateKey
	seed [SeedSize]byte
}

// FromSeed derives an identity from a seed that the caller keeps secret.
func FromSeed(seed [SeedSize]byte) (*Identity, error) {
	s, err := derive(seed)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	user, err := s.nkey.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return &Identity{func() *secret { return s }, Public{
		Sign: s.sign.Public().(ed25519.PublicKey),
		KEM:  s.kem.PublicKey().Bytes(),
		NKey: user,
	}}, nil
}

func derive(seed [SeedSize]byte) (*secret, error) {
	sign, err := expand(seed, labelSign)
	if err != nil {
		return nil, err
	}
	kem, err := deriveKEM(seed, labelKEM)
	if err != nil {
		return nil, err
	}
	user, err := expand(seed, labelNATS)
	if err != nil {
		return nil, err
	}
	nkey, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, user)
	if err != nil {
		return nil, err
	}
	link, err := expand(seed, labelTLS)
	if err != nil {
		return nil, err
	}
	return &secret{ed25519.NewKeyFromSeed(sign), kem, nkey, ed25519.NewKeyFromSeed(link), seed}, nil
}

func expand(seed [SeedSize]byte, label string) ([]byte, error) {
	return hkdf.Key(sha256.New, seed[:], nil, label, 32)
}

func deriveKEM(seed [SeedSize]byte, label string) (hpke.PrivateKey, error) {
	ikm, err := expand(seed, label)
	if err != nil {
		return nil, err
	}
	return hpke.MLKEM768X25519().DeriveKeyPair(ikm)
}

// Public returns the keys that every member has in the roster.
func (id *Identity) Public() Public { return id.public }

// PublicTLS returns Public with the key of TLS, as a member has it in the roster at whose
// port others connect.
func (id *Identity) PublicTLS() Public {
	p := id.public
	p.TLS = id.secret().tls.Public().(ed25519.PublicKey)
	return p
}

// TLSKey proves to those who connect that this process is at the port.
func (id *Identity) TLSKey() ed25519.PrivateKey { return id.secret().tls }

// SigningKey signs messages.
func (id *Identity) SigningKey() ed25519.PrivateKey { return id.secret().sign }

// KEMKey opens messages that were sealed to the identity itself, as only messages before
// the announcement of a session's own key are.
func (id *Identity) KEMKey() hpke.PrivateKey { return id.secret().kem }

// Derive returns the seed of another key of this process, one for each label
// and number.
func (id *Identity) Derive(label string, number uint32) [SeedSize]byte {
	return prg.Derive(id.secret().seed, "identity/"+label, binary.LittleEndian.AppendUint32(nil, number))
}

// NKey logs in at the broker.
func (id *Identity) NKey() nkeys.KeyPair { return id.secret().nkey }

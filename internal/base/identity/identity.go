package identity

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// The labels separate the derived keys. A changed label changes every identity.
const (
	labelSign    = "mercer/v1/identity/sign"
	labelKEM     = "mercer/v1/identity/kem"
	labelNATS    = "mercer/v1/identity/nats"
	labelTLS     = "mercer/v1/identity/tls"
	labelSession = "mercer/v1/session/kem"
)

// Identity holds the key pairs of a process. Get one from [Create], [Load] or [FromSeed].
type Identity struct {
	// secret is a closure, so that fmt cannot print the keys. If an Identity is an unexported field
	// of another struct, fmt cannot call Format, and would print the keys behind a pointer. fmt
	// cannot look into a function.
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

// PublicTLS returns Public with the TLS key. The roster holds this form for a member that others
// connect to.
func (id *Identity) PublicTLS() Public {
	p := id.public
	p.TLS = id.secret().tls.Public().(ed25519.PublicKey)
	return p
}

// TLSKey returns the key that proves to connecting members that this process is at the port.
func (id *Identity) TLSKey() ed25519.PrivateKey { return id.secret().tls }

// SigningKey returns the key that signs messages.
func (id *Identity) SigningKey() ed25519.PrivateKey { return id.secret().sign }

// KEMKey returns the key that opens what is sealed to the identity itself: control messages, and files that the
// process keeps for longer than a session.
func (id *Identity) KEMKey() hpke.PrivateKey { return id.secret().kem }

// Derive derives a seed from the identity's seed, a label and a number. Each label and number give
// their own seed.
func (id *Identity) Derive(label string, number uint32) [SeedSize]byte {
	return prg.Derive(id.secret().seed, "identity/"+label, binary.LittleEndian.AppendUint32(nil, number))
}

// NKey returns the key pair with which the process logs in at the broker.
func (id *Identity) NKey() nkeys.KeyPair { return id.secret().nkey }

// A fmt.Formatter handles every verb, including %x and %#v. With a Stringer alone, some verbs would
// print fields.
var (
	_ fmt.Formatter  = Identity{}
	_ slog.LogValuer = Identity{}
	_ fmt.Formatter  = SessionKeys{}
	_ slog.LogValuer = SessionKeys{}
)

// String returns a text that names the identity by its fingerprint.
func (id Identity) String() string {
	if id.secret == nil {
		return "identity(none)"
	}
	return "identity " + id.public.Fingerprint().String()
}

// Format prints the text of String for every verb.
func (id Identity) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, id.String()) }

// LogValue is String.
func (id Identity) LogValue() slog.Value { return slog.StringValue(id.String()) }

// String returns a text that names the kind of k but reveals no key.
func (k SessionKeys) String() string { return "session keys (redacted)" }

// Format prints the text of String for every verb.
func (k SessionKeys) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, k.String()) }

// LogValue is String.
func (k SessionKeys) LogValue() slog.Value { return slog.StringValue(k.String()) }

// SessionKeys holds the keys of one session of one process. The public key is announced to the other
// members under the identity's signature. The private key is destroyed with the session's seed.
type SessionKeys struct {
	kem func() hpke.PrivateKey // a closure, so that fmt cannot print the key
}

// DeriveSession derives a session's keys from the session's seed, never from the identity's seed. A
// stolen identity file must not open old traffic.
func DeriveSession(seed [SeedSize]byte) (SessionKeys, error) {
	kem, err := deriveKEM(seed, labelSession)
	if err != nil {
		return SessionKeys{}, fmt.Errorf("identity: %w", err)
	}
	return SessionKeys{func() hpke.PrivateKey { return kem }}, nil
}

// KEMKey returns the key that opens messages sealed to the session.
func (k SessionKeys) KEMKey() hpke.PrivateKey { return k.kem() }

// Public returns the public key that the session announces.
func (k SessionKeys) Public() hpke.PublicKey { return k.kem().PublicKey() }

// SeedSize is the length of a seed in bytes.
const SeedSize = 32

// Create derives an identity from a seed. It writes the seed to path with mode 0600. It returns
// once the file would survive a power cut. It never overwrites an existing file.
func Create(path string, seed [SeedSize]byte) (*Identity, error) {
	id, err := FromSeed(seed)
	if err != nil {
		return nil, err
	}
	err = disk.Create(path, seed[:])
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("identity: %s exists already and is never overwritten; use it, or move it away first: %w", path, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return id, nil
}

// Load opens the plain identity file at path. It returns an error if anybody but the owner can read
// or write the file.
func Load(path string) (*Identity, error) { return Secrets{}.Open(path) }

// private returns an error if others can read or write the file. It checks the open file, because the path
// could lead elsewhere by now.
func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", f.Name())
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("other users can read or write %s (its mode is %04o); if nobody has done so, run: chmod 600 %s", f.Name(), mode, f.Name())
	}
	return nil
}

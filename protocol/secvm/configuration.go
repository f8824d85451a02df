package secvm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/privacypass"
)

// Bounds of a configuration's parts, in bytes.
const (
	maxClass    = 1 << 10
	maxIssuer   = 256
	maxTokenKey = 1 << 10
	maxParams   = 1 << 10
)

// Configuration holds the settings that a gateway fixes before the first window. It is
// signed and the same for all devices. It names every key that devices need, except the
// witnesses' keys, which devices know from elsewhere, and the windows' keys, which come
// with the weights in a [Chain].
type Configuration struct {
	Params  Params
	Classes [2]string // of label -1 and of +1
	Testers float64   // probability that a device draws role Test
	// Iterations is the number of steps. One more window, with this number, tests the
	// model.
	Iterations int
	// Window is the time in which devices send. Grace is the time after its end in
	// which packages sent before the end are still taken. Pause is the least time
	// between publishing new weights and opening the next window.
	Window, Grace, Pause uint32   // milliseconds
	Issuer               string   // name, as in the tokens' challenges
	TokenType            uint16   // RFC 9578
	TokenKeys            [][]byte // the issuer's public key for each iteration; last, that of the testing window
	Signer               ed25519.PublicKey
}

// check refuses a configuration that no gateway publishes.
func (c *Configuration) check() error {
	switch {
	case !(c.Testers >= 0 && c.Testers <= 1):
		return fmt.Errorf("secvm: testers is %g; use a share of the devices from 0 to 1", c.Testers)
	case c.Iterations < 1 || c.Iterations >= maxChain/2:
		return fmt.Errorf("secvm: %d iterations; use 1 to %d", c.Iterations, maxChain/2-1)
	case len(c.TokenKeys) != c.Iterations+1:
		return fmt.Errorf("secvm: %d token keys for %d windows; give one key for each window", len(c.TokenKeys), c.Iterations+1)
	case c.Window == 0:
		return errors.New("secvm: the window has no length; use at least 1 ms")
	case len(c.Signer) != ed25519.PublicKeySize:
		return errors.New("secvm: the gateway's announcement key is no Ed25519 key")
	case c.Issuer == "":
		return errors.New("secvm: the issuer has no name")
	}
	return nil
}

// encode returns the bytes that the gateway signs, without the signature's prefix.
func (c *Configuration) encode() []byte {
	var w wire.Writer
	w.Bytes32(c.Params.Encode())
	w.String(c.Classes[0])
	w.String(c.Classes[1])
	w.Float64(c.Testers)
	w.Uint32(uint32(c.Iterations))
	for _, d := range []uint32{c.Window, c.Grace, c.Pause} {
		w.Uint32(d)
	}
	w.String(c.Issuer)
	w.Uint16(c.TokenType)
	w.Uint32(uint32(len(c.TokenKeys)))
	for _, k := range c.TokenKeys {
		w.Bytes32(k)
	}
	w.Fixed(c.Signer)
	return w.Bytes()
}

// messageOf returns the signed bytes: a prefix and the configuration's hash.
func messageOf(encoded []byte) []byte {
	h := sha256.Sum256(append([]byte("mercer/v2/secvm/configuration\x00"), encoded...))
	return h[:]
}

// Hash identifies the configuration. Devices compare it.
func (c *Configuration) Hash() [sha256.Size]byte { return [sha256.Size]byte(messageOf(c.encode())) }

// Sign checks the configuration and returns its bytes with the signature.
func (c *Configuration) Sign(sign Signer) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	b := c.encode()
	return slices.Concat(b, sign(messageOf(b))), nil
}

// DecodeConfiguration decodes the bytes that Sign returns, and verifies the signature by
// the key in them. The caller must check that this key is the gateway's.
func DecodeConfiguration(b []byte) (*Configuration, error) {
	r := wire.NewReader(b)
	params := r.Bytes32(maxParams)
	c := &Configuration{Classes: [2]string{r.String(maxClass), r.String(maxClass)}, Testers: r.Float64(), Iterations: int(r.Uint32())}
	for _, d := range []*uint32{&c.Window, &c.Grace, &c.Pause} {
		*d = r.Uint32()
	}
	c.Issuer = r.String(maxIssuer)
	c.TokenType = r.Uint16()
	c.TokenKeys = make([][]byte, r.Count(maxChain, 4))
	for i := range c.TokenKeys {
		c.TokenKeys[i] = r.Bytes32(maxTokenKey)
	}
	c.Signer = make(ed25519.PublicKey, ed25519.PublicKeySize)
	r.Fixed(c.Signer)
	signed := len(b) - r.Len()
	signature := make([]byte, ed25519.SignatureSize)
	r.Fixed(signature)
	err := r.Close("secvm: configuration")
	if err == nil {
		c.Params, err = DecodeParams(params)
	}
	if err == nil {
		err = c.check()
	}
	if err == nil && !ed25519.Verify(c.Signer, messageOf(b[:signed]), signature) {
		err = errors.New("secvm: the configuration is not signed by the key in it")
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// PackageToken returns the challenge of the tokens for the packages of one iteration. It is
// the same for all devices.
func (c *Configuration) PackageToken(iteration uint32) privacypass.Challenge {
	return c.token(Challenge(c.Hash(), iteration))
}

// PresenceToken returns the challenge of the token that a device shows the relay. The
// gateway accepts no such token.
func (c *Configuration) PresenceToken(iteration uint32) privacypass.Challenge {
	return c.token(PresenceChallenge(c.Hash(), iteration))
}

func (c *Configuration) token(context [32]byte) privacypass.Challenge {
	return privacypass.Challenge{Type: privacypass.Type(c.TokenType), Issuer: c.Issuer, Context: context[:]}
}

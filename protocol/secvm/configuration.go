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

// Limits on the sizes of a configuration's parts, in bytes.
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
	Classes [2]string // names of the classes with label -1 and +1
	Testers float64   // probability that a device draws role Test
	// Iterations is the number of training steps. After these steps, one more window tests the
	// model. The iteration of this window has the number Iterations.
	Iterations int
	// Window is the time in which devices send packages. Grace is the time after the end of a
	// window in which the gateway still accepts packages that were sent before the end. Pause is
	// the least time between publishing new weights and opening the next window.
	Window, Grace, Pause uint32   // in milliseconds
	Issuer               string   // name of the issuer, as in the tokens' challenges
	TokenType            uint16   // type of the tokens, as in RFC 9578
	TokenKeys            [][]byte // the issuer's public key for each iteration; the last key is for the testing window
	Signer               ed25519.PublicKey
}

// check returns an error for settings that a gateway must not publish.
func (c *Configuration) check() error {
	switch {
	case !(c.Testers >= 0 && c.Testers <= 1):
		return fmt.Errorf("secvm: the fraction of testers is %g; use a fraction of the devices from 0 to 1", c.Testers)
	case c.Iterations < 1 || c.Iterations >= maxChain/2:
		return fmt.Errorf("secvm: the model has %d iterations; use 1 to %d", c.Iterations, maxChain/2-1)
	case len(c.TokenKeys) != c.Iterations+1:
		return fmt.Errorf("secvm: there are %d token keys for %d windows; give one key for each window", len(c.TokenKeys), c.Iterations+1)
	case c.Window == 0:
		return errors.New("secvm: the window's length is 0; use at least 1 ms")
	case len(c.Signer) != ed25519.PublicKeySize:
		return errors.New("secvm: the gateway's announcement key is not an Ed25519 public key")
	case c.Issuer == "":
		return errors.New("secvm: the issuer's name is empty; set it")
	}
	return nil
}

// encode returns the configuration's bytes, whose hash the gateway signs.
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

// messageOf returns the bytes that the gateway signs: the hash of an encoded configuration.
func messageOf(encoded []byte) []byte {
	h := sha256.Sum256(append([]byte("mercer/v2/secvm/configuration\x00"), encoded...))
	return h[:]
}

// Hash returns a hash that identifies the configuration. Each [Link] and [Statement] holds the hash.
func (c *Configuration) Hash() [sha256.Size]byte { return [sha256.Size]byte(messageOf(c.encode())) }

// Sign checks the configuration and returns its bytes, followed by the signature.
func (c *Configuration) Sign(sign Signer) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	b := c.encode()
	return slices.Concat(b, sign(messageOf(b))), nil
}

// DecodeConfiguration decodes the output of [Configuration.Sign], and verifies the signature with
// the key in the configuration. The caller must check that this key is the gateway's.
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
		err = errors.New("secvm: the configuration's signature is not valid for the key in it")
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// PackageToken returns the challenge for the tokens of one iteration's packages. It is the same for
// all devices.
func (c *Configuration) PackageToken(iteration uint32) privacypass.Challenge {
	return c.token(Challenge(c.Hash(), iteration))
}

// PresenceToken returns the challenge for the token that a device shows the relay. The gateway does
// not accept these tokens.
func (c *Configuration) PresenceToken(iteration uint32) privacypass.Challenge {
	return c.token(PresenceChallenge(c.Hash(), iteration))
}

func (c *Configuration) token(context [32]byte) privacypass.Challenge {
	return privacypass.Challenge{Type: privacypass.Type(c.TokenType), Issuer: c.Issuer, Context: context[:]}
}

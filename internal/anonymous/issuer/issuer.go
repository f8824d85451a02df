// Package issuer issues tokens to devices: the same fixed number to every device for each
// iteration. The number does not depend on what the device sends. The issuer knows the devices
// but learns nothing about the tokens; the gateway sees the tokens but does not know the
// devices, unless it is its own issuer.
//
// An issuer has a key for each iteration. The blinded request hides the purpose of a token, so
// only the key binds it: tokens of one iteration are invalid in another, and cannot be saved
// up.
//
// The issuer records on disk that a device has its tokens before it answers. A repeated request
// is answered again; a different one is refused. A request whose header no device of the
// roster has signed is refused before its body is read.
//
// An issuer of publicly verifiable tokens is also a witness: it countersigns its gateway's
// announcements to devices (package internal/anonymous/witness), and states how many devices
// have their tokens for the next window.
package issuer

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/anonymous/witness"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Config holds an issuer's settings, and the devices that are allowed to receive tokens.
type Config struct {
	Name       string // issuer name in token challenges
	Home       string // folder of the issuer's files: RSA keys, records of issued tokens and, for a witness, countersignatures
	Identity   *identity.Identity
	Type       privacypass.Type
	Iterations int // number of iterations that have tokens, including the final test
	Quota      int // number of tokens for each device and iteration
	Devices    []ed25519.PublicKey
	// Gateway is the key of the gateway whose history the issuer countersigns. It is nil for a
	// [privacypass.VOPRF] issuer, because the gateway itself is that issuer.
	Gateway ed25519.PublicKey
	Logger  *slog.Logger
}

// Issuer is an HTTP handler of requests for tokens.
type Issuer struct {
	Config
	keys    []privacypass.Issuer
	quota   *quota
	witness *witness.Witness // nil if the gateway is its own issuer
	mux     *http.ServeMux
	known   map[string]ed25519.PublicKey // keys of the devices, by the names that requests use
	size    int                          // size of one blinded request in bytes
	desk    desk
	turns   chan struct{} // limits concurrent signing to the number of cores
	answers *prometheus.CounterVec
}

// Sizes of a blinded request in bytes, by token type: RFC 9578, sections 5.1 and 6.1.
const (
	requestVOPRF = 3 + 49
	requestRSA   = 3 + 256
)

// Open opens the folder of an issuer. It generates the RSA keys that the folder lacks; keys of type
// [privacypass.VOPRF] follow from the identity.
func Open(c Config) (*Issuer, error) {
	if c.Iterations < 1 || c.Iterations > maxKeys || c.Quota < 1 {
		return nil, fmt.Errorf("issuer: the settings require %d tokens in each of %d iterations; use at least 1 token and 1 to 2^14 iterations", c.Quota, c.Iterations)
	}
	i := &Issuer{
		Config: c, known: map[string]ed25519.PublicKey{}, desk: desk{busy: map[string]bool{}},
		turns: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	for _, d := range c.Devices {
		i.known[request.NameOf(d)] = d
	}
	i.answers = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mercer_issuer_requests_total", Help: "Requests for the tokens of one device and iteration, by their outcome.",
	}, []string{"outcome"})
	var err error
	switch c.Type {
	case privacypass.BlindRSA:
		i.size = requestRSA
		i.keys, err = rsaKeys(filepath.Join(c.Home, "keys"), c.Iterations)
	case privacypass.VOPRF:
		i.size = requestVOPRF
		i.keys, err = voprfKeys(c.Identity, c.Iterations)
	default:
		err = fmt.Errorf("issuer: token type %v is unknown", c.Type)
	}
	if err != nil {
		return nil, err
	}
	if i.quota, err = openQuota(filepath.Join(c.Home, "quota")); err != nil {
		return nil, err
	}
	return i, i.furnish()
}

// voprfKeys derives the key of each iteration from the issuer's identity.
func voprfKeys(id *identity.Identity, n int) ([]privacypass.Issuer, error) {
	keys := make([]privacypass.Issuer, n)
	for i := range keys {
		seed := id.Derive("voprf", uint32(i))
		k, err := privacypass.NewVOPRFIssuer(seed[:])
		if err != nil {
			return nil, err
		}
		keys[i] = k
	}
	return keys, nil
}

// furnish sets up the issuer's handlers.
func (i *Issuer) furnish() (err error) {
	i.mux = http.NewServeMux()
	i.mux.HandleFunc("/", i.serveTokens)
	if i.Type != privacypass.BlindRSA {
		return nil
	}
	if i.witness, err = witness.Open(filepath.Join(i.Home, "witness"), i.Identity.SigningKey(), i.Gateway, i.checkOwn); err != nil {
		return errors.Join(err, i.quota.Close())
	}
	i.witness.Serve(i.mux, i.Logger, func(s witness.Standing) int { return i.quota.devices(s.Iteration) })
	return nil
}

// checkOwn checks that a configuration names this issuer, its type of tokens, its keys and its
// number of tokens.
func (i *Issuer) checkOwn(c *secvm.Configuration) error {
	p := i.Public()
	switch {
	case c.Issuer != p.Name:
		return fmt.Errorf("issuer: the gateway's configuration names the issuer %q; this issuer is %q", c.Issuer, p.Name)
	case c.TokenType != uint16(p.Type) || !slices.EqualFunc(c.TokenKeys, p.Keys, bytes.Equal):
		return errors.New("issuer: the gateway's configuration has other token keys than this issuer")
	case c.Params.Tokens() != i.Quota:
		return fmt.Errorf("issuer: the gateway's configuration requires %d tokens for each device; this issuer gives %d", c.Params.Tokens(), i.Quota)
	}
	return nil
}

// Collect registers the issuer's metrics.
func (i *Issuer) Collect(r prometheus.Registerer) error { return r.Register(i.answers) }

// Public returns the issuer's name and public keys, which the gateway needs.
func (i *Issuer) Public() Public {
	p := Public{Name: i.Name, Type: i.Type}
	for _, k := range i.keys {
		p.Keys = append(p.Keys, k.PublicKey())
	}
	return p
}

// Verifiers returns the verifiers of a [privacypass.VOPRF] issuer's tokens, one for each
// iteration. Only the issuer can verify such tokens.
func (i *Issuer) Verifiers() ([]*privacypass.Verifier, error) {
	list := make([]*privacypass.Verifier, len(i.keys))
	for n, k := range i.keys {
		v, ok := k.(*privacypass.VOPRFIssuer)
		if !ok {
			return nil, fmt.Errorf("issuer: the issuer has no verifiers for tokens of type %v; verify these tokens with the public key", i.Type)
		}
		list[n] = v.Verifier()
	}
	return list, nil
}

// Close closes the issuer's files.
func (i *Issuer) Close() error {
	if i.witness == nil {
		return i.quota.Close()
	}
	return errors.Join(i.quota.Close(), i.witness.Close())
}

// ServeHTTP answers requests for tokens and, if the issuer is a witness, requests to a witness.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) { i.mux.ServeHTTP(w, r) }

// rsaKeys reads the RSA key of each iteration from its file, or generates it.
func rsaKeys(folder string, n int) ([]privacypass.Issuer, error) {
	if err := disk.MakeDir(folder); err != nil {
		return nil, err
	}
	keys := make([]privacypass.Issuer, n)
	for i := range keys {
		k, err := rsaKey(filepath.Join(folder, strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		keys[i] = k
	}
	return keys, nil
}

func rsaKey(path string) (*privacypass.RSAIssuer, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		k, err := privacypass.GenerateRSA()
		if err != nil {
			return nil, err
		}
		if err := disk.Create(path, x509.MarshalPKCS1PrivateKey(k)); err != nil {
			return nil, err
		}
		return privacypass.NewRSAIssuer(k)
	}
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	k, err := x509.ParsePKCS1PrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("issuer: the file %s does not hold an RSA key; if no device has tokens of this key, remove the file", path)
	}
	return privacypass.NewRSAIssuer(k)
}

// Public holds the issuer's name and public keys, which a gateway needs.
type Public struct {
	Name string
	Type privacypass.Type
	Keys [][]byte // one public key for each iteration
}

const (
	publicMagic = "mercer/v1/issuer"
	maxKeys     = 1 << 14
	maxKey      = 1 << 10
	maxName     = 256
)

// Encode returns the content of the file that the issuer gives to the gateway.
func (p Public) Encode() []byte {
	var w wire.Writer
	w.String(publicMagic)
	w.String(p.Name)
	w.Uint16(uint16(p.Type))
	w.Uint32(uint32(len(p.Keys)))
	for _, k := range p.Keys {
		w.Bytes32(k)
	}
	return w.Bytes()
}

// DecodePublic decodes the bytes that Encode returns.
func DecodePublic(b []byte) (Public, error) {
	r := wire.NewReader(b)
	if magic := r.String(64); r.Err() == nil && magic != publicMagic {
		r.Fail(errors.New("the file does not hold an issuer's public keys"))
	}
	p := Public{Name: r.String(maxName), Type: privacypass.Type(r.Uint16())}
	p.Keys = make([][]byte, r.Count(maxKeys, 4))
	for i := range p.Keys {
		p.Keys[i] = r.Bytes32(maxKey)
	}
	return p, r.Close("issuer: public keys")
}

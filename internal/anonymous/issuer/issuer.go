// Package issuer gives every device of a crowd its tokens: one fixed number for
// each iteration, whether the device has something to say or not. It knows the devices and
// sees nothing of the tokens; the gateway sees the tokens and knows no device.
//
// An issuer has a key for each iteration. The blinded request hides the purpose of a
// token, so that only the key binds it: tokens of one iteration are worth
// nothing in another, and cannot be saved up.
//
// The tokens that a device has had are noted on disk before it is answered. A repeated
// request is answered alike; another one is refused.
//
// An issuer whose tokens everybody can verify is a witness as well: it countersigns
// what the gateway tells devices (package internal/anonymous/witness), and says how many
// devices have their tokens for the next window.
package issuer

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/anonymous/witness"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Config holds an issuer's settings, and the devices that may have tokens.
type Config struct {
	Name       string // that challenges carry
	Home       string // folder of the keys and of what has been given out
	Identity   *identity.Identity
	Type       privacypass.Type
	Iterations int // that have tokens, the testing one among them
	Quota      int // tokens of each device for each iteration
	Devices    []ed25519.PublicKey
	Logger     *slog.Logger
}

// Issuer is an HTTP handler of requests for tokens.
type Issuer struct {
	Config
	keys    []privacypass.Issuer
	quota   *quota
	witness *witness.Witness // nil where the gateway is its own issuer
	mux     *http.ServeMux
	known   map[[ed25519.PublicKeySize]byte]bool
	size    int           // bytes of one blinded request
	turns   chan struct{} // signing is for as many at a time as there are cores
	answers *prometheus.CounterVec
}

// Sizes of blinded requests: RFC 9578, sections 5.1 and 6.1.
const (
	requestVOPRF = 3 + 49
	requestRSA   = 3 + 256
)

// Open opens an issuer's home, and draws its keys the first time.
func Open(c Config) (*Issuer, error) {
	if c.Iterations < 1 || c.Iterations > maxKeys || c.Quota < 1 {
		return nil, fmt.Errorf("issuer: %d tokens for each of %d iterations", c.Quota, c.Iterations)
	}
	i := &Issuer{Config: c, known: map[[ed25519.PublicKeySize]byte]bool{}, turns: make(chan struct{}, runtime.GOMAXPROCS(0))}
	for _, d := range c.Devices {
		i.known[[ed25519.PublicKeySize]byte(d)] = true
	}
	i.answers = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mercer_issuer_requests_total", Help: "Requests for the tokens of one device and iteration, by what became of them.",
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
		err = fmt.Errorf("issuer: %v is not known here", c.Type)
	}
	if err != nil {
		return nil, err
	}
	if i.quota, err = openQuota(filepath.Join(c.Home, "quota")); err != nil {
		return nil, err
	}
	return i, i.furnish()
}

// voprfKeys derives a key for each iteration.
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

// furnish opens the issuer's doors.
func (i *Issuer) furnish() (err error) {
	i.mux = http.NewServeMux()
	i.mux.HandleFunc("/", i.serveTokens)
	if i.Type != privacypass.BlindRSA {
		return nil
	}
	if i.witness, err = witness.Open(filepath.Join(i.Home, "witness"), i.Identity.SigningKey(), i.own); err != nil {
		return errors.Join(err, i.quota.Close())
	}
	i.witness.Serve(i.mux, i.Logger, func(s witness.Standing) int { return i.quota.devices(s.Iteration) })
	return nil
}

// own refuses configurations that do not name this issuer's keys.
func (i *Issuer) own(c *secvm.Configuration) error {
	p := i.Public()
	if c.Issuer != p.Name || c.TokenType != uint16(p.Type) || !slices.EqualFunc(c.TokenKeys, p.Keys, bytes.Equal) || c.Params.Tokens() != i.Quota {
		return errors.New("issuer: a configuration with other keys of tokens, or for another number of them")
	}
	return nil
}

// Collect adds the issuer's metrics to a registry.
func (i *Issuer) Collect(r prometheus.Registerer) error { return r.Register(i.answers) }

// Public returns the name and the keys that the gateway needs.
func (i *Issuer) Public() Public {
	p := Public{Name: i.Name, Type: i.Type}
	for _, k := range i.keys {
		p.Keys = append(p.Keys, k.PublicKey())
	}
	return p
}

// Verifiers returns the verifiers for the tokens of a [privacypass.VOPRF] issuer,
// which nobody else can verify.
func (i *Issuer) Verifiers() ([]*privacypass.Verifier, error) {
	list := make([]*privacypass.Verifier, len(i.keys))
	for n, k := range i.keys {
		v, ok := k.(*privacypass.VOPRFIssuer)
		if !ok {
			return nil, fmt.Errorf("issuer: tokens of %v are verified by their public key", i.Type)
		}
		list[n] = v.Verifier()
	}
	return list, nil
}

// Close closes what is on disk.
func (i *Issuer) Close() error {
	if i.witness == nil {
		return i.quota.Close()
	}
	return errors.Join(i.quota.Close(), i.witness.Close())
}

// ServeHTTP answers every request that comes to the issuer.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) { i.mux.ServeHTTP(w, r) }

// serveTokens answers a post of a signed [secvm.TokenRequest] with as many answers.
func (i *Issuer) serveTokens(w http.ResponseWriter, r *http.Request) {
	outcome, status := "given", http.StatusOK
	answer, err := i.serve(w, r)
	switch {
	case errors.Is(err, errSpent):
		outcome, status = "over quota", http.StatusConflict
	case errors.Is(err, errStranger), errors.Is(err, secvm.ErrSignature):
		outcome, status = "stranger", http.StatusForbidden
	case errors.Is(err, errBusy):
		outcome, status = "left", http.StatusServiceUnavailable
	case errors.Is(err, errFailed):
		outcome, status = "failed", http.StatusServiceUnavailable
		i.Logger.Error("cannot give tokens", "error", err)
	case err != nil:
		outcome, status = "malformed", http.StatusBadRequest
	}
	i.answers.WithLabelValues(outcome).Inc()
	if status != http.StatusOK {
		http.Error(w, http.StatusText(status), status)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(answer) // a device that has left asks again
}

var (
	errStranger = errors.New("issuer: the device is not in the roster")
	errBusy     = errors.New("issuer: too many devices ask at the moment")
	errFailed   = errors.New("issuer: the quota cannot be written")
)

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPost {
		return nil, errors.New("issuer: post a request for tokens")
	}
	const head = 1 << 10 // of the request, and its signature
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(i.Quota*i.size+head)))
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	q, err := secvm.DecodeTokenRequest(body, i.Quota, i.size)
	switch {
	case err != nil:
		return nil, err
	case !i.known[[ed25519.PublicKeySize]byte(q.Device)]:
		return nil, errStranger
	case int(q.Iteration) >= len(i.keys):
		return nil, fmt.Errorf("issuer: tokens for iteration %d of %d", q.Iteration, len(i.keys))
	}
	return i.Give(r.Context(), q)
}

// Give answers a request whose signature has been checked.
func (i *Issuer) Give(ctx context.Context, q secvm.TokenRequest) ([]byte, error) {
	all := sha256.New()
	for _, b := range q.Blinded {
		all.Write(b)
	}
	err := i.quota.claim(claim{[ed25519.PublicKeySize]byte(q.Device), q.Iteration}, [sha256.Size]byte(all.Sum(nil)))
	switch {
	case errors.Is(err, errSpent):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errFailed, err)
	}
	select {
	case i.turns <- struct{}{}:
		defer func() { <-i.turns }()
	case <-ctx.Done(): // a device that has left asks again
		return nil, fmt.Errorf("%w: %w", errBusy, ctx.Err())
	}
	var answer []byte
	for _, b := range q.Blinded {
		one, err := i.keys[q.Iteration].Issue(b)
		if err != nil {
			return nil, err
		}
		answer = append(answer, one...)
	}
	return answer, nil
}

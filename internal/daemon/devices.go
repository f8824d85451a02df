package daemon

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/anonymous/issuer"
	"github.com/mercer-fl/mercer/internal/anonymous/relay"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/devices"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol"
)

// TokensPath is the URL path at which a gateway issues tokens if it is its own issuer.
const TokensPath = "/tokens"

// PublicPath returns the path of the file with an issuer's name and public keys, which the gateway
// reads.
func (h Home) PublicPath() string { return h.path("public") }

// WitnessKeyPath returns the path of the file with the public key of a relay or an issuer, in
// hexadecimal digits. The owners of devices check signed statements with this key.
func (h Home) WitnessKeyPath() string { return h.path("witness-key") }

func (h Home) writeWitnessKey(id *identity.Identity) error {
	return disk.Replace(h.WitnessKeyPath(), []byte(hex.EncodeToString(id.Public().Sign)+"\n"))
}

// ParseKey reads an Ed25519 public key in hexadecimal digits.
func ParseKey(digits string) (ed25519.PublicKey, error) {
	key, err := hex.DecodeString(strings.TrimSpace(digits))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fault.BadInputf("%q is not a public key; write the %d hexadecimal digits of a key", digits, 2*ed25519.PublicKeySize)
	}
	return key, nil
}

// Own opens the identity of a home that belongs to no federation; the first call creates the
// identity. No second process can open the home until the returned file is closed.
func (h Home) Own(seed func(string) [32]byte) (*identity.Identity, *os.File, error) {
	if err := makePrivate(h.folder); err != nil {
		return nil, nil, fault.BadInputf("%s cannot be a home: %w", h, err)
	}
	lock, err := disk.Lock(h.lockPath())
	if errors.Is(err, disk.ErrLocked) {
		return nil, nil, fault.BadInputf("another process runs in %s; stop that one first", h)
	}
	if err != nil {
		return nil, nil, err
	}
	id, err := h.ownIdentity(seed)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	return id, lock, nil
}

// ownIdentity opens the identity of a home that belongs to no federation, or creates it. The home must be locked.
func (h Home) ownIdentity(seed func(string) [32]byte) (*identity.Identity, error) {
	if err := identity.Recover(h.IdentityPath()); err != nil {
		return nil, err
	}
	id, err := h.identity()
	if !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	if seed == nil {
		seed = coordinator.RandomSeed
	}
	return identity.Create(h.IdentityPath(), seed("identity/"+h.folder))
}

// ReadRoster reads an issuer's list of devices, which has one public key in hexadecimal digits on
// each line. Empty lines and lines that begin with # do not count.
func ReadRoster(path string) ([]ed25519.PublicKey, error) {
	b, err := regular.Read(path)
	if err != nil {
		return nil, fault.BadInputf("daemon: %w", err)
	}
	var keys []ed25519.PublicKey
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := hex.DecodeString(line)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return nil, fault.BadInputf("%s:%d: %q is not a device's key; write the key that mercer device credentials prints", path, n, line)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// RunIssuer issues tokens until ctx ends.
func RunIssuer(ctx context.Context, c issuer.Config, d Doors, o Options) (err error) {
	i, err := issuer.Open(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	h := At(c.Home)
	if err := errors.Join(disk.Replace(h.PublicPath(), i.Public().Encode()), h.writeWitnessKey(c.Identity)); err != nil {
		return err
	}
	return d.serve(ctx, o, i, i, nil)
}

// RunRelay forwards requests until ctx ends.
func RunRelay(ctx context.Context, c relay.Config, d Doors, o Options) (err error) {
	r, err := relay.Open(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := At(c.Home).writeWitnessKey(c.Identity); err != nil {
		return err
	}
	return d.serve(ctx, o, r, r, nil)
}

// RunGateway runs the gateway of anonymous devices until the model is trained. If ctx ends first,
// there is no result. If the gateway is its own issuer, issuerConfig is the issuer's configuration,
// and the issuer's tokens are VOPRF tokens; otherwise issuerConfig is nil.
func RunGateway(ctx context.Context, c gateway.Config, issuerConfig *issuer.Config, d Doors, o Options) (r *gateway.Result, err error) {
	var handler http.Handler
	var parts collectors
	if issuerConfig != nil {
		issuerConfig.Type = privacypass.VOPRF
		i, err := issuer.Open(*issuerConfig)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, i.Close()) }()
		c.Tokens = i.Public()
		if c.Verifiers, err = i.Verifiers(); err != nil {
			return nil, err
		}
		handler, parts = i, append(parts, i)
	}
	g, err := gateway.Open(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	mux := http.NewServeMux()
	mux.Handle("/", g.Handler())
	if handler != nil {
		mux.Handle("POST "+TokensPath, handler)
	}
	err = d.serve(ctx, o, mux, append(parts, g), func(ctx context.Context) (err error) {
		r, err = g.Run(ctx)
		return err
	})
	return r, err
}

// Configure writes the gateway's configuration into the gateway's home.
func Configure(c gateway.Config) error {
	g, err := gateway.Open(c)
	if err != nil {
		return err
	}
	return g.Close()
}

// collector is a server that can register its metrics.
type collector interface {
	Collect(prometheus.Registerer) error
}

type collectors []collector

// Collect implements [collector].
func (list collectors) Collect(r prometheus.Registerer) error {
	var errs error
	for _, c := range list {
		errs = errors.Join(errs, c.Collect(r))
	}
	return errs
}

// Build returns a text that identifies this program and the CPU instructions it uses. A program with
// another text cannot continue the sessions of this program.
func Build() (string, error) { return build() }

// SumsModelPath returns the path of the file in which a server of many devices writes the model of
// a job.
func (h Home) SumsModelPath(j *job.Job) string {
	if j.Traits().Rated {
		return h.path("items.kernel")
	}
	return h.path("model")
}

// OpenEnrolment reads an enrolment of devices and verifies the signature of its authority.
func OpenEnrolment(path, authority string, o Options) (*devices.Enrolment, error) {
	key, err := ParseKey(authority)
	if err != nil {
		return nil, err
	}
	b, err := regular.Read(path)
	if err != nil {
		return nil, fault.BadInputf("the enrolment cannot be read: %w", err)
	}
	return devices.Open(b, key, o.Reader)
}

// RunSums runs the server of many devices until their job is done, and returns the job's result. If
// ctx ends first, there is no result. If the home's job was done before, RunSums returns the stored
// result.
func (h Home) RunSums(ctx context.Context, e *devices.Enrolment, d Doors, o Options) (r *method.Result, err error) {
	if r, err := h.storedResult(); r != nil || err != nil {
		return r, err
	}
	b, err := build()
	if err != nil {
		return nil, err
	}
	kept, err := vault.OpenDisk(h.path("vault"), b)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	s, err := devices.New(devices.Config{Enrolment: e, Vault: kept, Model: h.SumsModelPath(e.Job), Progress: func(protocol.Progress) {}, Logger: o.Logger})
	if err != nil {
		return nil, h.otherBuild(err)
	}
	err = d.serve(ctx, o, s.Handler(), collectors(nil), func(ctx context.Context) error {
		done, err := s.Run(ctx)
		if err != nil {
			return err
		}
		r = done
		return errors.Join(h.keepSummed(done), s.Close())
	})
	return r, err
}

func (h Home) keepSummed(r *method.Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return disk.Replace(h.path("result.json"), b)
}

// storedResult returns the stored result of a finished job, or nil if there is none.
func (h Home) storedResult() (*method.Result, error) {
	b, err := os.ReadFile(h.path("result.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := &method.Result{}
	if err == nil {
		err = json.Unmarshal(b, r)
	}
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	return r, nil
}

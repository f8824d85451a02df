package bench

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/anonymous/gateway"
	"github.com/mercer-fl/mercer/internal/anonymous/issuer"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// gatewayJob is the job of the measured gateway. It never finishes, because its first window
// outlasts the measurement.
const gatewayJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: bench-gateway}
spec:
  data:
    source: rows.csv
    label: label
    partition: {by: devices}
    test: {fraction: 0.25}
  protocol: {name: secvm, classes: ["-1", "+1"], bins: 16384, packages: 16, cohort: 100}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 0.1, iterations: 1}
  compare: []
`

// nobody is an address without a server. It replaces the addresses of the witnesses. The benchmark
// runs no witness, because no device waits for a countersignature.
const nobody = "http://127.0.0.1:9"

// gatewayWindow is the length of the window, the time in which the gateway accepts packages of one iteration. It is
// longer than any measurement.
const gatewayWindow = 24 * time.Hour

// postedGateway holds a gateway's home folder and the packages to post to the gateway.
type postedGateway struct {
	reader        *job.Reader
	program       []string
	dir           string
	issuing       []string // arguments of mercer gateway that name the issuer
	configuration *secvm.Configuration
	key           ohttp.KeyConfig // public key of the first window
	verifier      *privacypass.Verifier
	tokens        []*privacypass.Token // tokens for iteration 0
	letters       []letter             // one sealed package for each token
}

// newPostedGateway creates a gateway's home folder in a new folder within dir, and seals the given number
// of packages for the gateway.
func newPostedGateway(ctx context.Context, reader *job.Reader, program []string, dir string, kind privacypass.Type, packages int) (g *postedGateway, err error) {
	g = &postedGateway{reader: reader, program: program, tokens: make([]*privacypass.Token, packages)}
	if g.dir, err = os.MkdirTemp(dir, "gateway-"); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	if err = g.furnish(kind); err != nil {
		return nil, err
	}
	g.letters, err = g.seal(ctx)
	return g, err
}

func (g *postedGateway) path(name string) string { return filepath.Join(g.dir, name) }

func (g *postedGateway) furnish(kind privacypass.Type) (err error) {
	text := gatewayJob
	if kind == privacypass.VOPRF { // with VOPRF the gateway is its own issuer
		text = strings.Replace(text, "{name: secvm,", "{name: secvm, mode: paper,", 1)
	}
	if err := disk.Replace(g.path("job.yaml"), []byte(text)); err != nil {
		return err
	}
	j, err := g.reader.Parse("job.yaml", []byte(text))
	if err != nil {
		return err
	}
	id, lock, err := daemon.At(g.path("home")).Own(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	c := gateway.Config{Home: g.path("home"), Identity: id, Job: j, Window: gatewayWindow, Pause: gatewayWindow, Least: 1, Logger: slog.New(slog.DiscardHandler)}
	if kind == privacypass.VOPRF {
		return g.furnishVOPRF(c, id)
	}
	return g.furnishRSA(c)
}

// configure opens a gateway once, so that the gateway writes its configuration and its first
// window. It then reads the configuration and the window.
func (g *postedGateway) configure(c gateway.Config) error {
	announcing, err := gateway.Open(c)
	if err != nil {
		return err
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := announcing.Run(ended); !errors.Is(err, context.Canceled) {
		return errors.Join(err, announcing.Close())
	}
	window := announcing.History()[0]
	if err := announcing.Close(); err != nil {
		return err
	}
	if g.key, err = ohttp.ParseKeyConfig(window.Key[:]); err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(c.Home, "configuration"))
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	g.configuration, err = secvm.DecodeConfiguration(b)
	return err
}

// challenge returns the challenge that tokens of the first iteration answer.
func (g *postedGateway) challenge() privacypass.Challenge { return g.configuration.PackageToken(0) }

func (g *postedGateway) furnishRSA(c gateway.Config) error {
	key, err := privacypass.GenerateRSA()
	if err != nil {
		return err
	}
	i, err := privacypass.NewRSAIssuer(key)
	if err != nil {
		return err
	}
	public := i.PublicKey()
	c.Tokens = issuer.Public{Name: "issuer.example", Type: privacypass.BlindRSA, Keys: [][]byte{public, public}}
	c.Witnesses = []string{nobody, nobody}
	g.issuing = []string{"--tokens", g.path("public"), "--relay", nobody, "--issuer", nobody}
	if err := disk.Replace(g.path("public"), c.Tokens.Encode()); err != nil {
		return err
	}
	if g.verifier, err = privacypass.NewRSAVerifier(public); err != nil {
		return err
	}
	if err := g.configure(c); err != nil {
		return err
	}
	return g.mintRSA(key, public)
}

// mintRSA signs tokens directly with the issuer's key. Blind signing would take three times as
// long and give tokens of the same form.
func (g *postedGateway) mintRSA(key *rsa.PrivateKey, public []byte) error {
	c, errs := g.challenge(), make([]error, len(g.tokens))
	linalg.Each(len(g.tokens), 4, func(i int) {
		t := &privacypass.Token{Type: c.Type, Nonce: seedOf("nonce", i), Challenge: c.Digest(), Key: sha256.Sum256(public)}
		digest := sha512.Sum384(t.Input())
		t.Authenticator, errs[i] = rsa.SignPSS(rand.Reader, key, crypto.SHA384, digest[:], &rsa.PSSOptions{SaltLength: crypto.SHA384.Size()})
		g.tokens[i] = t
	})
	return errors.Join(errs...)
}

// furnishVOPRF configures the gateway as its own issuer. This process issues the tokens before
// the gateway's process opens the home folder.
func (g *postedGateway) furnishVOPRF(c gateway.Config, id *identity.Identity) (err error) {
	seed := seedOf("device", 0)
	device := ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
	g.issuing = []string{"--roster", g.path("roster")}
	if err := disk.Replace(g.path("roster"), []byte(hex.EncodeToString(device)+"\n")); err != nil {
		return err
	}
	i, err := issuer.Open(issuer.Config{
		Name: c.Job.Name, Home: c.Home, Identity: id, Type: privacypass.VOPRF, Iterations: learner.StepsOf(c.Job).Iterations + 1,
		Quota: secvm.Tokens(gateway.Spec(c.Job).Packages), Devices: []ed25519.PublicKey{device}, Logger: c.Logger,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	c.Tokens = i.Public()
	if c.Verifiers, err = i.Verifiers(); err != nil {
		return err
	}
	g.verifier = c.Verifiers[0]
	if err := g.configure(c); err != nil {
		return err
	}
	return g.mintVOPRF(i, device)
}

// mintVOPRF requests tokens from the issuer by the protocol that devices use.
func (g *postedGateway) mintVOPRF(i *issuer.Issuer, device ed25519.PublicKey) error {
	c, n := g.challenge(), len(g.tokens)
	client, err := privacypass.NewClient(c.Type, i.Public().Keys[0])
	if err != nil {
		return err
	}
	pending := make([]*privacypass.Pending, n)
	q := secvm.TokenRequest{Device: device, Blinded: make([][]byte, n)}
	for k := range pending {
		if q.Blinded[k], pending[k], err = client.Request(c); err != nil {
			return err
		}
	}
	answer, err := i.Give(context.Background(), q)
	if err != nil {
		return err
	}
	size := len(answer) / n
	for k, p := range pending {
		if g.tokens[k], err = p.Finish(answer[k*size:][:size]); err != nil {
			return err
		}
	}
	return nil
}

// letter holds a sealed package with its token, and the opener of the gateway's sealed answer.
type letter struct {
	sealed []byte
	answer *ohttp.Opener
}

// seal seals one package for each token.
func (g *postedGateway) seal(ctx context.Context) ([]letter, error) {
	letters, errs := make([]letter, len(g.tokens)), make([]error, len(g.tokens))
	linalg.For(len(g.tokens), 16, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			letters[i], errs[i] = sealFor(g.key, g.configuration, g.tokens[i], i)
		}
	})
	return letters, errors.Join(ctx.Err(), errors.Join(errs...))
}

// sealFor encodes and seals the i-th package with the program code of a device.
func sealFor(key ohttp.KeyConfig, c *secvm.Configuration, t *privacypass.Token, i int) (letter, error) {
	spent := secvm.Spent{Token: t.Encode(), Package: trainingPackage(c.Params, i)}
	q := &bhttp.Request{Method: http.MethodPost, Scheme: "https", Authority: "gateway", Path: secvm.PackagePath, Content: spent.Encode()}
	message, err := q.EncodeTo(secvm.RequestSize)
	if err != nil {
		return letter{}, err
	}
	sealed, answer, err := key.Encapsulate(message)
	return letter{sealed, answer}, err
}

// trainingPackage returns the i-th training package of iteration 0. The packages go through all
// features cyclically.
func trainingPackage(p secvm.Params, i int) secvm.Package {
	return secvm.Package{Tag: p.Tag(), Kind: secvm.Training, Index: uint32(i % p.Features()), Value: int8(1 - 2*(i%2))}
}

package device

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

type memory struct{ state []byte }

func (m *memory) Load() ([]byte, error) { return m.state, nil }
func (m *memory) Save(b []byte) error   { m.state = b; return nil }

// server is relay and issuer, and behind them a gateway with the answers that a test
// chooses.
type server struct {
	*httptest.Server
	configuration *secvm.Configuration
	signed        []byte
	key           ed25519.PrivateKey            // the gateway's
	witnesses     map[string]ed25519.PrivateKey // "relay" and "issuer"
	tells         map[string][]byte             // answers by path
}

// tokenKey draws an issuer's key and returns its public half.
func tokenKey(t *testing.T) []byte {
	t.Helper()
	k, err := privacypass.GenerateRSA()
	if err != nil {
		t.Fatal(err)
	}
	i, err := privacypass.NewRSAIssuer(k)
	if err != nil {
		t.Fatal(err)
	}
	return i.PublicKey()
}

func newServer(t *testing.T) *server {
	t.Helper()
	tokens := tokenKey(t)
	p, err := secvm.NewParams(secvm.Spec{Name: "toy", Bins: 16, Packages: 4, Cohort: 100, Radius: 10})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{key: ed25519.NewKeyFromSeed(make([]byte, 32)), witnesses: map[string]ed25519.PrivateKey{}, tells: map[string][]byte{}}
	for i, name := range []string{"relay", "issuer"} {
		s.witnesses[name] = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, 32))
	}
	s.configuration = &secvm.Configuration{
		Params: p, Classes: [2]string{"even", "odd"}, Testers: .5, Iterations: 1, Window: 200, Grace: 10, Pause: 10,
		Issuer: "issuer.example", TokenType: uint16(privacypass.BlindRSA), TokenKeys: [][]byte{tokens, tokens},
		Signer: s.key.Public().(ed25519.PublicKey),
	}
	if s.signed, err = s.configuration.Sign(s.sign); err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = w.Write(s.tells[q.URL.Path])
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) sign(m []byte) []byte { return ed25519.Sign(s.key, m) }

// history returns one that ends with these values of the first weight.
func (s *server) history(weights ...float64) (secvm.Chain, []float64) {
	var c secvm.Chain
	var last []float64
	for _, w := range weights {
		last = make([]float64, s.configuration.Params.Features())
		last[0] = w
		c = s.extend(c, last)
	}
	return c, last
}

func (s *server) extend(c secvm.Chain, weights []float64) secvm.Chain {
	return c.Extend(secvm.Link{
		Configuration: s.configuration.Hash(), Iteration: uint32(len(c)), Opens: int64(len(c) + 1), Weights: secvm.HashWeights(weights),
	}, s.sign)
}

// tell has the gateway send a device this history.
func (s *server) tell(c secvm.Chain, weights []float64) {
	s.tells["/relay"+secvm.AnnouncementPath] = secvm.Announcement{Chain: c, Weights: secvm.EncodeWeights(weights)}.Encode()
}

// countersign has witnesses countersign a history.
func (s *server) countersign(c secvm.Chain, names ...string) {
	for _, name := range names {
		said := secvm.Statement{Configuration: s.configuration.Hash(), Links: uint32(len(c)), Head: c[len(c)-1].Hash(), Devices: 100}
		s.tells["/"+name+secvm.StatementPath] = said.Sign(func(m []byte) []byte { return ed25519.Sign(s.witnesses[name], m) })
	}
}

// announce sends all devices a history that ends with these values of the first weight.
func (s *server) announce(weights ...float64) {
	c, last := s.history(weights...)
	s.tell(c, last)
	s.countersign(c, "relay", "issuer")
}

func (s *server) config(store Store) Config {
	public := func(name string) ed25519.PublicKey { return s.witnesses[name].Public().(ed25519.PublicKey) }
	return Config{
		Configuration: s.signed, Relay: s.URL + "/relay", Issuer: s.URL + "/issuer", RelayKey: public("relay"), IssuerKey: public("issuer"),
		Credential: s.key, Store: store,
	}
}

func (s *server) device(t *testing.T, store Store) *Device {
	t.Helper()
	d, err := New(s.config(store), []string{"a", "b", "c", "d", "e"}, "odd")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Values that are drawn once persist: another process of the device has the same role,
// sample, history and tokens, and answers no window twice.
func TestStateStays(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := newServer(t)
	store := &memory{}
	d := s.device(t, store)
	if n := d.state.vector.Units(); n != s.configuration.Params.Room() {
		t.Errorf("a sample of %d units", n)
	}
	d.state.tokens[0] = [][]byte{{1}, {2}, {3}, {4}, {5}} // the last one is the relay's
	s.announce(0)
	link, weights, err := d.follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if packages, tokens, err := d.commit(link.Iteration, weights); err != nil || len(packages) != 4 || len(tokens) != 4 {
		t.Fatal(packages, tokens, err)
	}
	again := s.device(t, store)
	if !bytes.Equal(again.state.encode(), d.state.encode()) || again.state.answered != 0 || again.has(0) != true || len(again.state.tokens) != 0 {
		t.Errorf("%+v, then %+v", d.state, again.state)
	}
	other := newServer(t)
	other.configuration.Iterations, other.configuration.TokenKeys = 2, append(other.configuration.TokenKeys, other.configuration.TokenKeys[0])
	if other.signed, err = other.configuration.Sign(other.sign); err != nil {
		t.Fatal(err)
	}
	if _, err := New(other.config(store), nil, "odd"); err == nil || !strings.Contains(err.Error(), "another job") {
		t.Errorf("the store of another job: %v", err)
	}
}

// Attack: other weights, another key or another configuration for one device. The strongest
// adversary is a gateway that signs anything for this device, and one of both witnesses
// that works with it: the other one is enough for the device to stop. With both it
// succeeds.
func TestAttackOneDeviceIsToldOtherwise(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	follow := func(s *server, d *Device) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, _, err := d.follow(ctx)
		return err
	}
	edge := func(s *server) []float64 { // the bias alone, as far out as weights may lie: it silences a label
		w := make([]float64, s.configuration.Params.Features())
		w[len(w)-1] = s.configuration.Params.Spec().Radius
		return w
	}
	for name, c := range map[string]struct {
		attack func(s *server, honest secvm.Chain)
		want   error
	}{
		"another past":                 {func(s *server, _ secvm.Chain) { s.tell(s.history(5, 1)) }, secvm.ErrForked},
		"another past, both in league": {func(s *server, _ secvm.Chain) { s.announce(5, 1) }, secvm.ErrForked}, // the device itself remembers
		"other weights in the newest link": {func(s *server, honest secvm.Chain) {
			s.tell(s.extend(honest[:1], edge(s)), edge(s))
		}, secvm.ErrForked},
		"another key in the newest link": {func(s *server, honest secvm.Chain) {
			marked := honest[1].Link
			marked.Key[0] = 7
			_, weights := s.history(0, 1)
			s.tell(honest[:1].Extend(marked, s.sign), weights)
		}, secvm.ErrForked},
		"the relay in league": {func(s *server, honest secvm.Chain) {
			fork := s.extend(honest[:1], edge(s))
			s.tell(fork, edge(s))
			s.countersign(fork, "relay")
		}, secvm.ErrForked},
		"the issuer in league": {func(s *server, honest secvm.Chain) {
			fork := s.extend(honest[:1], edge(s))
			s.tell(fork, edge(s))
			s.countersign(fork, "issuer")
		}, secvm.ErrForked},
		"one in league speaks for both": {func(s *server, honest secvm.Chain) {
			fork := s.extend(honest[:1], edge(s))
			s.tell(fork, edge(s))
			s.countersign(fork, "relay")
			s.tells["/issuer"+secvm.StatementPath] = s.tells["/relay"+secvm.StatementPath]
		}, secvm.ErrWitness},
		"another configuration": {func(s *server, honest secvm.Chain) {
			s.configuration.Window++
			s.countersign(honest, "relay", "issuer")
		}, secvm.ErrConfiguration},
		"both in league": {func(s *server, honest secvm.Chain) {
			fork := s.extend(honest[:1], edge(s))
			s.tell(fork, edge(s))
			s.countersign(fork, "relay", "issuer")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			d := s.device(t, &memory{})
			s.announce(0)
			if err := follow(s, d); err != nil {
				t.Fatal(err)
			}
			s.announce(0, 1)
			honest, _ := s.history(0, 1)
			c.attack(s, honest)
			if err := follow(s, d); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if c.want != nil && d.state.follower.Seen != 1 {
				t.Error("the device has moved on")
			}
		})
	}
}

// Attack: weights beyond the ball that the job promised. The strongest adversary is a
// gateway with both witnesses: the device checks the weights itself.
func TestAttackWeightsBeyondTheBall(t *testing.T) {
	s := newServer(t)
	d := s.device(t, &memory{})
	s.announce(10.1)
	if _, _, err := d.follow(t.Context()); err == nil || !strings.Contains(err.Error(), "a ball of radius 10") {
		t.Errorf("%v", err)
	}
}

// Attack: a device that is alone, or among few, in a window. The strongest adversary here
// is either witness with too low a count; the device sends nothing, and keeps its tokens
// for another window.
func TestAttackAloneInAWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, lonely := range []string{"relay", "issuer"} {
		s := newServer(t)
		d := s.device(t, &memory{})
		d.state.tokens[0] = [][]byte{{1}, {2}, {3}, {4}, {5}}
		c, w := s.history(0)
		c[0].Opens = time.Now().UnixMilli()
		c = secvm.Chain(nil).Extend(c[0].Link, s.sign)
		s.tell(c, w)
		s.countersign(c, "relay", "issuer")
		link, _, err := d.follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said := secvm.Statement{Configuration: s.configuration.Hash(), Links: 1, Head: c[0].Hash(), Devices: 99}
		s.tells["/"+lonely+secvm.StatementPath] = said.Sign(func(m []byte) []byte { return ed25519.Sign(s.witnesses[lonely], m) })
		if enough, err := d.awaitOthers(t.Context(), link); err != nil || enough {
			t.Errorf("the %s knows 99 devices of 100: %t, %v", lonely, enough, err)
		}
		if d.answered(0) || len(d.state.tokens[0]) != 5 {
			t.Error("the device has spent its tokens")
		}
	}
}

func TestNewRefuses(t *testing.T) {
	s := newServer(t)
	for want, change := range map[string]func(*Config) string{
		"signature is not valid":     func(c *Config) string { c.Configuration = bytes.Clone(s.signed); c.Configuration[9] ^= 1; return "odd" },
		"requires at least 200":      func(c *Config) string { c.Limits = secvm.DefaultLimits(); c.Limits.Cohort = 200; return "odd" },
		"RelayKey and Issuer":        func(c *Config) string { c.RelayKey = nil; return "odd" },
		"have the same key":          func(c *Config) string { c.RelayKey = c.IssuerKey; return "odd" },
		`job of mode "paper"`:        func(c *Config) string { c.Configuration = ownIssuer(t, s); return "odd" },
		"not an Ed25519 private key": func(c *Config) string { c.Configuration = s.signed; c.Credential = nil; return "odd" },
		`the label is "prime"`:       func(*Config) string { return "prime" },
	} {
		c := s.config(&memory{})
		label := change(&c)
		if _, err := New(c, nil, label); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// ownIssuer returns the configuration of a gateway that issues the tokens itself.
func ownIssuer(t *testing.T, s *server) []byte {
	t.Helper()
	c := *s.configuration
	c.TokenType = uint16(privacypass.VOPRF)
	signed, err := c.Sign(s.sign)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// An issuer that does not know the device ends it, with a reason; an unreachable one is
// asked again until the device is stopped.
func TestNoTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := newServer(t)
	for status, want := range map[int]string{http.StatusForbidden: "refused to give this device tokens", http.StatusServiceUnavailable: context.DeadlineExceeded.Error()} {
		i := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		c := s.config(&memory{})
		c.Issuer = i.URL
		d, err := New(c, nil, "odd")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if err := d.Prepare(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("status %d: %v", status, err)
		}
		cancel()
		i.Close()
	}
}

func FuzzDecodeState(f *testing.F) {
	c := &secvm.Configuration{}
	s := &state{answered: -1, tokens: map[uint32][][]byte{3: {{1, 2}}}, vector: secvm.Vector{{Bin: 1, Count: 2}}}
	s.follower.Configuration = c.Hash()
	f.Add(s.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeState(c, b)
		if err != nil {
			return
		}
		if again, err := decodeState(c, s.encode()); err != nil || !bytes.Equal(again.encode(), s.encode()) {
			t.Error("written again it is read otherwise")
		}
	})
}

// A browser can be a device.
func TestCompilesToWebAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything for another machine")
	}
	build := exec.Command("go", "build", ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The tests of a device pass as WebAssembly, on Node's engine instead of a browser's.
func TestRunsAsWebAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything for another machine")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("NOTHING RUNS: no Node to run WebAssembly")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	test := exec.Command("go", "test", "-count=1", "-v", "-exec="+run, "-run=^(TestStateStays|TestNewRefuses|TestNoTokens)$", ".")
	test.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := test.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: Test") != 3 {
		t.Errorf("%v\n%s", err, out)
	}
}

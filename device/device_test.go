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
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

type memory struct{ state []byte }

func (m *memory) Load() ([]byte, error) { return m.state, nil }
func (m *memory) Save(b []byte) error   { m.state = b; return nil }

// server is a gateway that tells what a test likes.
type server struct {
	*httptest.Server
	configuration *secvm.Configuration
	signed        []byte
	key           ed25519.PrivateKey
	tells         map[string][]byte // answers by path
}

func newServer(t *testing.T) *server {
	t.Helper()
	p, err := secvm.NewParams(secvm.Spec{Name: "toy", Bins: 16, Packages: 4, Cohort: 100, Radius: 10})
	if err != nil {
		t.Fatal(err)
	}
	own, err := ohttp.NewKey(1, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{key: ed25519.NewKeyFromSeed(make([]byte, 32)), tells: map[string][]byte{}}
	i, err := privacypass.NewVOPRFIssuer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s.configuration = &secvm.Configuration{
		Params: p, Classes: [2]string{"even", "odd"}, Testers: .5, Iterations: 1, Window: 200, Grace: 10, Pause: 10,
		Issuer: "issuer.example", TokenType: uint16(privacypass.VOPRF), TokenKeys: [][]byte{i.PublicKey(), i.PublicKey()},
		Keys: ohttp.EncodeKeys(own.Config()), Signer: s.key.Public().(ed25519.PublicKey),
	}
	if s.signed, err = s.configuration.Sign(s.sign); err != nil {
		t.Fatal(err)
	}
	s.tells[secvm.ConfigurationPath] = s.signed
	s.Server = httptest.NewServer(&ohttp.Gateway{Keys: []*ohttp.Key{own}, Serve: func(_ context.Context, q *bhttp.Request) *bhttp.Response {
		return &bhttp.Response{Status: http.StatusOK, Content: s.tells[q.Path]}
	}})
	t.Cleanup(s.Close)
	return s
}

func (s *server) sign(m []byte) []byte { return ed25519.Sign(s.key, m) }

// announce tells a history that ends with these weights.
func (s *server) announce(weights ...float64) {
	var c secvm.Chain
	var last []float64
	for i, w := range weights {
		last = make([]float64, s.configuration.Params.Features())
		last[0] = w
		c = c.Extend(s.configuration.Hash(), uint32(i), int64(i+1), last, s.sign)
	}
	s.tells[secvm.AnnouncementPath] = secvm.Announcement{Chain: c, Weights: secvm.EncodeWeights(last)}.Encode(s.configuration)
}

func (s *server) config(store Store) Config {
	return Config{Configuration: s.signed, Relay: s.URL, Issuer: s.URL, Credential: s.key, Store: store}
}

func (s *server) device(t *testing.T, store Store) *Device {
	t.Helper()
	d, err := New(s.config(store), []string{"a", "b", "c", "d", "e"}, "odd")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What is drawn once stays: another process of the device has the same role,
// sample, history and tokens, and answers no window twice.
func TestStateStays(t *testing.T) {
	s := newServer(t)
	store := &memory{}
	d := s.device(t, store)
	if n := d.state.vector.Units(); n != s.configuration.Params.Room() {
		t.Errorf("a sample of %d units", n)
	}
	d.state.tokens[0] = [][]byte{{1}, {2}}
	s.announce(0)
	link, weights, err := d.follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if packages, tokens, err := d.commit(link.Iteration, weights); err != nil || len(packages) != 2 || len(tokens) != 2 {
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

// Attack: weights, or a configuration, for one device only. It sees that the
// gateway's history is not the one that it was told before, and stops.
func TestAttackOwnWeights(t *testing.T) {
	s := newServer(t)
	d := s.device(t, &memory{})
	s.announce(0)
	if _, _, err := d.follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.announce(5, 1)
	if _, _, err := d.follow(t.Context()); !errors.Is(err, secvm.ErrForked) {
		t.Errorf("another history: %v", err)
	}
	s.announce(0, 1e9)
	if _, _, err := d.follow(t.Context()); err == nil || !strings.Contains(err.Error(), "promised at most") {
		t.Errorf("huge weights: %v", err)
	}
	s.tells[secvm.ConfigurationPath] = append(bytes.Clone(s.signed), 0)
	if err := d.compare(t.Context()); !errors.Is(err, ErrConfiguration) {
		t.Errorf("another configuration: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	s := newServer(t)
	for want, change := range map[string]func(*Config) string{
		"not signed":        func(c *Config) string { c.Configuration = bytes.Clone(s.signed); c.Configuration[9] ^= 1; return "odd" },
		"demands 200":       func(c *Config) string { c.Limits = secvm.DefaultLimits(); c.Limits.Cohort = 200; return "odd" },
		"no key of Ed25519": func(c *Config) string { c.Configuration = s.signed; c.Credential = nil; return "odd" },
		`label "prime"`:     func(*Config) string { return "prime" },
	} {
		c := s.config(&memory{})
		label := change(&c)
		if _, err := New(c, nil, label); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// An issuer that knows nothing of the device ends it, with a reason; one that is
// not there is asked again until the device is stopped.
func TestNoTokens(t *testing.T) {
	s := newServer(t)
	for status, want := range map[int]string{http.StatusForbidden: "gives this device no tokens", http.StatusServiceUnavailable: context.DeadlineExceeded.Error()} {
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

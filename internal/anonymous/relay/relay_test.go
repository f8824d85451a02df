package relay

import (
	"bytes"
	"crypto/ed25519"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint/endpointtest"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// job is a gateway's configuration and history, and an issuer.
type job struct {
	t             *testing.T
	configuration *secvm.Configuration
	signed        []byte
	chain         secvm.Chain
	issuer        *privacypass.RSAIssuer
}

var gatewayKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))

func sign(m []byte) []byte { return ed25519.Sign(gatewayKey, m) }

func newJob(t *testing.T) *job {
	t.Helper()
	k, err := privacypass.GenerateRSA()
	must(t, err)
	i, err := privacypass.NewRSAIssuer(k)
	must(t, err)
	p, err := secvm.NewParams(secvm.Spec{Name: "toy", Bins: 4, Packages: 4, Cohort: 10, Radius: 1})
	must(t, err)
	j := &job{t: t, issuer: i, configuration: &secvm.Configuration{
		Params: p, Classes: [2]string{"a", "b"}, Iterations: 1, Window: 100, Issuer: "issuer.example", TokenType: uint16(privacypass.BlindRSA),
		TokenKeys: [][]byte{i.PublicKey(), i.PublicKey()}, Signer: gatewayKey.Public().(ed25519.PublicKey),
	}}
	j.signed, err = j.configuration.Sign(sign)
	must(t, err)
	return j
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// window adds a window of an iteration, and returns the whole history.
func (j *job) window(iteration uint32) []byte {
	l := secvm.Link{Configuration: j.configuration.Hash(), Iteration: iteration, Opens: int64(len(j.chain) + 1), Weights: [32]byte{byte(iteration)}}
	j.chain = j.chain.Extend(l, sign)
	return secvm.History{Configuration: j.signed, Chain: j.chain}.Encode()
}

// token returns one token of the issuer.
func (j *job) token(c privacypass.Challenge) []byte {
	j.t.Helper()
	client, err := privacypass.NewClient(privacypass.BlindRSA, j.issuer.PublicKey())
	must(j.t, err)
	blinded, pending, err := client.Request(c)
	must(j.t, err)
	answer, err := j.issuer.Issue(blinded)
	must(j.t, err)
	t, err := pending.Finish(answer)
	must(j.t, err)
	return t.Encode()
}

func open(t *testing.T, home, gateway string) *Relay {
	t.Helper()
	return openWith(t, home, gateway, func(*Config) {})
}

func openWith(t *testing.T, home, gateway string, change func(*Config)) *Relay {
	t.Helper()
	id, err := identity.FromSeed([32]byte{9})
	must(t, err)
	c := Config{Home: home, Identity: id, Gateway: gateway, GatewayKey: gatewayKey.Public().(ed25519.PublicKey), Timeout: time.Second, Logger: slog.New(slog.DiscardHandler)}
	change(&c)
	r, err := Open(c)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r
}

func ask(r *Relay, method, path string, body []byte) endpointtest.Recorder {
	a := endpointtest.NewRecorder()
	q := httptest.NewRequest(method, path, bytes.NewReader(body))
	if path == secvm.HistoryPath {
		key := gatewayKey.Public().(ed25519.PublicKey)
		request.Signer{Purpose: secvm.HistoryPurpose, Of: key}.Sign(q, request.NameOf(key), gatewayKey, body)
	}
	r.ServeHTTP(a, q)
	return a
}

// devices returns the number of devices that the relay reports as ready.
func devices(t *testing.T, r *Relay) uint32 {
	t.Helper()
	id, err := identity.FromSeed([32]byte{9})
	must(t, err)
	s, err := secvm.DecodeStatement(ask(r, "GET", secvm.StatementPath, nil).Body.Bytes(), id.Public().Sign)
	must(t, err)
	return s.Devices
}

// arrivals is a gateway that counts the packages that it gets.
type arrivals struct{ atomic.Int64 }

// RoundTrip implements http.RoundTripper.
func (n *arrivals) RoundTrip(*http.Request) (*http.Response, error) {
	n.Add(1)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {ohttp.ResponseType}}, Body: http.NoBody}, nil
}

// A relay holds packages back until its batch is full: the gateway gets none before.
func TestPackagesWaitForTheirBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batch = 3
		var gateway arrivals
		r := openWith(t, t.TempDir(), "http://gateway.test", func(c *Config) { c.Batch, c.Wait, c.Transport = batch, time.Minute, &gateway })
		for i := range batch {
			if n := gateway.Load(); n != 0 {
				t.Errorf("the gateway has %d packages when the relay has %d", n, i)
			}
			go func() {
				q := httptest.NewRequest("POST", "/", bytes.NewReader(make([]byte, 100)))
				q.Header.Set("Content-Type", ohttp.RequestType)
				r.ServeHTTP(endpointtest.NewRecorder(), q)
			}()
			synctest.Wait()
		}
		if n := gateway.Load(); n != batch {
			t.Errorf("the gateway has %d packages, want %d", n, batch)
		}
	})
}

// Attack: make a relay count more devices than have tokens for its last window. The
// strongest adversary has all tokens of one device, for packages, for other iterations and
// of other issuers, and shows each as often as it likes.
func TestAttackPresence(t *testing.T) {
	j, other := newJob(t), newJob(t)
	r := open(t, t.TempDir(), "http://gateway.example")
	mine := j.token(j.configuration.PresenceToken(0))
	if a := ask(r, "POST", secvm.PresencePath, mine); a.Code != http.StatusServiceUnavailable {
		t.Errorf("before the first window: %d", a.Code)
	}
	if a := ask(r, "POST", secvm.HistoryPath, j.window(0)); a.Code != http.StatusOK {
		t.Fatal(a.Code)
	}
	forged := bytes.Clone(mine)
	forged[5] ^= 1 // of its nonce
	for _, c := range []struct {
		name   string
		body   []byte
		status int
	}{
		{"a device's", mine, http.StatusOK},
		{"the same again", mine, http.StatusOK},
		{"one for a package", j.token(j.configuration.PackageToken(0)), http.StatusConflict},
		{"one for another iteration", j.token(j.configuration.PresenceToken(1)), http.StatusConflict},
		{"another issuer's", other.token(j.configuration.PresenceToken(0)), http.StatusForbidden},
		{"with another nonce", forged, http.StatusForbidden},
		{"none", []byte("let me in"), http.StatusForbidden},
		{"too long", make([]byte, maxToken+1), http.StatusRequestEntityTooLarge},
	} {
		if a := ask(r, "POST", secvm.PresencePath, c.body); a.Code != c.status {
			t.Errorf("%s: %d, want %d", c.name, a.Code, c.status)
		}
	}
	if n := devices(t, r); n != 1 {
		t.Errorf("%d devices, of one", n)
	}
	if a := ask(r, "POST", secvm.PresencePath, j.token(j.configuration.PresenceToken(0))); a.Code != http.StatusOK || devices(t, r) != 2 {
		t.Errorf("a second device: %d, %d devices", a.Code, devices(t, r))
	}
	// Another window counts from 0, even of the same iteration: devices that have answered
	// are gone.
	if a := ask(r, "POST", secvm.HistoryPath, j.window(0)); a.Code != http.StatusOK || devices(t, r) != 0 {
		t.Errorf("in the next window there are %d devices from the start: %d", devices(t, r), a.Code)
	}
}

// Devices that ask at the same time receive one announcement, for which the gateway
// receives one request; nothing is passed on if the gateway is gone.
func TestNews(t *testing.T) {
	var asked atomic.Int64
	g := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if n := asked.Add(1); n > 2 {
			http.Error(w, "gone", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(q.URL.Path))
	}))
	defer g.Close()
	r := open(t, t.TempDir(), g.URL)
	for range 3 {
		if a := ask(r, "GET", secvm.AnnouncementPath, nil); a.Code != http.StatusOK || a.Body.String() != secvm.AnnouncementPath {
			t.Errorf("%d %q", a.Code, a.Body)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the gateway was asked %d times", n)
	}
	asked.Store(2)
	r.news.last.at = time.Time{}
	if a := ask(r, "GET", secvm.AnnouncementPath, nil); a.Code != http.StatusBadGateway {
		t.Errorf("of a gateway that is gone: %d", a.Code)
	}
}

// Package relay passes requests from the devices to the gateway, as in Oblivious HTTP. It sees
// the senders of requests but not the contents; the gateway sees the contents but not the
// senders. It may be killed at any time; devices send again.
//
// The relay is also a witness: it countersigns its gateway's announcements (package
// internal/anonymous/witness), and counts the devices that have shown it a token for the next
// window. Devices sign nothing here, so only slowness and number distinguish strangers from
// devices ([endpoint.Timely], [endpoint.Serve]). Its home holds its identity and the history that
// it has countersigned, and nothing of devices.
package relay

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/anonymous/witness"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Config holds a relay's settings: the gateway's address, and the way that requests take to
// it.
type Config struct {
	Home     string // a folder
	Identity *identity.Identity
	Gateway  string // address, http or https
	// GatewayKey is the key of the gateway whose history the relay countersigns.
	GatewayKey ed25519.PublicKey
	Batch      int           // requests that are sent together, in random order; 0: each at once
	Wait       time.Duration // greatest delay of a request by its batch
	Timeout    time.Duration // of one request to the gateway; longer than the gateway holds answers
	// Transport connects to the gateway; nil: [Transport] with the system's authorities.
	Transport http.RoundTripper
	Logger    *slog.Logger
}

// Relay is an HTTP handler.
type Relay struct {
	mux      *http.ServeMux
	witness  *witness.Witness
	presence presence
	news     news
	answers  *prometheus.CounterVec
}

// connections bounds the open connections to the gateway. They are the relay's own, for the
// requests of all devices.
const connections = 64

// Transport returns a transport to a gateway whose certificate one of roots has signed;
// nil: the system's authorities.
func Transport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots},
	}
}

// Open checks a configuration and opens the relay's home.
func Open(c Config) (*Relay, error) {
	u, err := url.Parse(c.Gateway)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.BadInputf("the gateway's address is %q; write https://host:port", c.Gateway)
	}
	if c.Batch < 0 || c.Wait < 0 || c.Timeout <= 0 {
		return nil, fault.BadInputf("batch is %d, its wait is %v and the timeout is %v; batch and wait must not be negative, and the timeout must be above 0", c.Batch, c.Wait, c.Timeout)
	}
	if c.Transport == nil {
		c.Transport = Transport(nil)
	}
	client := &http.Client{Transport: c.Transport, Timeout: c.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r := &Relay{
		mux:     http.NewServeMux(),
		news:    news{client: client, url: u.JoinPath(secvm.AnnouncementPath).String()},
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mercer_relay_requests_total", Help: "Requests by the status of their answer."}, []string{"status"}),
	}
	anyJob := func(*secvm.Configuration) error { return nil } // of its gateway
	if r.witness, err = witness.Open(filepath.Join(c.Home, "witness"), c.Identity.SigningKey(), c.GatewayKey, anyJob); err != nil {
		return nil, err
	}
	const size = secvm.RequestSize + ohttp.Overhead
	r.mux.Handle("/", endpoint.Timely(size, &ohttp.Relay{
		Gateway: c.Gateway, Client: client, Limit: size, Batch: c.Batch, Wait: c.Wait, Lanes: connections,
	}))
	r.witness.Serve(r.mux, c.Logger, r.presence.count)
	r.mux.Handle("POST "+secvm.PresencePath, endpoint.Timely(maxToken, http.HandlerFunc(r.greet)))
	r.mux.HandleFunc("GET "+secvm.AnnouncementPath, r.news.serve)
	return r, nil
}

// Close closes the home.
func (r *Relay) Close() error { return r.witness.Close() }

// Collect adds the relay's metrics to a registry.
func (r *Relay) Collect(to prometheus.Registerer) error { return to.Register(r.answers) }

// ServeHTTP passes a request on, or answers it.
func (r *Relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	r.mux.ServeHTTP(s, q)
	r.answers.WithLabelValues(fmt.Sprint(s.status)).Inc()
}

// statusWriter records the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// Unwrap lets [http.ResponseController] reach the connection, whose deadlines bound the
// time of bodies.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// presence records the tokens that devices have shown for one window. It is only in memory:
// a device shows its token again while it waits for others.
type presence struct {
	mu     sync.Mutex
	links  int // length of the history; the window is that of its last link
	nonces map[[32]byte]struct{}
}

// add records a token for a window, and discards those for another one.
func (p *presence) add(links int, nonce [32]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links != links || p.nonces == nil {
		p.links, p.nonces = links, map[[32]byte]struct{}{}
	}
	p.nonces[nonce] = struct{}{}
}

// count returns the number of tokens shown for the last window.
func (p *presence) count(s witness.Standing) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links != s.Links {
		return 0
	}
	return len(p.nonces)
}

// maxToken bounds a token in bytes.
const maxToken = 1 << 10

// greet accepts a device's token for the last window. The relay learns nothing from it,
// because the token is blind.
func (r *Relay) greet(w http.ResponseWriter, q *http.Request) {
	s := r.witness.Standing()
	var status int
	b, err := io.ReadAll(q.Body)
	switch {
	case err != nil:
		status = http.StatusBadRequest
	case s.Configuration == nil || s.Links == 0:
		status = http.StatusServiceUnavailable
	default:
		var nonce [32]byte
		if nonce, status = check(s, b); status == http.StatusOK {
			r.presence.add(s.Links, nonce)
		}
	}
	if status != http.StatusOK {
		http.Error(w, http.StatusText(status), status)
	}
}

// check verifies a device's token for the last window's iteration.
func check(s witness.Standing, b []byte) (nonce [32]byte, status int) {
	t, err := privacypass.ParseToken(b)
	if err != nil {
		return nonce, http.StatusForbidden
	}
	want := s.Configuration.PresenceToken(s.Iteration).Digest()
	if t.Challenge != want {
		return nonce, http.StatusConflict
	}
	v, err := privacypass.NewRSAVerifier(s.Configuration.TokenKeys[s.Iteration])
	if err != nil || v.Verify(t, want) != nil {
		return nonce, http.StatusForbidden
	}
	return t.Nonce, http.StatusOK
}

// Package relay forwards requests from devices to the gateway by Oblivious HTTP. It sees the
// senders of requests but not the contents; the gateway sees the contents but not the senders.
// The relay can be killed at any time without harm, because devices send again.
//
// The relay is also a witness: it countersigns its gateway's announcements (package
// internal/anonymous/witness), and counts the devices that have shown it a token for the next
// window. Devices sign nothing here, so the relay cannot tell strangers from devices; it limits
// how slowly a sender sends and how many connections a sender has ([endpoint.Timely],
// [endpoint.Serve]). The relay's folder holds its identity, and the configuration and history that it
// has countersigned, and nothing of devices.
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

// Config holds a relay's settings: the gateway's address and key, and the batching of requests.
type Config struct {
	Home     string // folder of the relay's files
	Identity *identity.Identity
	Gateway  string // URL of the gateway, http or https
	// GatewayKey is the key of the gateway whose history the relay countersigns.
	GatewayKey ed25519.PublicKey
	Batch      int           // number of requests that are forwarded together in random order; 0 forwards each at once
	Wait       time.Duration // longest time that a request waits for its batch
	Timeout    time.Duration // timeout of one request to the gateway; must be longer than the gateway's Hold
	// Transport connects to the gateway. If it is nil, the relay uses [Transport] with the system's
	// certificate authorities.
	Transport http.RoundTripper
	Logger    *slog.Logger
}

// Relay is an HTTP handler that forwards requests of devices and countersigns the gateway's
// history.
type Relay struct {
	mux      *http.ServeMux
	witness  *witness.Witness
	presence presence
	news     news
	answers  *prometheus.CounterVec
}

// connections is the largest number of idle connections to the gateway that are kept, and of requests of
// one batch that are forwarded concurrently. Requests of all devices share these connections.
const connections = 64

// Transport returns an HTTP transport to a gateway whose certificate chains to one of roots. If
// roots is nil, it uses the system's certificate authorities.
func Transport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots},
	}
}

// Open checks a configuration and opens the relay's folder of files.
func Open(c Config) (*Relay, error) {
	u, err := url.Parse(c.Gateway)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.BadInputf("the gateway's address is %q; write https://host:port", c.Gateway)
	}
	if c.Batch < 0 || c.Wait < 0 || c.Timeout <= 0 {
		return nil, fault.BadInputf("the batch size is %d, the wait for a batch is %v and the timeout is %v; batch size and wait must not be negative, and the timeout must be above 0", c.Batch, c.Wait, c.Timeout)
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
	anyJob := func(*secvm.Configuration) error { return nil } // accepts any job of its gateway
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

// Close closes the relay's files.
func (r *Relay) Close() error { return r.witness.Close() }

// Collect registers the relay's metrics.
func (r *Relay) Collect(to prometheus.Registerer) error { return to.Register(r.answers) }

// ServeHTTP forwards a request to the gateway, or answers it.
func (r *Relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	r.mux.ServeHTTP(s, q)
	r.answers.WithLabelValues(fmt.Sprint(s.status)).Inc()
}

// statusWriter records the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// Unwrap gives [http.ResponseController] access to the connection. The connection's deadlines
// limit the time for reading a body.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// presence records the tokens that devices have shown for one window. The tokens are kept only in
// memory: after a restart of the relay, each waiting device shows its token again.
type presence struct {
	mu     sync.Mutex
	links  int // length of the history, whose last link describes the window
	nonces map[[32]byte]struct{}
}

// add records a token for a window, and discards the tokens of any other window.
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

// maxToken is the largest size of a token in bytes.
const maxToken = 1 << 10

// greet records a device's token for the last window. The token was issued blindly, so it does not
// identify the device.
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

// check verifies that a token belongs to the last window's iteration. It returns the token's
// nonce and an HTTP status.
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

// Package relay stands between the devices and the gateway: it sees who sends
// and not what, and passes on what is sent and not by whom. It keeps nothing, so
// that it may be killed at any time; devices send again.
package relay

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Config says where to and how.
type Config struct {
	Gateway string        // address, http or https
	Batch   int           // requests that leave together, in random order; 0: each at once
	Wait    time.Duration // longest that a request waits for its batch
	Timeout time.Duration // of one request to the gateway; longer than the gateway holds answers
	// Transport leads to the gateway; nil: [Transport] with the system's authorities.
	Transport http.RoundTripper
}

// Relay is an HTTP handler.
type Relay struct {
	next    http.Handler
	answers *prometheus.CounterVec
}

// connections are kept to the gateway. They are the relay's, whoever's requests
// go over them.
const connections = 64

// Transport makes connections to a gateway whose certificate one of roots has
// signed; nil: the system's authorities.
func Transport(roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		MaxIdleConnsPerHost: connections, IdleConnTimeout: time.Minute, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots},
	}
}

// New checks a configuration.
func New(c Config) (*Relay, error) {
	u, err := url.Parse(c.Gateway)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, session.BadInput(fmt.Errorf("the gateway's address %q: write https://host:port", c.Gateway))
	}
	if c.Batch < 0 || c.Wait < 0 || c.Timeout <= 0 {
		return nil, session.BadInput(fmt.Errorf("batches of %d after at most %v, answered within %v; use numbers above 0", c.Batch, c.Wait, c.Timeout))
	}
	if c.Transport == nil {
		c.Transport = Transport(nil)
	}
	client := &http.Client{Transport: c.Transport, Timeout: c.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Relay{
		next: &ohttp.Relay{
			Gateway: c.Gateway, Client: client, Limit: secvm.RequestSize + ohttp.Overhead,
			Batch: c.Batch, Wait: c.Wait, Lanes: connections,
		},
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mercer_relay_requests_total", Help: "Requests by the status of their answer."}, []string{"status"}),
	}, nil
}

// Collect adds the relay's metrics to a registry.
func (r *Relay) Collect(to prometheus.Registerer) error { return to.Register(r.answers) }

// ServeHTTP passes a request on.
func (r *Relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	r.next.ServeHTTP(s, q)
	r.answers.WithLabelValues(fmt.Sprint(s.status)).Inc()
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

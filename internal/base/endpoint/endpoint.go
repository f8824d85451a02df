// Package endpoint serves HTTP on an address until its context ends, with limits that keep
// slow or greedy callers from blocking a server. It closes old connections of strangers in
// favour of new ones ([Admit]). A header can be signed and verified before its body is read
// ([request.Signer]). Bodies ([request.ReadBody], [Timely]) and readers of answers
// ([Answer]) have time limits by length.
package endpoint

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/descriptor"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// These constants are the limits of every endpoint.
const (
	headerTime  = 10 * time.Second
	readTime    = 30 * time.Second
	idleTime    = time.Minute
	headerBytes = 16 << 10
	stopTime    = 2 * time.Second // time for unfinished answers after the context's end
)

// Listen opens a port on host:port.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fault.BadInputf("this machine cannot listen on %s (%w); choose another address", address, err)
	}
	return l, nil
}

// These are the first and the last port that Unused tries. Systems give outgoing connections ports
// above these.
const firstPort, lastPort = 10000, 32767

// Unused returns a loopback address at which nothing listens. It does not reserve the address. Another
// program is unlikely to take it, because the port is drawn at random, and no outgoing connection gets a
// port in this range.
func Unused() (string, error) {
	const tries = 100
	var last error
	for range tries {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort+1)))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		last = err
	}
	return "", fmt.Errorf("endpoint: no free port is found on loopback: %w", last)
}

// Secure makes a listener speak TLS. The certificate and its key are files in PEM. Clients must use
// TLS 1.3. Secure reads both files once, so a new certificate takes effect when the program starts
// again. On an error, Secure returns the listener unchanged.
func Secure(l net.Listener, certificate, key string) (net.Listener, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return l, fault.BadInputf("the certificate %s with the key %s cannot be used (%w); give a certificate and its key, both in PEM", certificate, key, err)
	}
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}), nil
}

// Authorities returns the authorities whose certificates are accepted. They are the system's
// authorities and those in a file in PEM. Without a file it returns nil, which stands for the
// system's.
func Authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	b, err := regular.Read(path)
	if err != nil {
		return nil, fault.BadInputf("certificates cannot be read: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // the system's certificates cannot be read
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(b) {
		return nil, fault.BadInputf("%s holds no certificate; give a file in PEM", path)
	}
	return pool, nil
}

// Serve answers HTTP requests at l until ctx ends. Strangers keep at most [maxStrangers] connections
// open, or fewer if the process can open few files: see [Admit]. Connections from trusted addresses are
// not counted.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger, trusted ...netip.Prefix) error {
	open := newGuests(min(maxStrangers, descriptor.Strangers()), log)
	open.trusted = trusted
	return serve(ctx, l, h, open, log)
}

func serve(ctx context.Context, l net.Listener, h http.Handler, open *guests, log *slog.Logger) error {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ConnContext: open.enter, ConnState: open.stateChanged,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // debug level, because these errors name addresses
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		err := s.Shutdown(end)
		if errors.Is(err, context.DeadlineExceeded) { // end unfinished answers: the callers repeat their requests
			err = s.Close()
		}
		stopped <- err
	})
	err := s.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("endpoint: %w", err)
	}
	return <-stopped
}

// maxScrapes bounds the requests for metrics that are answered at a time.
const maxScrapes = 4

// Metrics returns a handler that exposes the metrics of a registry to Prometheus.
func Metrics(r prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes}))
	return mux
}

// Monitor returns a handler for a port on loopback. It exposes the metrics of a registry, and the health of
// the process: /healthz answers 200 as long as the process serves, and /readyz answers 200 if ready returns
// nil, or else 503. A web page that a browser on this machine shows could reach the port under a name of its
// own. Therefore the Host header of a request must name loopback.
func Monitor(r prometheus.Gatherer, ready func() error) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", Metrics(r))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { health(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { health(w, ready()) })
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !Loopback(q.Host) {
			Refuse(w, http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, q)
	})
}

// health answers whether a process is well.
func health(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err) // the caller has gone if this fails
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

// Loopback reports whether only this machine can reach a host, with or without a port: a loopback address, or the name
// localhost.
func Loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

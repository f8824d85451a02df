package endpoint

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/base/endpoint/endpointtest"
)

// pair writes the certificate of httptest, for 127.0.0.1, and its key to files.
func pair(t *testing.T) (certificate, key string) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	of := s.TLS.Certificates[0]
	pkcs8, err := x509.MarshalPKCS8PrivateKey(of.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("certificate.pem", "CERTIFICATE", of.Certificate[0]), write("key.pem", "PRIVATE KEY", pkcs8)
}

// A port with a certificate speaks TLS 1.3 to clients that trust it, and to no other.
func TestSecure(t *testing.T) {
	certificate, key := pair(t)
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if l, err = Secure(l, certificate, key); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }), slog.New(slog.DiscardHandler))
	}()
	roots, err := Authorities(certificate)
	if err != nil {
		t.Fatal(err)
	}
	system, err := Authorities("")
	if err != nil || system != nil {
		t.Errorf("%v, %v", system, err)
	}
	for name, c := range map[string]struct {
		scheme string
		config *tls.Config
		ok     bool
	}{
		"who trusts it":     {"https", &tls.Config{RootCAs: roots}, true},
		"who does not":      {"https", &tls.Config{RootCAs: system}, false},
		"an older version":  {"https", &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS12}, false},
		"who speaks no TLS": {"http", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: c.config, DisableKeepAlives: true}}
			r, err := client.Get(c.scheme + "://" + l.Addr().String())
			said := ""
			if err == nil {
				b, failed := io.ReadAll(r.Body)
				said, err = string(b), failed
				_ = r.Body.Close()
			}
			if (err == nil && said == "hello") != c.ok {
				t.Errorf("%q, %v", said, err)
			}
		})
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestBadFiles(t *testing.T) {
	certificate, key := pair(t)
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck
	if same, err := Secure(l, key, certificate); err == nil || same != l {
		t.Errorf("a key for a certificate: %v", err)
	}
	for _, path := range []string{key, filepath.Join(t.TempDir(), "gone")} {
		if _, err := Authorities(path); err == nil {
			t.Errorf("%s holds authorities", path)
		}
	}
}

// Only this machine reaches its loopback, with or without a port. A name that another machine may give itself is no
// loopback.
func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.8.8.8": true, "::1": true, "::ffff:127.0.0.1": true, "[::1]": true, "[::1]:80": true, "127.0.0.1:80": true, "localhost:80": true,
		"": false, "0.0.0.0": false, "::": false, "[::]:80": false, "10.0.0.1": false, "10.0.0.1:80": false, "::2": false, "127.0.0.1.example": false, "localhost.example:80": false, "evil.example": false,
	} {
		if Loopback(host) != want {
			t.Errorf("%q: %t", host, !want)
		}
	}
}

// A monitor says whether the process is alive and whether it is ready. It answers no request that names
// another host than loopback, since a web page could send it.
func TestMonitor(t *testing.T) {
	why := errors.New("no connection to boss")
	h := Monitor(prometheus.NewRegistry(), func() error { return why })
	ask := func(path, host string) endpointtest.Recorder {
		q := httptest.NewRequest(http.MethodGet, path, nil)
		q.Host = host
		w := endpointtest.NewRecorder()
		h.ServeHTTP(w, q)
		return w
	}
	for _, host := range []string{"127.0.0.1:9464", "localhost:9464", "[::1]:9464", "[::1]", "127.0.0.1", "localhost"} {
		if w := ask("/healthz", host); w.Code != http.StatusOK || w.Body.String() != "ok\n" {
			t.Errorf("%s: %d %q", host, w.Code, w.Body)
		}
	}
	if w := ask("/readyz", "localhost"); w.Code != http.StatusServiceUnavailable || w.Body.String() != "no connection to boss\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	why = nil
	if w := ask("/readyz", "localhost"); w.Code != http.StatusOK {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	for _, host := range []string{"evil.example", "evil.example:9464", "10.0.0.1:9464", "", "localhost.evil.example"} {
		if w := ask("/metrics", host); w.Code != http.StatusMisdirectedRequest {
			t.Errorf("host %q: %d", host, w.Code)
		}
	}
	if w := ask("/other", "localhost"); w.Code != http.StatusNotFound {
		t.Errorf("another page: %d", w.Code)
	}
}

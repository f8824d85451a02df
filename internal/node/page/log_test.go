package page

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// lines collects the lines of a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// has reports whether a text is in the log.
func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Contains(l.text.Bytes(), []byte(text))
}

// The log has no address of a browser, unless its level is debug: not of one that speaks no TLS, nor of one that goes
// away while a view is kept up to date.
func TestAddressesOfBrowsersAreNotLogged(t *testing.T) {
	for level, logged := range map[slog.Level]bool{slog.LevelInfo: false, slog.LevelDebug: true} {
		log := new(lines)
		logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))
		h := partyHome(t)
		p := New(h, h, Loopback, logger)
		for what, address := range map[string]string{"a browser without TLS": speakNoTLS(t, p, logger), "a browser that went away": goAway(t, p)} {
			if log.has(address) != logged {
				t.Errorf("level %v: the address of %s is in the log: %t", level, what, !logged)
			}
		}
		if !log.has("a person has opened the page") { // as at the level info
			t.Error("nothing is logged")
		}
	}
}

// speakNoTLS sends a request without TLS to a page that speaks TLS, and returns its own address.
func speakNoTLS(t *testing.T, p *Page, log *slog.Logger) string {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- endpoint.Serve(ctx, tls.NewListener(l, &tls.Config{Certificates: certified.TLS.Certificates}), p.Handler(), log)
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // a test's connection
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.0 400") {
		t.Errorf("%q, %v", answer, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return c.LocalAddr().String()
}

// gone is the answer to a browser that has gone away.
type gone struct {
	*httptest.ResponseRecorder
	browser net.Addr
}

func (g gone) SetReadDeadline(time.Time) error  { return nil }
func (g gone) SetWriteDeadline(time.Time) error { return nil }
func (g gone) Write([]byte) (int, error) {
	return 0, &net.OpError{Op: "write", Net: "tcp", Addr: g.browser, Err: syscall.ECONNRESET}
}

// goAway follows a view as a browser that goes away, and returns the browser's address.
func goAway(t *testing.T, p *Page) string {
	t.Helper()
	path, err := p.Invite(visitor(access.Viewer))
	if err != nil {
		t.Fatal(err)
	}
	entered := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "localhost"
	p.Handler().ServeHTTP(entered, r)
	found := leadsOn.FindStringSubmatch(entered.Body.String())
	if found == nil {
		t.Fatal(entered.Body)
	}
	r = httptest.NewRequest(http.MethodGet, found[1]+"/jobs", nil)
	r.Host = "localhost"
	r.Header.Set("Accept", "text/event-stream")
	for _, c := range (&http.Response{Header: entered.Header()}).Cookies() {
		r.AddCookie(c)
	}
	browser := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711}
	p.Handler().ServeHTTP(gone{httptest.NewRecorder(), browser}, r)
	return browser.String()
}

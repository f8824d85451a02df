package nats

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/transport/transporttest"
)

// byWSS has a federation's members connect by WebSocket.
func byWSS(c *Config) { c.TLS, _ = tlsKey(1); c.WSS = "127.0.0.1:0" }

func TestConformanceByWSS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	transporttest.Run(t, func(t *testing.T, n transporttest.Network) transporttest.Join {
		return newFederation(t, func(c *Config) {
			byWSS(c)
			c.AckWait, c.Share = n.AckWait, n.Share
		}).dial
	})
}

// Members by TCP and by WebSocket, and one in the server's process, reach each other; any path will do.
func TestBothPorts(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, byWSS)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	north := f.join("north") // by WebSocket
	south, err := Dial(ctx, f.server.URL(), "south", f.keys["south"], Options{TLS: f.pin()})
	if err != nil {
		t.Fatal(err)
	}
	server, err := Dial(ctx, "wss://"+f.server.WSS()+"/federations/hospitals", "server", f.keys["server"], Options{TLS: f.pin()})
	if err != nil {
		t.Fatal(err)
	}
	f.send(north, "south", "hello")
	f.send(south, "server", "hello")
	f.send(server, "north", "hello")
	for _, c := range []struct {
		from, want string
	}{{f.receive(south).From, "north"}, {f.receive(server).From, "south"}, {f.receive(north).From, "server"}} {
		if c.from != c.want {
			t.Errorf("a message comes from %q, want %q", c.from, c.want)
		}
	}
	if err := errors.Join(south.Close(), server.Close()); err != nil {
		t.Error(err)
	}
}

// Connections by WebSocket restore themselves when the server is back, and no message is lost.
func TestServerRestartsByWSS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, byWSS)
	north, south := f.join("north"), f.join("south")
	f.send(north, "south", "one")
	f.cfg.WSS = f.server.WSS()
	f.restart(100 * time.Millisecond)
	f.send(north, "south", "two")
	for _, want := range []string{"one", "two"} {
		if got := string(f.receive(south).Data); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Without a key there is no port for WebSocket, also on loopback, and no connection to one.
func TestNoWebSocketWithoutTLS(t *testing.T) {
	f := newFederation(t, nil)
	cfg := f.cfg
	cfg.WSS, cfg.Dir = "127.0.0.1:0", t.TempDir()
	if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "the port for WebSocket at 127.0.0.1:0 requires TLS") {
		t.Errorf("%v", err)
	}
	if _, err := Dial(t.Context(), "wss://127.0.0.1:1", "north", f.keys["north"], Options{}); err == nil || !strings.Contains(err.Error(), "requires TLS; set Options.TLS") {
		t.Errorf("%v", err)
	}
}

// A port that is taken is named, and nothing is written.
func TestPortForWebSocketIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was written
	_, public := newKey(t)
	cfg := Config{Dir: filepath.Join(t.TempDir(), "queues"), Members: []Member{{Name: "north", Key: public}}, WSS: l.Addr().String()}
	cfg.TLS, _ = tlsKey(1)
	var taken *PortTakenError
	if _, err := Start(t.Context(), cfg); !errors.As(err, &taken) || taken.Port != l.Addr().(*net.TCPAddr).Port {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(cfg.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the queues: %v", err)
	}
}

// Both ends say within 5 s what is wrong with a connection by WebSocket; the member keeps trying.
func TestWrongLinesByWSS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	_, pin := tlsKey(1)
	_, other := tlsKey(2)
	web := func(f *federation) string { return "wss://" + f.server.WSS() }
	for name, c := range map[string]struct {
		to                 func(*federation) string
		options            Options
		atMember, atServer string
	}{
		"another key":            {web, Options{TLS: other}, "has another TLS key than the roster says", "it knows another TLS key for this server"},
		"tls:// at wss":          {func(f *federation) string { return "tls://" + f.server.WSS() }, Options{TLS: pin}, "does not greet; if this is its port for WebSocket, write the address as wss://127.0.0.1", ""},
		"wss:// at tls":          {func(f *federation) string { return "wss://" + f.server.Addr() }, Options{TLS: pin}, "does not answer by WebSocket", "authentication error"},
		"no TLS at wss":          {func(f *federation) string { return "nats://" + f.server.WSS() }, Options{}, "sends no greeting, so it probably requires TLS", "it speaks no TLS"},
		"nothing listens":        {func(*federation) string { return "wss://127.0.0.1:1" }, Options{TLS: pin}, "connection refused", ""},
		"a name that is unknown": {func(*federation) string { return "wss://no-such-host.invalid" }, Options{TLS: pin}, "no-such-host.invalid", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var server, member notes
			f := newFederation(t, func(c *Config) { byWSS(c); c.Logger = server.logger() })
			c.options.Logger = member.logger()
			f.tries(c.to(f), "north", c.options)
			began := time.Now()
			member.await(t, c.atMember, soon)
			if c.atServer != "" {
				server.await(t, c.atServer, soon-time.Since(began))
			}
		})
	}
}

// The log of the server has the address of a caller with an unknown key, and not the gate's.
func TestUnknownKeyByWSS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var server notes
	f := newFederation(t, func(c *Config) { byWSS(c); c.Logger = server.logger() })
	stranger, _ := newKey(t)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if _, err := Dial(ctx, f.url(), "north", stranger, Options{TLS: f.pin()}); err == nil {
		t.Error("it connected")
	}
	server.await(t, "authentication error", time.Second)
	server.mu.Lock()
	defer server.mu.Unlock()
	f.server.gate.mu.Lock()
	defer f.server.gate.mu.Unlock()
	for seen, caller := range f.server.gate.callers {
		if text := server.text.String(); strings.Contains(text, seen) || !strings.Contains(text, caller) {
			t.Errorf("%s calls, seen as %s: %s", caller, seen, text)
		}
	}
}

// web sends a request to the port for WebSocket and returns the status of the answer, and the address
// from which it called.
func (f *federation) web(path string, header http.Header) (status int, from netip.AddrPort) {
	f.Helper()
	c, err := tls.Dial("tcp", f.server.WSS(), clientTLS(f.pin()))
	if err != nil {
		f.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // the server has closed it
	if err := c.SetDeadline(time.Now().Add(2 * handshakeLimit)); err != nil {
		f.Fatal(err)
	}
	r, err := http.NewRequestWithContext(f.Context(), http.MethodGet, "https://"+f.server.WSS()+path, nil)
	if err != nil {
		f.Fatal(err)
	}
	r.Header = header
	if err := r.Write(c); err != nil {
		f.Fatal(err)
	}
	from = c.LocalAddr().(*net.TCPAddr).AddrPort()
	answer, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil {
		return 0, from
	}
	if answer.StatusCode == http.StatusSwitchingProtocols { // a frame of 12 bytes without a login, and then the server's end
		_, err := io.WriteString(c, "\x82\x8c\x00\x00\x00\x00CONNECT {}\r\n")
		_, failed := io.Copy(io.Discard, c)
		f.Logf("the server ends the connection: %v, %v", err, failed)
	}
	_ = answer.Body.Close()
	return answer.StatusCode, from
}

func upgrade(more ...string) http.Header {
	h := http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// What a stranger asks of the port for WebSocket is refused, and the log names the address from which it
// calls, whatever address it claims.
func TestStrangersByWSS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var server notes
	f := newFederation(t, func(c *Config) { byWSS(c); c.Logger = server.logger() })
	for name, c := range map[string]struct {
		path   string
		header http.Header
		status int
		log    string
	}{
		"a browser":        {"/", http.Header{}, http.StatusBadRequest, "its request for WebSocket is not valid"},
		"MQTT":             {"/mqtt", upgrade(), http.StatusNotFound, "mqtt websocket endpoint not enabled"},
		"a leaf node":      {"/leafnode", upgrade(), http.StatusSwitchingProtocols, "Not configured to accept leaf node connections"},
		"a huge header":    {"/", upgrade("X-Junk", strings.Repeat("x", 2<<20)), http.StatusRequestHeaderFieldsTooLarge, ""},
		"a false address":  {"/", upgrade("X-Forwarded-For", "192.0.2.99"), http.StatusSwitchingProtocols, "authentication error"},
		"no valid version": {"/", upgrade("Sec-Websocket-Version", "12"), http.StatusBadRequest, "invalid version"},
	} {
		status, from := f.web(c.path, c.header)
		if status != c.status && (name != "a huge header" || status != 0) { // the server may close before it reads all
			t.Errorf("%s: status %d, want %d", name, status, c.status)
		}
		if c.log != "" {
			server.await(t, c.log, soon)
		}
		switch name {
		case "a browser", "no valid version":
			server.await(t, "address="+from.String(), time.Second)
		case "a false address":
			server.await(t, from.String()+" - wid:", time.Second)
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if text := server.text.String(); strings.Contains(text, "192.0.2.99") {
		t.Errorf("the log believes a caller: %s", text)
	}
}

// A stranger that asks again and again causes few lines.
func TestStrangersByWSSWriteLittleIntoTheLog(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	said := new(notes)
	f := newFederation(t, func(c *Config) { byWSS(c); c.Logger = said.logger() })
	for range 40 {
		f.web("/"+strings.Repeat("%41", 1000), http.Header{"Upgrade": {strings.Repeat("x", 4000)}})
		c, err := net.Dial("tcp", f.server.WSS())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	said.await(t, "turned a caller away", time.Second)
	said.bounded(t, 2)
}

// Strangers who open silent connections at the gate leave descriptors and members alone; one too many is
// told so; and when their time is over, members come in.
func TestStrangersAtTheGate(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const most = 1024
	lowerLimit(t, most)
	var log told
	f := newFederation(t, func(c *Config) { byWSS(c); c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	north := f.join("north")
	f.strangers(f.server.WSS(), most/6) // more than the gate accepts; the other ends are this process's, too
	f.eventually("a caller is told", func() bool {
		line, err := newCaller(Address{WebSocket: true}, Options{TLS: f.pin()}).Dial("tcp", f.server.WSS())
		if err == nil {
			return line.Close() != nil
		}
		return strings.Contains(err.Error(), "has reached its limit of connections")
	})
	f.server.gate.mu.Lock()
	if n := len(f.server.gate.open); n > most/4/3 {
		t.Errorf("%d connections are open", n)
	}
	f.server.gate.mu.Unlock()
	f.send(north, "south", "rows")
	began := time.Now()
	south := f.join("south")
	if waited := time.Since(began); waited > 3*handshakeLimit {
		t.Errorf("a member came in after %v", waited)
	}
	f.receive(south)
	if n := log.count("too many open files"); n > 0 {
		t.Errorf("%d times there was no descriptor left", n)
	}
	if n := log.count("the port for WebSocket has reached its limit of connections"); n == 0 || n > mostLines {
		t.Errorf("%d lines about callers above the limit", n)
	}
}

// A stranger that sends requests without end, which the NATS server answers without an upgrade, does not keep
// its place. A member keeps it.
func TestRequestsKeepNoPlaceAtTheGate(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, byWSS)
	north := f.join("north")
	held := make(chan time.Duration)
	requests := []string{"GET / HTTP/1.1", "OPTIONS * HTTP/1.1", "GET //elsewhere HTTP/1.1"}
	for _, line := range requests {
		go func() { held <- f.repeat(line+"\r\nHost: x\r\n\r\n", 2*upgradeLimit) }()
	}
	for range requests {
		if d := <-held; d > upgradeLimit+2*handshakeLimit {
			t.Errorf("a stranger has held its place for %v", d)
		}
	}
	f.server.gate.mu.Lock()
	for _, p := range f.server.gate.open {
		if !p.client {
			t.Errorf("a place is taken since %v", p.since)
		}
	}
	f.server.gate.mu.Unlock()
	f.send(north, "south", "rows")
	f.receive(f.join("south"))
}

// repeat sends a request every second on one connection, and returns the time until the server ends the
// connection, or most.
func (f *federation) repeat(request string, most time.Duration) time.Duration {
	began := time.Now()
	c, err := tls.Dial("tcp", f.server.WSS(), clientTLS(f.pin()))
	if err != nil {
		f.Error(err)
		return 0
	}
	defer c.Close() //nolint:errcheck // the server has closed it
	answers := bufio.NewReader(c)
	for ; time.Since(began) < most; time.Sleep(time.Second) {
		if _, err := io.WriteString(c, request); err != nil {
			break
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			break
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			break
		}
		_ = answer.Body.Close()
	}
	return time.Since(began)
}

// When one end closes, passOn first passes on what was sent, and then ends both directions within passRest.
func TestPassOnEnds(t *testing.T) {
	a, b := pipe(t)
	c, d := pipe(t)
	done := make(chan struct{})
	go func() { passOn(d, b); close(done) }()
	if _, err := io.WriteString(a, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	<-done
	if _, err := c.Read(got); !errors.Is(err, io.EOF) {
		t.Errorf("the receiver's end: %v", err)
	}
	began := time.Now()
	if _, err := d.Read(got); err == nil || time.Since(began) > 2*passRest { // the other direction
		t.Errorf("the other direction ended after %v with %v", time.Since(began), err)
	}
}

// pipe returns the two ends of a connection over loopback.
func pipe(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was written
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// An observer of a connection by WebSocket reads nothing: no name, no host, no path, no word of HTTP.
func TestOnlookerByWSSReadsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, byWSS)
	r := newRelay(t, f.server.WSS(), nil)
	f.callBy(r, fmt.Sprintf("wss://localhost:%d/hospitals", r.l.Addr().(*net.TCPAddr).Port))
	if told := r.tells("hospitals", "websocket", "upgrade", "http/1"); told != "" {
		t.Errorf("an onlooker reads %q", told)
	}
}

// A second process with a member's identity is refused by WebSocket, too. Its error names no address,
// because the server sees the gate's.
func TestTwinRefusedByWSS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, byWSS)
	f.join("south")
	_, err := f.dial("south")
	var twin *TwinError
	if !errors.As(err, &twin) || twin.Address.IsValid() || !strings.Contains(err.Error(), "from an unknown address") {
		t.Errorf("a second process got error %v", err)
	}
}

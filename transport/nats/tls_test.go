package nats

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// tlsKey returns the key pair of a number.
func tlsKey(number byte) (ed25519.PrivateKey, ed25519.PublicKey) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{number}, ed25519.SeedSize))
	return key, key.Public().(ed25519.PublicKey)
}

// notes is a log that tests read.
type notes struct {
	mu   sync.Mutex
	text strings.Builder
}

func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

func (n *notes) logger() *slog.Logger { return slog.New(slog.NewTextHandler(n, nil)) }

// await returns the time until a line holds text.
func (n *notes) await(t *testing.T, text string, limit time.Duration) {
	t.Helper()
	for began := time.Now(); time.Since(began) < limit; time.Sleep(5 * time.Millisecond) {
		n.mu.Lock()
		found := strings.Contains(n.text.String(), text)
		n.mu.Unlock()
		if found {
			return
		}
	}
	t.Errorf("after %v no line says %q:\n%s", limit, text, &n.text)
}

// secure is a federation with TLS; its server's log goes to the notes.
func secure(t *testing.T, said *notes, key ed25519.PrivateKey) *federation {
	return newFederation(t, func(c *Config) { c.TLS, c.Logger = key, said.logger() })
}

// tries dials in the background, and gives up when the test ends.
func (f *federation) tries(url, name string, o Options) {
	ctx, stop := context.WithCancel(f.Context())
	done := make(chan error, 1)
	go func() {
		c, err := Dial(ctx, url, name, f.keys[name], o)
		if err == nil {
			err = errors.Join(errors.New("it connected"), c.Close())
		}
		done <- err
	}()
	f.Cleanup(func() {
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			f.Errorf("a member that cannot connect: %v", err)
		}
	})
}

const soon = 5 * time.Second

func TestTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	key, pin := tlsKey(1)
	f := secure(t, new(notes), key)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	north, err := Dial(ctx, f.server.URL(), "north", f.keys["north"], Options{TLS: pin})
	if err != nil {
		t.Fatal(err)
	}
	f.send(north, "north", "hello")
	f.receive(north)
	if err := north.Close(); err != nil {
		t.Error(err)
	}
	inside, err := f.server.Dial(ctx, "south", f.keys["south"], Options{})
	if err != nil {
		t.Fatalf("the member in the server's process: %v", err)
	}
	if err := inside.Close(); err != nil {
		t.Error(err)
	}
}

// Both ends soon refuse a connection that differs from the roster, with a clear reason. The
// member keeps trying: nobody on the way can end it.
func TestOtherLinesAreRefusedAtBothEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	key, pin := tlsKey(1)
	_, other := tlsKey(2)
	for name, c := range map[string]struct {
		server             ed25519.PrivateKey
		member             ed25519.PublicKey
		atMember, atServer string
	}{
		"another key":          {key, other, "has another TLS key than the roster says", "it knows another TLS key for this server"},
		"a server without TLS": {nil, pin, "does not speak TLS, and the roster has a TLS key for it", "it may expect TLS, and this server's roster has no TLS key"},
		"a member without TLS": {key, nil, "sends no greeting, so it probably requires TLS", "it speaks no TLS; if it is a member"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var server, member notes
			f := secure(t, &server, c.server)
			f.tries(f.server.URL(), "north", Options{TLS: c.member, Logger: member.logger()})
			began := time.Now()
			member.await(t, c.atMember, soon)
			server.await(t, c.atServer, soon-time.Since(began))
			member.mu.Lock()
			defer member.mu.Unlock()
			if !strings.Contains(member.text.String(), "level=ERROR") {
				t.Errorf("no error: %s", &member.text)
			}
		})
	}
}

// Nothing leaves the machine without TLS, whatever the name.
func TestNoLineBeyondLoopbackWithoutTLS(t *testing.T) {
	f := newFederation(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for _, url := range []string{"nats://10.0.0.1:4222", "nats://host:4222", "tls://127.0.0.1:4222", "nats://[2001:db8::1]:4222", "nats://127.0.0.1.example:4222"} {
		if _, err := Dial(ctx, url, "north", f.keys["north"], Options{}); err == nil || !strings.Contains(err.Error(), "requires TLS; set Options.TLS") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, host := range []string{"0.0.0.0", "::", "10.0.0.1", "host"} {
		cfg := f.cfg
		cfg.Host, cfg.Dir = host, t.TempDir()
		if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "Config.TLS has no key") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]Address{
		"nats://127.0.0.1:4222":     {Host: "127.0.0.1", Port: "4222"},
		"tls://[::1]:1":             {Host: "::1", Port: "1", Secure: true},
		"nats://hub.example:1":      {Host: "hub.example", Port: "1"},
		"wss://hub.example":         {Host: "hub.example", Port: "443", Secure: true, WebSocket: true},
		"wss://hub.example:8443/a/": {Host: "hub.example", Port: "8443", Path: "/a/", Secure: true, WebSocket: true},
	} {
		if got, err := ParseAddress(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "127.0.0.1:4222", "ws://a:1", "nats://a", "nats://:4222", "nats://user@a:1", "nats://a:1/x", "nats://a:1?x",
		"nats://127.0.0.1:4222,nats://10.0.0.1:4222", "nats://a:1#x",
		"wss://", "wss://:443", "wss://a:443?x", "wss://user:secret@a", "wss://a/x%20y", "wss://a/x%0d%0aHost:b", "https://a:443",
	} {
		if got, err := ParseAddress(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// relay passes connections on to a server and records the bytes.
type relay struct {
	t    *testing.T
	l    net.Listener
	mu   sync.Mutex
	seen [2]bytes.Buffer // from members, from the server
	open []net.Conn
	runs sync.WaitGroup
}

// newRelay starts a relay. If meet is not nil and returns nil, it has acted in the server's place, and the
// relay passes nothing on.
func newRelay(t *testing.T, target string, meet func(member, server net.Conn) error) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{t: t, l: l}
	r.runs.Go(func() {
		for {
			member, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				t.Error(errors.Join(err, member.Close()))
				return
			}
			r.mu.Lock()
			r.open = append(r.open, member, server)
			r.mu.Unlock()
			r.runs.Go(func() {
				if meet == nil || meet(member, server) != nil {
					r.join(member, server)
				}
			})
		}
	})
	t.Cleanup(r.stop)
	return r
}

// url names the host: with TLS the name stays at the member.
func (r *relay) url() string {
	return fmt.Sprintf("nats://localhost:%d", r.l.Addr().(*net.TCPAddr).Port)
}

func (r *relay) stop() {
	_ = r.l.Close()
	r.mu.Lock()
	for _, c := range r.open {
		_ = c.Close() // its other end may have closed it
	}
	r.mu.Unlock()
	r.runs.Wait()
}

func (r *relay) join(member, server net.Conn) {
	r.runs.Go(func() { r.pass(0, member, server) })
	r.pass(1, server, member)
}

func (r *relay) pass(way int, from, to net.Conn) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		r.mu.Lock()
		r.seen[way].Write(b[:n])
		r.mu.Unlock()
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

// tells reports the first known word, or one of the further words, that an observer can read.
func (r *relay) tells(further ...string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, seen := range r.seen {
		text := strings.ToLower(seen.String())
		for _, word := range append(further, "mercer", "nats", "north", "south", "server_id", "version", "nkey", "go1.", "_inbox", "hello", "localhost") {
			if strings.Contains(text, word) {
				return word
			}
		}
	}
	return ""
}

func (r *relay) bytes() (up, down int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[0].Len(), r.seen[1].Len()
}

// callBy has north connect to a relay at url and send a message to itself. The relay must see it pass.
func (f *federation) callBy(r *relay, url string) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), soon)
	defer cancel()
	north, err := Dial(ctx, url, "north", f.keys["north"], Options{TLS: f.pin()})
	if err != nil {
		f.Fatal(err)
	}
	f.send(north, "north", "hello")
	f.receive(north)
	if err := north.Close(); err != nil {
		f.Error(err)
	}
	if up, down := r.bytes(); up < 500 || down < 500 {
		f.Fatalf("the onlooker saw %d and %d bytes", up, down)
	}
}

// An observer of the connection reads nothing with TLS, and everything except the bodies
// without.
func TestOnlookerOfTheLineReadsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	secret, _ := tlsKey(1)
	for name, key := range map[string]ed25519.PrivateKey{"with TLS": secret, "without": nil} {
		t.Run(name, func(t *testing.T) {
			f := secure(t, new(notes), key)
			r := newRelay(t, f.server.Addr(), nil)
			f.callBy(r, r.url())
			if told := r.tells(); (told == "") != (key != nil) {
				t.Errorf("an onlooker reads %q", told)
			}
		})
	}
}

// An attacker on the way, with its own key and TLS to both sides, is refused before the
// member sends a message; the member connects once the attacker is gone.
func TestManInTheMiddleWithHisOwnKey(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	key, pin := tlsKey(1)
	his, _ := tlsKey(3)
	var member, heard notes
	f := secure(t, new(notes), key)
	freed := make(chan struct{})
	cfg, err := serverTLS(his)
	if err != nil {
		t.Fatal(err)
	}
	r := newRelay(t, f.server.Addr(), func(member, server net.Conn) error {
		select {
		case <-freed:
			return errors.New("nothing to do")
		default:
		}
		_, _ = io.Copy(&heard, tls.Server(member, cfg)) // until the member has left
		_, _ = member.Close(), server.Close()
		return nil
	})
	go func() {
		member.await(t, "has another TLS key than the roster says", soon)
		close(freed)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 2*soon)
	defer cancel()
	north, err := Dial(ctx, r.url(), "north", f.keys["north"], Options{TLS: pin, Logger: member.logger()})
	if err != nil {
		t.Fatal(err)
	}
	f.send(north, "north", "hello")
	f.receive(north)
	if err := north.Close(); err != nil {
		t.Error(err)
	}
	if r.stop(); heard.text.Len() > 0 {
		t.Errorf("he read %q", &heard.text)
	}
}

// An attacker on the way who greets in clear, like a server without TLS, learns nothing.
func TestLineIsNotStrippedOfTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	key, pin := tlsKey(1)
	var member, said notes
	f := secure(t, new(notes), key)
	r := newRelay(t, f.server.Addr(), func(member, server net.Conn) error {
		_, _ = fmt.Fprint(member, "INFO {\"server_id\":\"X\",\"version\":\"2.15.2\",\"nonce\":\"abc\",\"max_payload\":1048576}\r\n")
		_ = member.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.Copy(&said, member)
		_, _ = member.Close(), server.Close()
		return nil
	})
	f.tries(r.url(), "north", Options{TLS: pin, Logger: member.logger()})
	member.await(t, "does not speak TLS, and the roster has a TLS key for it", soon)
	r.stop()
	if text := said.text.String(); strings.Contains(text, "CONNECT") || strings.Contains(text, "north") {
		t.Errorf("he heard %q", text)
	}
}

// Earlier versions of TLS show the certificate to all observers, and neither side accepts
// them, whatever the other side has.
func TestOnlyTLS13(t *testing.T) {
	key, pin := tlsKey(1)
	for name, older := range map[string]func(server, member *tls.Config){
		"server": func(server, _ *tls.Config) { server.MinVersion, server.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 },
		"member": func(_, member *tls.Config) { member.MinVersion, member.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 },
		"none":   func(_, _ *tls.Config) {},
	} {
		ours, err := serverTLS(key)
		if err != nil {
			t.Fatal(err)
		}
		member := clientTLS(pin)
		older(ours, member)
		a, b := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- errors.Join(tls.Server(a, ours).Handshake(), a.Close()) }()
		err = tls.Client(b, member).HandshakeContext(t.Context())
		if at := <-done; (err == nil && at == nil) != (name == "none") {
			t.Errorf("an older %s: %v at the member, %v at the server", name, err, at)
		}
		_ = b.Close() // the server has closed its end
	}
}

// What a party and a coordinator negotiate is what the page for security offices says.
func TestNegotiatedAsThePageSays(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "security-office.md"))
	if err != nil {
		t.Fatal(err)
	}
	f := newFederation(t, byWSS)
	for name, address := range map[string]string{"tls": f.server.Addr(), "wss": f.server.WSS()} {
		line, err := newCaller(Address{WebSocket: true}, Options{TLS: f.pin()}).Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		s := line.(*tls.Conn).ConnectionState()
		if err := line.Close(); err != nil {
			t.Error(err)
		}
		for what, value := range map[string]string{
			"version": tls.VersionName(s.Version), "key exchange": s.CurveID.String(), "cipher": tls.CipherSuiteName(s.CipherSuite),
			"server's key": s.PeerCertificates[0].PublicKeyAlgorithm.String(),
		} {
			row := regexp.MustCompile(`(?m)^\| ` + what + ` \| .*\b` + regexp.QuoteMeta(value) + `\b`)
			if !row.Match(page) {
				t.Errorf("%s: the page does not say %s %s", name, what, value)
			}
		}
		if s.ServerName != "" || s.NegotiatedProtocol != "" || s.DidResume {
			t.Errorf("%s: server name %q, protocol %q, resumed %t", name, s.ServerName, s.NegotiatedProtocol, s.DidResume)
		}
	}
}

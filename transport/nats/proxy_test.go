package nats

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/proxytest"
)

// through starts a proxy and returns it with its address for members.
func through(t testing.TB, p *proxytest.Proxy) *Proxy {
	t.Helper()
	if err := p.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	login := ""
	if p.Login != "" {
		login = p.Login + "@"
	}
	parsed, err := ParseProxy("http://" + login + p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Members connect by TCP and by WebSocket through a proxy with a login, which alone knows the server's
// name. TLS is from end to end: a proxy that passes bytes on to another server is found out.
func TestThroughAProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, byWSS)
	for _, c := range []struct{ url, target string }{
		{"tls://hub.example:4222", f.server.Addr()},
		{"wss://hub.example/x", f.server.WSS()},
	} {
		at, err := ParseAddress(c.url)
		if err != nil {
			t.Fatal(err)
		}
		p := &proxytest.Proxy{Login: "north:secret", Names: map[string]string{at.String(): c.target}}
		o := Options{TLS: f.pin(), Proxy: through(t, p)}
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		north, err := Dial(ctx, c.url, "north", f.keys["north"], o)
		if err != nil {
			t.Fatal(err)
		}
		f.send(north, "north", "hello")
		if err := f.receive(north).Ack(); err != nil {
			t.Error(err)
		}
		if err := north.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		if seen := p.Seen(); !slices.Equal(seen, []string{at.String()}) {
			t.Errorf("the proxy connected with %q", seen)
		}
		var member notes
		_, o.TLS = tlsKey(2)
		o.Logger = member.logger()
		f.tries(c.url, "south", o)
		member.await(t, "has another TLS key than the roster says", soon)
	}
}

// A proxy that opens no connection is named within 5 s with the reason and what to do, in the log and in
// the error of Dial; no password is in either.
func TestProxiesThatOpenNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	key, _ := newKey(t)
	_, pin := tlsKey(1)
	const login = "north:secret@"
	for name, c := range map[string]struct {
		login  string
		answer string // "" for a proxy that runs as address says
		proxy  string
		want   string
	}{
		"dead":          {login, "", "127.0.0.1:1", "cannot be reached (dial tcp 127.0.0.1:1: connect: connection refused); check its address and that it runs"},
		"silent":        {login, "silent", "", "does not answer within 4s; check its address and that it runs"},
		"no such name":  {login, "", "no-such-host.invalid:3128", "no address is found for the proxy no-such-host.invalid:3128; correct the name of the proxy"},
		"no login":      {"", "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n", "", "asks for a user and a password; write its address as http://USER:PASSWORD@HOST:PORT"},
		"wrong login":   {login, "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate, Basic realm=\"x\"\r\n\r\n", "", "refuses the user and password that it was given"},
		"another login": {login, "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n\r\n", "", "because it offers no Basic authentication"},
		"forbidden":     {login, "HTTP/1.0 403 secret\r\n\r\n<html>", "", "forbids connections to hub.example:443 (status 403); ask its operator to allow CONNECT to this address"},
		"no server":     {login, "HTTP/1.1 502 Bad\r\n\r\n", "", "does not reach hub.example:443 (status 502); check this address, and that the server runs"},
		"another":       {login, "HTTP/1.1 418 Teapot\r\n\r\n", "", "does not connect to hub.example:443 (status 418); ask its operator"},
		"informational": {login, "HTTP/1.1 100 Continue\r\n\r\n", "", "does not connect to hub.example:443 (status 100)"},
		"garbage":       {login, "SSH-2.0-secret\r\n", "", "is no HTTP proxy (its answer is not HTTP, or has more than 16 KiB); correct the address of the proxy"},
		"endless":       {login, "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Junk: secret\r\n", 2000), "", "has more than 16 KiB"},
		"hangs up":      {login, "\x00", "", "its answer is not HTTP"},
		"no TLS beyond": {login, "HTTP/1.1 200 OK\r\n\r\nhello", "", "does not speak TLS, and the roster has a TLS key for it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.answer != "" {
				c.proxy = answering(t, c.answer)
			}
			proxy, err := ParseProxy("http://" + c.login + c.proxy)
			if err != nil {
				t.Fatal(err)
			}
			var member notes
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			failed, began := make(chan error, 1), time.Now()
			go func() {
				_, err := Dial(ctx, "wss://hub.example", "north", key, Options{TLS: pin, Proxy: proxy, Logger: member.logger()})
				failed <- err
			}()
			member.await(t, c.want, soon)
			err = <-failed
			if late := time.Since(began); late > soon+time.Second {
				t.Errorf("Dial returns after %v", late)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Dial returns %v", err)
			}
			member.mu.Lock()
			defer member.mu.Unlock()
			if text := member.text.String(); strings.Contains(text, "secret") || strings.Contains(text, "bm9ydGg6c2VjcmV0") {
				t.Errorf("the log has a password, or the proxy's words: %s", text)
			}
		})
	}
}

// answering is a proxy that answers every request with a text and then waits; it is silent for the text
// "silent".
func answering(t *testing.T, text string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close() //nolint:errcheck // the member has closed it
				if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
					return
				}
				if text == "\x00" {
					return
				}
				if text != "silent" {
					_, _ = io.WriteString(c, text)
				}
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return l.Addr().String()
}

func TestParseProxy(t *testing.T) {
	for text, want := range map[string]Proxy{
		"http://proxy.example:3128":         {"proxy.example:3128", ""},
		"http://north:s%40cret@[::1]:80/":   {"[::1]:80", "north:s@cret"},
		"http://north@proxy.example:3128":   {"proxy.example:3128", "north:"},
		"http://D%5Cn:p%2Fw@127.0.0.1:3128": {"127.0.0.1:3128", `D\n:p/w`},
	} {
		got, err := ParseProxy(text)
		if err != nil || *got != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "proxy:3128", "http://secret", "http://u:secret@h", "https://u:secret@h:1", "socks5://u:secret@h:1", "http://u:sec ret@h:1",
		"http://u:secret@h:1/x", "http://u:secret@h:1?x", "http://u:secret@h:x", "http://u:secret%zz@h:1", "http://u:secret@:1",
	} {
		if got, err := ParseProxy(text); err == nil || strings.Contains(err.Error(), "sec") || !strings.Contains(err.Error(), "http://HOST:PORT") {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

// No format prints the password.
func TestProxyPrintsNoPassword(t *testing.T) {
	p, err := ParseProxy("http://north:secret@proxy.example:3128")
	if err != nil {
		t.Fatal(err)
	}
	var log notes
	log.logger().Info("x", "proxy", p, "options", Options{Proxy: p})
	for _, text := range []string{fmt.Sprint(p, *p), fmt.Sprintf("%v %+v %#v %s %q %d", p, p, p, p, p, p), fmt.Sprintf("%v %+v %#v %s %x", *p, *p, *p, *p, *p), log.text.String()} {
		if strings.Contains(text, "secret") || !strings.Contains(text, "proxy.example") {
			t.Errorf("%s", text)
		}
	}
}

// Whatever a proxy answers, the member reads a bounded part of it, and its error has no word of it and no
// password.
func FuzzProxyAnswer(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n", "SSH", "HTTP/1.1 000 \r\n\r\n"} {
		f.Add([]byte(s))
	}
	p, err := ParseProxy("http://north:passw0rd@proxy.example:3128")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		line := &scripted{Reader: bytes.NewReader(answer)}
		tunnel, err := p.tunnel(line, "hub.example:443")
		switch {
		case err != nil && strings.Contains(err.Error(), "passw0rd"):
			t.Errorf("%v", err)
		case err == nil:
			rest, err := io.ReadAll(tunnel)
			if err != nil || !bytes.HasSuffix(answer, rest) {
				t.Errorf("the tunnel begins with %q, %v", rest, err)
			}
		case line.read > maxProxyAnswer:
			t.Errorf("%d bytes were read", line.read)
		}
	})
}

// scripted is a connection on which the other end says what a reader holds.
type scripted struct {
	net.Conn
	io.Reader
	read int
}

func (s *scripted) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	s.read += n
	return n, err
}

func (*scripted) Write(b []byte) (int, error) { return len(b), nil }

package endpoint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/internal/base/request"
)

// port is a listener in a test's bubble, where time passes only while all wait.
type port struct {
	come   chan net.Conn
	closed chan struct{}
}

func (p port) Accept() (net.Conn, error) {
	select {
	case c := <-p.come:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p port) Close() error { close(p.closed); return nil }

func (port) Addr() net.Addr { return &net.TCPAddr{} }

// call opens a connection to the port.
func (p port) call() net.Conn {
	here, there := net.Pipe()
	p.come <- there
	return here
}

// bubble runs a handler within a bubble until the test ends.
func bubble(t *testing.T, h http.Handler) port {
	t.Helper()
	p := port{make(chan net.Conn), make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, p, h, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

// say writes to a connection.
func say(t *testing.T, c net.Conn, format string, a ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(c, format, a...); err != nil {
		t.Fatal(err)
	}
}

// hear reads an answer.
func hear(t *testing.T, c net.Conn) (status int, body string) {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// echo answers with the body, after some time in which the caller must not seem to have
// left.
func echo(t *testing.T, after time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		time.Sleep(after)
		if q.Context().Err() != nil {
			t.Error("the caller seems to have left")
		}
		b, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		Answer(w, b)
	})
}

// Attack: connections of strangers, each with a part of a body. Nobody waits for them, and
// each is cut off after the time for its length.
func TestAttackSlowSenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bubble(t, Timely(1000, echo(t, 20*time.Second)))
		began := time.Now()
		var slow []net.Conn
		for range 20 {
			c := p.call()
			say(t, c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx")
			slow = append(slow, c)
		}
		honest := p.call()
		say(t, honest, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		for _, c := range slow {
			if status, _ := hear(t, c); status != http.StatusRequestTimeout {
				t.Errorf("a slow sender is answered %d", status)
			}
		}
		if took := time.Since(began); took > request.BodyTime(1000)+time.Second {
			t.Errorf("slow senders were there for %v", took)
		}
		if status, body := hear(t, honest); status != http.StatusOK || body != "hello" {
			t.Errorf("beside slow senders: %d %q", status, body)
		}
	})
}

// The server does not wait for a refused body, and answers before it closes the connection.
func TestRefusedBodiesAreNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := bubble(t, Timely(10, echo(t, 0)))
		for length, want := range map[string]int{"Content-Length: 11": http.StatusRequestEntityTooLarge, "Transfer-Encoding: chunked": http.StatusLengthRequired} {
			began, c := time.Now(), p.call()
			say(t, c, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", length)
			if status, _ := hear(t, c); status != want {
				t.Errorf("%s is answered %d, want %d", length, status, want)
			}
			if _, err := c.Read(make([]byte, 1)); err == nil || time.Since(began) > time.Second {
				t.Errorf("%s: the connection is open after %v: %v", length, time.Since(began), err)
			}
		}
		c := p.call()
		say(t, c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Attack: a client requests a long answer and does not read it.
func TestAttackSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := make([]byte, 200<<10)
		written := make(chan time.Duration, 2)
		p := bubble(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path != "/long" {
				_, _ = io.WriteString(w, "short")
				return
			}
			began := time.Now()
			Answer(w, long)
			written <- time.Since(began)
		}))
		c := p.call()
		say(t, c, "GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
		if took, want := <-written, request.BodyTime(int64(len(long))); took != want {
			t.Errorf("a reader that does not read has %v, want %v", took, want)
		}
		// A client that reads gets the whole answer, and is not cut off later on the same
		// connection.
		c = p.call()
		for _, path := range []string{"/long", "/"} {
			say(t, c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
			status, body := hear(t, c)
			if want := map[string]int{"/long": len(long), "/": len("short")}[path]; status != http.StatusOK || len(body) != want {
				t.Errorf("%s: %d, %d bytes", path, status, len(body))
			}
			time.Sleep(time.Minute / 2)
		}
	})
}

// If the time of an answer cannot be bounded, as behind a wrapper that hides the
// connection, there is no bound.
func TestAnswerWithoutAClock(t *testing.T) {
	a := httptest.NewRecorder()
	if Answer(a, []byte("hello")); a.Code != http.StatusInternalServerError || strings.Contains(a.Body.String(), "hello") {
		t.Errorf("%d %q", a.Code, a.Body)
	}
}

// A trusted address keeps all its connections, and takes none of others.
func TestTrustedAddresses(t *testing.T) {
	s := newGuests(2, slog.New(slog.DiscardHandler))
	s.trusted = []netip.Prefix{netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("2001:db8::5/128")}
	var trusted []*pipe
	enter := func(format string, n int) (list []*pipe) {
		for i := range n {
			p := &pipe{from: fmt.Sprintf(format, 1000+i)}
			s.enter(t.Context(), p)
			list = append(list, p)
		}
		return list
	}
	for _, format := range []string{"192.0.2.7:%d", "[::ffff:192.0.2.7]:%d", "[2001:db8::5]:%d"} {
		trusted = append(trusted, enter(format, 5)...)
	}
	for _, format := range []string{"192.0.2.8:%d", "[2001:db8::6]:%d"} {
		if list := enter(format, 3); list[2].closed {
			t.Errorf("a new connection of %s is closed", format)
		}
	}
	for _, p := range trusted {
		if p.closed {
			t.Errorf("a connection from %s is closed", p.from)
		}
		s.stateChanged(p, http.StateClosed)
	}
	if s.strange != 2 || s.closed != 4 || len(s.open) != 2 {
		t.Errorf("%d strangers, %d closed, %d open", s.strange, s.closed, len(s.open))
	}
}

// Attack: strangers at many addresses open connections without end. A caller with one keeps
// it, as long as the addresses have fewer than one connection each.
func TestAttackManyAddresses(t *testing.T) {
	for name, format := range map[string]string{
		"addresses of version 4": "192.0.2.%d:443",
		"networks of version 6":  "[2001:db8:0:%d::1]:443",
	} {
		t.Run(name, func(t *testing.T) {
			const most, addresses = 128, 64
			s := newGuests(most, slog.New(slog.DiscardHandler))
			honest := &pipe{from: "198.51.100.1:443"}
			for i := range 50 * most {
				if i == 3*most {
					s.enter(t.Context(), honest)
				}
				s.enter(t.Context(), &pipe{from: fmt.Sprintf(format, i%addresses)})
			}
			if honest.closed || s.strange != most || len(s.strangers) != addresses+1 {
				t.Errorf("closed %v; %d connections from %d addresses", honest.closed, s.strange, len(s.strangers))
			}
		})
	}
}

package endpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"
)

// serving runs an endpoint that knows every caller with a name, and keeps few strangers.
func serving(t *testing.T, most int) (address string, open *guests) {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	open = newGuests(most, log)
	go func() {
		ended <- serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if name := q.Header.Get("Name"); name != "" {
				Admit(q, name)
			}
			_, _ = io.WriteString(w, "hello")
		}), open, log)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), open
}

// dial opens a connection, and sends something on it.
func dial(t *testing.T, address, said string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_, _ = io.WriteString(c, said) // the endpoint may have closed it already
	return c
}

// ask makes a request on a connection, and reports whether it was answered.
func ask(c net.Conn, name string) bool {
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nName: %s\r\n\r\n", name); err != nil {
		return false
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return false
	}
	b, err := io.ReadAll(r.Body)
	return err == nil && string(b) == "hello"
}

// closed reports whether the endpoint has closed a connection, after its answer.
func closed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	_, err := io.Copy(io.Discard, c)
	var late net.Error
	return !errors.As(err, &late) || !late.Timeout()
}

// Strangers who open many connections, and send nothing, half a header, half a body or a
// whole request, close each other's. A known caller keeps its connection, and a newcomer
// gets one.
func TestStrangersCloseTheirOwn(t *testing.T) {
	const most, many = 8, 100
	address, open := serving(t, most)
	known := dial(t, address, "")
	if !ask(known, "device-1") {
		t.Fatal("nobody is served")
	}
	sayings := []string{"", "GET / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"}
	var strangers []net.Conn
	for i := range many {
		strangers = append(strangers, dial(t, address, sayings[i%len(sayings)]))
		if !ask(known, "device-1") {
			t.Fatalf("somebody known has no connection after %d strangers", i+1)
		}
	}
	late := dial(t, address, "")
	if !ask(late, "device-2") || !ask(known, "device-1") {
		t.Error("who comes after strangers is not served")
	}
	for i, c := range strangers[:many-most] {
		if !closed(c) {
			t.Errorf("stranger %d keeps a connection", i)
		}
	}
	open.mu.Lock()
	defer open.mu.Unlock()
	if open.strange > most || len(open.known) != 2 || open.closed < many-most {
		t.Errorf("%d strangers and %d known are open, %d were closed", open.strange, len(open.known), open.closed)
	}
}

// A known caller keeps few connections by its name: the older ones are a stranger's again.
func TestANameHasFewConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	address, open := serving(t, 2)
	var own []net.Conn
	for range maxOfName + 3 {
		own = append(own, dial(t, address, ""))
		if !ask(own[len(own)-1], "device-1") {
			t.Fatal("a device is not served")
		}
	}
	for i, c := range own {
		if i == 0 != closed(c) {
			t.Errorf("connection %d of %d: closed %v", i, len(own), i > 0)
		}
	}
	open.mu.Lock()
	defer open.mu.Unlock()
	if len(open.open) != maxOfName+2 || open.known["device-1"].Len() != maxOfName {
		t.Errorf("%d connections are open, %d of the name", len(open.open), open.known["device-1"].Len())
	}
}

// pipe is a connection from an address.
type pipe struct {
	net.Conn
	from   string
	closed bool
}

func (p *pipe) RemoteAddr() net.Addr {
	at := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(p.from))
	return at
}

func (p *pipe) Close() error { p.closed = true; return nil }

// If there are too many strangers, the oldest connection of the address with most of them
// is closed: a network of version 6 counts as one address.
func TestTheLargestAddressGivesWay(t *testing.T) {
	for name, crowded := range map[string]func(i int) string{
		"one address":              func(i int) string { return fmt.Sprintf("192.0.2.1:%d", 1000+i) },
		"one network of version 6": func(i int) string { return fmt.Sprintf("[2001:db8::%d]:443", i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newGuests(5, slog.New(slog.DiscardHandler))
			var alone, many []*pipe
			for i := range 3 {
				alone = append(alone, &pipe{from: fmt.Sprintf("198.51.100.%d:443", i+1)})
				s.enter(t.Context(), alone[i])
			}
			for i := range 20 {
				many = append(many, &pipe{from: crowded(i)})
				s.enter(t.Context(), many[i])
			}
			for i, p := range alone {
				if p.closed {
					t.Errorf("address %d gave way to another", i)
				}
			}
			for i, p := range many {
				if p.closed != (i < 18) {
					t.Errorf("connection %d of 20: closed %v", i, p.closed)
				}
			}
			for _, p := range append(alone, many...) {
				s.stateChanged(p, http.StateClosed)
			}
			if len(s.open)+len(s.strangers)+s.strange != 0 {
				t.Errorf("%d connections, %d addresses and %d strangers are left of none", len(s.open), len(s.strangers), s.strange)
			}
		})
	}
}

// A request that did not come through Serve, and a closed connection, change nothing.
func TestAdmittingNobody(t *testing.T) {
	q, err := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	Admit(q, "device-1")
	s, p := newGuests(1, slog.New(slog.DiscardHandler)), &pipe{from: "192.0.2.1:1"}
	gone := s.enter(t.Context(), p)
	s.stateChanged(p, http.StateClosed)
	Admit(q.WithContext(gone), "device-1")
	if len(s.known)+len(s.strangers) != 0 {
		t.Error("a connection that is gone is known")
	}
}

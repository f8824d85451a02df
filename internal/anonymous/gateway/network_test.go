package gateway_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/mercer-fl/mercer/internal/attack/traffic"
)

// network holds connections within a test's bubble, where time passes only while all wait:
// however slow the machine is, nothing is late.
type network struct {
	t     *testing.T
	doors map[string]door
}

func newNetwork(t *testing.T) *network { return &network{t, map[string]door{}} }

// door accepts a server's connections. It is a [net.Listener].
type door struct {
	come   chan net.Conn
	closed chan struct{}
}

func (d door) Accept() (net.Conn, error) {
	select {
	case c := <-d.come:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d door) Close() error   { close(d.closed); return nil }
func (d door) Addr() net.Addr { return place("") }

// place is an address: a name.
type place string

func (place) Network() string  { return "bubble" }
func (p place) String() string { return string(p) }

// visit is a connection with the name of its owner.
type visit struct {
	net.Conn
	from place
}

func (v visit) RemoteAddr() net.Addr { return v.from }

// dial opens a connection to a server.
func (n *network) dial(from, to string) (net.Conn, error) {
	d, open := n.doors[to]
	if !open {
		return nil, fmt.Errorf("nobody is called %q", to)
	}
	here, there := net.Pipe()
	select {
	case d.come <- visit{there, place(from)}:
		return here, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// open opens a door until the test ends.
func (n *network) open(name string) door {
	d := door{make(chan net.Conn), make(chan struct{})}
	n.doors[name] = d
	return d
}

// serve runs a handler at http://name.
func (n *network) serve(name string, h http.Handler) {
	s := &http.Server{Handler: h}
	d := n.open(name)
	go s.Serve(d) //nolint:errcheck // ends when the server is closed
	n.t.Cleanup(func() { check(n.t, s.Close()) })
}

// tap records the requests to a server, which moves to another name.
func (n *network) tap(name string) *traffic.Tap {
	behind := name + " itself"
	n.doors[behind] = n.doors[name]
	t := traffic.NewTap(func() (net.Conn, error) { return n.dial("tap", behind) })
	d := n.open(name)
	go t.Serve(d)
	n.t.Cleanup(func() { check(n.t, d.Close()) })
	return t
}

// over sends a transport's requests through the network, under a name.
func (n *network) over(t *http.Transport, from string) *http.Transport {
	t.DialContext = func(_ context.Context, _, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return n.dial(from, host)
	}
	return t
}

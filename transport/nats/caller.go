package nats

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// caller opens the connections of a NATS client: through an HTTP proxy if it has one, and with TLS if it
// has the server's key. The client itself does no TLS.
type caller struct {
	at    Address
	key   ed25519.PublicKey // the server's key; empty for no TLS
	proxy *Proxy            // HTTP proxy; nil for none

	life   context.Context // context that ends with the member's connection
	hangUp func()          // ends life, and so a call that is under way

	mu   sync.Mutex
	last error // error of the last call, or nil
}

func newCaller(at Address, o Options) *caller {
	c := &caller{at: at, key: o.TLS, proxy: o.Proxy}
	c.life, c.hangUp = context.WithCancel(context.Background())
	return c
}

// callError marks the errors of a caller. The NATS client adds no mark to its own errors.
type callError struct{ error }

func (e callError) Unwrap() error { return e.error }

// proxiedLimit limits the time of a call through a proxy, TLS included. A proxy first looks the server up,
// and can ask another machine whether the caller is allowed to connect.
const proxiedLimit = 4 * time.Second

// SkipTLSHandshake tells the NATS client not to do a TLS handshake itself.
func (*caller) SkipTLSHandshake() bool { return true }

// Dial connects to an address and returns an error if the server there does not have the
// expected TLS. The caller keeps the error, because the NATS client replaces some errors by the
// statement that no server is available.
func (c *caller) Dial(_, address string) (net.Conn, error) {
	limit := handshakeLimit
	if c.proxy != nil {
		limit = proxiedLimit
	}
	ctx, cancel := context.WithTimeout(c.life, limit)
	defer cancel()
	line, err := c.dial(ctx, address)
	if err != nil {
		err = callError{err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = err
	return line, err
}

// lastError returns the error of the last call, or nil.
func (c *caller) lastError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *caller) dial(ctx context.Context, address string) (net.Conn, error) {
	line, err := c.reach(ctx, address)
	if err != nil {
		return nil, err
	}
	begun, err := c.begin(ctx, line)
	if err != nil {
		return nil, errors.Join(&LineError{address, len(c.key) > 0, err}, line.Close())
	}
	return begun, nil
}

// reach opens a connection to the server's port, without TLS.
func (c *caller) reach(ctx context.Context, address string) (net.Conn, error) {
	if c.proxy != nil {
		return c.proxy.connect(ctx, address)
	}
	line, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	var name *net.DNSError
	if errors.As(err, &name) {
		return nil, &NameError{Host: name.Name, Unknown: name.IsNotFound, Err: err}
	}
	return line, err
}

// begin waits until the server has shown that it has the expected TLS, and, at a port without WebSocket, until the
// server's greeting begins.
func (c *caller) begin(ctx context.Context, line net.Conn) (net.Conn, error) {
	if len(c.key) == 0 {
		return hear(ctx, line)
	}
	safe := tls.Client(line, clientTLS(c.key))
	// At a port for WebSocket, the NATS client speaks first.
	if err := safe.HandshakeContext(ctx); err != nil || c.at.WebSocket {
		return safe, err
	}
	heard, err := hear(ctx, safe)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoGreeting, err)
	}
	return heard, nil
}

// hear waits for the first byte of the greeting that a server without WebSocket sends at once. A server
// with TLS sends nothing before the member's handshake.
func hear(ctx context.Context, line net.Conn) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	if err := line.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	h := &heard{Conn: line, first: make([]byte, 1)}
	if _, err := line.Read(h.first); err != nil {
		return nil, err
	}
	return h, line.SetReadDeadline(time.Time{})
}

// heard is a connection of which some first bytes have been read already.
type heard struct {
	net.Conn
	first []byte
}

// Read first returns the bytes that have been read already. Afterwards it reads from the
// connection.
func (h *heard) Read(b []byte) (int, error) {
	if len(h.first) == 0 || len(b) == 0 {
		return h.Conn.Read(b)
	}
	n := copy(b, h.first)
	h.first = h.first[n:]
	return n, nil
}

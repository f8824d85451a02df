package nats

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// TLS comes before everything else on a connection. Otherwise the server's greeting would
// reveal program, version and machine, and a member's first message its name. A member trusts
// only the server's key, not an authority, a name or the dates of a certificate.

// handshakeLimit limits the time in which client and server find out whether both use TLS.
const handshakeLimit = 3 * time.Second

// errOtherKey reports that a server has proved another key than the expected one.
var errOtherKey = errors.New("the server does not have the expected TLS key")

// serverTLS returns the TLS settings of a server with the given key. Its certificate has no
// name and does not expire, because members compare only the key.
func serverTLS(key ed25519.PrivateKey) (*tls.Config, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("the TLS key has %d bytes; %d are required", len(key), ed25519.PrivateKeySize)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13, // earlier versions send the certificate in the clear
		Certificates:           []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		SessionTicketsDisabled: true,
	}, nil
}

// clientTLS returns the TLS settings of a member that knows the server's key. They contain no
// server name, so that nothing in the clear reveals which server the member calls.
func clientTLS(key ed25519.PublicKey) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // authority and name are not checked, because VerifyConnection compares the key
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errOtherKey
			}
			own, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
			if !ok || subtle.ConstantTimeCompare(own, key) != 1 {
				return errOtherKey
			}
			return nil
		},
	}
}

// caller opens the connections of a NATS client, with TLS if it has the server's key. The client
// does no TLS itself.
type caller struct{ key ed25519.PublicKey } // the server's key; empty for no TLS

// SkipTLSHandshake tells the NATS client not to do a TLS handshake itself.
func (caller) SkipTLSHandshake() bool { return true }

// Dial connects to an address and returns an error if the server there does not have the
// expected TLS.
func (c caller) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeLimit)
	defer cancel()
	line, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	secure := len(c.key) > 0
	begin := hear
	if secure {
		begin = c.greet
	}
	begun, err := begin(ctx, line)
	if err != nil {
		return nil, errors.Join(&LineError{address, secure, err}, line.Close())
	}
	return begun, nil
}

func (c caller) greet(ctx context.Context, line net.Conn) (net.Conn, error) {
	safe := tls.Client(line, clientTLS(c.key))
	return safe, safe.HandshakeContext(ctx)
}

// hear waits for the first byte that a server without TLS sends. Such a server sends a greeting at
// once. A server with TLS sends nothing before the member does.
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

// heard is a connection whose first byte has been read by the function hear.
type heard struct {
	net.Conn
	first []byte
}

// Read first returns the byte that the function hear has read. Afterwards it reads from the
// connection.
func (h *heard) Read(b []byte) (int, error) {
	if len(h.first) == 0 || len(b) == 0 {
		return h.Conn.Read(b)
	}
	n := copy(b, h.first)
	h.first = h.first[n:]
	return n, nil
}

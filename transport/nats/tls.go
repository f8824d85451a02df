package nats

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
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

package nats

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"
)

func TestTLS(t *testing.T) {
	cert, roots := certificate(t)
	f := newFederation(t, func(c *Config) { c.TLS = &tls.Config{Certificates: []tls.Certificate{cert}} })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	north, err := Dial(ctx, f.server.URL(), "north", f.keys["north"], Options{TLS: &tls.Config{RootCAs: roots}})
	if err != nil {
		t.Fatal(err)
	}
	f.send(north, "north", "hello")
	f.receive(north)
	if err := north.Close(); err != nil {
		t.Error(err)
	}
	brief, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Dial(brief, f.server.URL(), "north", f.keys["north"], Options{TLS: &tls.Config{RootCAs: x509.NewCertPool()}}); err == nil {
		t.Error("a member that trusts nobody connected")
	}
	inside, err := f.server.Dial(ctx, "south", f.keys["south"], Options{})
	if err != nil {
		t.Fatalf("the member in the server's process: %v", err)
	}
	if err := inside.Close(); err != nil {
		t.Error(err)
	}
}

func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, roots
}

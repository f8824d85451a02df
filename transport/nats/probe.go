package nats

import (
	"crypto/ed25519"
	"fmt"
)

// Probe connects to the server at url, checks its TLS key, and closes the connection, within a few
// seconds. It does not log in, so it disturbs no member that is connected. An empty key means no TLS.
func Probe(url string, key ed25519.PublicKey) error {
	at, err := ParseAddress(url)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	line, err := caller{key}.Dial("tcp", at.String())
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	return line.Close()
}

package nats

import "fmt"

// Probe connects to the server at url as a member with these options would, checks the server's TLS key if the
// options have one, and closes the connection, within a few seconds. It does not log in, so it disturbs no member
// that is connected.
func Probe(url string, o Options) error {
	at, err := ParseAddress(url)
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	call := newCaller(at, o)
	defer call.hangUp()
	line, err := call.Dial("tcp", at.String())
	if err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	return line.Close()
}

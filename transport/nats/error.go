package nats

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// PortTakenError reports that another program already listens on the server's port.
type PortTakenError struct {
	Host string
	Port int
	Err  error
}

func (e *PortTakenError) Error() string {
	return fmt.Sprintf("nats: another program uses port %d on %s; stop that program or choose another port", e.Port, e.Host)
}

func (e *PortTakenError) Unwrap() error { return e.Err }

// CredentialError reports that the server does not know the member's key.
type CredentialError struct {
	Member string
	Key    string // public nkey of the member
	Known  bool   // whether the server has accepted the key before, in the life of the connection
	Err    error
}

func (e *CredentialError) Error() string {
	if e.Known {
		return fmt.Sprintf("nats: the server does not accept the key %s of %q any more: its operator has removed the member from the roster, or has entered another key; ask the operator", e.Key, e.Member)
	}
	return fmt.Sprintf("nats: the server does not know the key %s of %q; ask its operator to add this key to the roster", e.Key, e.Member)
}

func (e *CredentialError) Unwrap() error { return e.Err }

// PermissionError reports that the server knows the member's key under another member's name.
type PermissionError struct {
	Member string
	Err    error
}

func (e *PermissionError) Error() string {
	return fmt.Sprintf("nats: this key is not allowed to act as %q; check that name and identity belong together: %v", e.Member, e.Err)
}

func (e *PermissionError) Unwrap() error { return e.Err }

// TwinError reports that another process is connected with the member's identity.
type TwinError struct {
	Member  string
	Address netip.Addr // address of the other process; zero if unknown
	Process int        // id of the other process on its machine
	Since   time.Time
}

func (e *TwinError) Error() string {
	from := "an unknown address"
	if e.Address.IsValid() {
		from = e.Address.String()
	}
	return fmt.Sprintf("nats: another process is connected with the identity of %q, from %s (process %d, since %s), and each would get a part of the messages; stop one of the two, and remove its folder if that is a copy or a restored backup",
		e.Member, from, e.Process, e.Since.UTC().Format(time.DateTime+" UTC"))
}

// NameError reports that no IP address is found for the name of the server's host.
type NameError struct {
	Host    string
	Unknown bool // whether a name server says that there is no such name; else the look-up failed
	Err     error
}

func (e *NameError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("nats: there is no host called %q; correct the server's address, or set a proxy if only a proxy knows the names of other networks", e.Host)
	}
	return fmt.Sprintf("nats: the name %q cannot be looked up (%v); check this machine's name server, or set a proxy if only a proxy knows the names of other networks", e.Host, e.Err)
}

func (e *NameError) Unwrap() error { return e.Err }

// LineError reports that the server at the address does not have the expected TLS key or protocol, or
// has TLS although the member knows no key. Another program might answer in the server's place. The member
// keeps trying, because otherwise anybody on the network path could stop the member.
type LineError struct {
	Address string
	TLS     bool // whether the member knows a TLS key of the server
	Err     error
}

var (
	// errNoGreeting reports that a server with the expected TLS key waits for the member to speak first.
	errNoGreeting = errors.New("the server sends no greeting")
	// errNoWebSocket reports that a server with the expected TLS key does not answer a request for WebSocket.
	errNoWebSocket = errors.New("the server does not speak WebSocket")
)

func (e *LineError) Error() string {
	const compare = "compare the roster's fingerprints with the server's operator"
	var plain tls.RecordHeaderError
	switch {
	case errors.As(e.Err, &plain) && string(plain.RecordHeader[:]) == crowded:
		return fmt.Sprintf("nats: the server at %s has reached its limit of connections, or another program answers there; if this persists, tell the server's operator", e.Address)
	case errors.Is(e.Err, errOtherKey):
		return fmt.Sprintf("nats: the server at %s has another TLS key than the roster says: another program answers there, or the roster is an old one; %s", e.Address, compare)
	case errors.As(e.Err, &plain):
		return fmt.Sprintf("nats: the server at %s does not speak TLS, and the roster has a TLS key for it: another program answers there, or the server's own roster is an old one; %s", e.Address, compare)
	case errors.Is(e.Err, errNoGreeting):
		return fmt.Sprintf("nats: the server at %s has the TLS key of the roster but does not greet; if this is its port for WebSocket, write the address as wss://%s", e.Address, e.Address)
	case errors.Is(e.Err, errNoWebSocket):
		return fmt.Sprintf("nats: the server at %s has the TLS key of the roster but does not answer by WebSocket (%v); if this is its port without WebSocket, write the address as tls://%s", e.Address, e.Err, e.Address)
	case e.TLS:
		return fmt.Sprintf("nats: TLS with the server at %s failed: %v; check that the coordinator is at this address", e.Address, e.Err)
	}
	return fmt.Sprintf("nats: the server at %s sends no greeting, so it probably requires TLS, but the roster has no TLS key for it: %v; join the roster that the coordinator has", e.Address, e.Err)
}

// crowded is the start of the text by which the server refuses too many connections. The server
// sends the text without TLS.
const crowded = "-ERR "

func (e *LineError) Unwrap() error { return e.Err }

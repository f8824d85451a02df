package nats

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// PortTakenError says that another program listens where the server should.
type PortTakenError struct {
	Host string
	Port int
	Err  error
}

func (e *PortTakenError) Error() string {
	return fmt.Sprintf("nats: port %d on %s is taken by another program; stop that one or choose another port", e.Port, e.Host)
}

func (e *PortTakenError) Unwrap() error { return e.Err }

// CredentialError says that the server does not know the key that a member
// presented.
type CredentialError struct {
	Member string
	Key    string // public nkey
	Err    error
}

func (e *CredentialError) Error() string {
	return fmt.Sprintf("nats: the server does not know the key %s of %q; have its operator put this key into the roster", e.Key, e.Member)
}

func (e *CredentialError) Unwrap() error { return e.Err }

// PermissionError says that the server knows the key, but does not let it do
// what a member of that name does: the key belongs to another member.
type PermissionError struct {
	Member string
	Err    error
}

func (e *PermissionError) Error() string {
	return fmt.Sprintf("nats: this key may not act as %q; check that name and identity belong together: %v", e.Member, e.Err)
}

func (e *PermissionError) Unwrap() error { return e.Err }

// TwinError says that another process is connected with the member's identity.
type TwinError struct {
	Member  string
	Address netip.Addr // of the other; zero if it does not know
	Process int        // the other's id on its machine
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

// LineError says that a server at the right address does not speak as the server of this
// member should: another may answer in its place. The member goes on trying, since
// anybody on the way could end it otherwise.
type LineError struct {
	Address string
	TLS     bool // the member knows a key for the server
	Err     error
}

func (e *LineError) Error() string {
	const compare = "compare the roster's fingerprints with the server's operator"
	var plain tls.RecordHeaderError
	switch {
	case errors.As(e.Err, &plain) && string(plain.RecordHeader[:]) == crowded:
		return fmt.Sprintf("nats: the server at %s has as many connections as it may, or another program answers there; if this lasts, tell the server's operator", e.Address)
	case errors.Is(e.Err, errOtherKey):
		return fmt.Sprintf("nats: the server at %s has another TLS key than the roster says: another program answers there, or the roster is an old one; %s", e.Address, compare)
	case errors.As(e.Err, &plain):
		return fmt.Sprintf("nats: the server at %s does not speak TLS, and the roster has a TLS key for it: another program answers there, or its roster is an old one; %s", e.Address, compare)
	case e.TLS:
		return fmt.Sprintf("nats: no TLS with the server at %s: %v; look whether the coordinator is at this address", e.Address, e.Err)
	}
	return fmt.Sprintf("nats: the server at %s says nothing, as one with TLS does, and the roster has no TLS key for it: %v; join the roster that the coordinator has", e.Address, e.Err)
}

// crowded begins what the server says in clear to one too many.
const crowded = "-ERR "

func (e *LineError) Unwrap() error { return e.Err }

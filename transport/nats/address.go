package nats

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"regexp"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
)

// Address is the address of a server's port.
type Address struct {
	Host, Port string
	Path       string // path of a WebSocket address; usually empty, because a server accepts any path
	Secure     bool   // whether the address itself requires TLS (tls:// and wss://)
	WebSocket  bool   // whether the port is the server's port for WebSocket (wss://)
}

// plainPath matches the paths that a WebSocket address can have.
var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]*)*$`)

// ParseAddress decodes an address nats://host:port, tls://host:port for a server that requires TLS, or
// wss://host:port/path for the server's port for WebSocket. The port of wss:// is 443 if it is missing,
// and the path is optional.
func ParseAddress(s string) (Address, error) {
	u, err := url.Parse(s)
	if err != nil {
		return Address{}, invalidAddress(s)
	}
	a := Address{Host: u.Hostname(), Port: u.Port(), Path: u.Path, Secure: u.Scheme != "nats", WebSocket: u.Scheme == "wss"}
	if a.WebSocket {
		a.Port = cmp.Or(a.Port, "443")
	}
	switch {
	case u.Scheme != "nats" && u.Scheme != "tls" && !a.WebSocket, a.Host == "", a.Port == "":
		return Address{}, invalidAddress(s)
	case u.User != nil, u.RawQuery != "", u.Fragment != "", a.Path != "" && !a.WebSocket:
		return Address{}, fmt.Errorf("address %q contains more than host and port; remove the text before the host or after the port", u.Redacted())
	case !plainPath.MatchString(a.Path):
		return Address{}, fmt.Errorf("the path of address %q contains other characters than letters, digits, and -._~/; remove the path, because a server accepts any path", s)
	}
	return a, nil
}

func invalidAddress(s string) error {
	return fmt.Errorf("address %q is not valid; write nats://host:port such as nats://127.0.0.1:4222, or wss://host:port", s)
}

// NeedsTLS reports whether a connection to the address requires TLS. TLS is required if the
// connection can leave this machine or if the address begins with tls:// or wss://.
func (a Address) NeedsTLS() bool { return a.Secure || !endpoint.Loopback(a.Host) }

func (a Address) String() string { return net.JoinHostPort(a.Host, a.Port) }

// forClient returns the address for a NATS client that does no TLS itself, because its caller does.
func (a Address) forClient() string {
	if a.WebSocket {
		return "ws://" + a.String() + a.Path
	}
	return "nats://" + a.String()
}

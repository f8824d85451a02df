package nats

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
)

// Address names a server's port.
type Address struct {
	Host, Port string
	Secure     bool // the address itself asks for TLS
}

// ParseAddress reads nats://host:port, or tls://host:port, which a server has only TLS
// behind.
func ParseAddress(s string) (Address, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.Port() == "" {
		return Address{}, fmt.Errorf("address %q: write nats://host:port such as nats://127.0.0.1:4222", s)
	}
	if u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return Address{}, fmt.Errorf("address %q: nothing stands before the host or behind the port", s)
	}
	return Address{u.Hostname(), u.Port(), u.Scheme == "tls"}, nil
}

// NeedsTLS reports whether the way to the server may lead out of this machine, or the
// address itself asks for TLS.
func (a Address) NeedsTLS() bool { return a.Secure || !Loopback(a.Host) }

func (a Address) String() string { return net.JoinHostPort(a.Host, a.Port) }

// Loopback reports whether nobody but this machine can reach a host. Of a name only
// localhost is known to be so.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

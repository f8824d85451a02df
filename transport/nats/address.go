package nats

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
)

// Address is the address of a server's port.
type Address struct {
	Host, Port string
	Secure     bool // whether the address itself requires TLS (tls://)
}

// ParseAddress decodes an address nats://host:port, or tls://host:port for a server that
// requires TLS.
func ParseAddress(s string) (Address, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.Port() == "" {
		return Address{}, fmt.Errorf("address %q is not valid; write nats://host:port such as nats://127.0.0.1:4222", s)
	}
	if u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return Address{}, fmt.Errorf("address %q contains more than host and port; remove the text before the host or after the port", s)
	}
	return Address{u.Hostname(), u.Port(), u.Scheme == "tls"}, nil
}

// NeedsTLS reports whether a connection to the address requires TLS. TLS is required if the
// connection may leave this machine or if the address begins with tls://.
func (a Address) NeedsTLS() bool { return a.Secure || !Loopback(a.Host) }

func (a Address) String() string { return net.JoinHostPort(a.Host, a.Port) }

// Loopback reports whether only this machine can reach a host. It is true for loopback
// addresses and the name localhost.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

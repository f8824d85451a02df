package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/transport/nats"
)

// The connection between parties and coordinator uses TLS if the roster lists a TLS key of the
// coordinator. Both ends have the same roster, so an attacker between them cannot downgrade the
// connection. Without the key, only connections within the machine are allowed.

// publicKeys returns this process's public keys. They include the TLS key if the member has one.
func publicKeys(id *identity.Identity, in roster.Member) identity.Public {
	if len(in.TLS) > 0 {
		return id.PublicTLS()
	}
	return id.Public()
}

// firstPublic returns the public keys of a new member. A party has no TLS key, and neither has a coordinator
// whose setting "listen" is an address of its own machine, unless it also listens for WebSocket.
func (c *Config) firstPublic(id *identity.Identity, role roster.Role) identity.Public {
	host, _, err := splitAddress(c.Listen)
	if role == roster.Party || c.ListenWSS == "" && c.Listen != "" && err == nil && endpoint.Loopback(host) {
		return id.Public()
	}
	return id.PublicTLS()
}

// AddTLSKey writes the TLS key of a coordinator into its member file.
func (h Home) AddTLSKey() (roster.Member, error) {
	id, err := h.identity()
	if err != nil {
		return roster.Member{}, err
	}
	m, err := roster.LoadMember(h.MemberPath())
	switch {
	case err != nil:
		return m, fault.BadInput(err)
	case m.Role != roster.Coordinator:
		return m, fault.BadInputf("%s is the home of a party, but only a coordinator has a TLS key; give the coordinator's home", h)
	case m.Fingerprint() != publicKeys(id, m).Fingerprint():
		return m, fault.BadInputf("the member file %s does not belong to the identity in %s; restore the original member file", h.MemberPath(), h)
	}
	m.Public, m.Succession = id.PublicTLS(), nil // a signature of an earlier identity was over the other keys
	b, err := roster.MarshalMember(m)
	if err != nil {
		return m, err
	}
	return m, disk.Replace(h.MemberPath(), b)
}

// splitAddress returns the host and the port of an address at which a coordinator listens; "" means the default.
func splitAddress(s string) (host string, port int, err error) {
	if s == "" {
		return "127.0.0.1", 4222, nil
	}
	host, p, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, fmt.Errorf("listen address %q is not valid; write host:port such as 127.0.0.1:4222", s)
	}
	host = cmp.Or(host, "127.0.0.1")
	port, err = strconv.Atoi(p)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("listen address %q is not valid; write a port from 0 to 65535", s)
	}
	return host, port, nil
}

// checkLine returns an error if a setting of the connection between party and coordinator is wrong.
func (c *Config) checkLine() error {
	if _, _, err := splitAddress(c.Listen); err != nil {
		return err
	}
	var at nats.Address
	if c.Coordinator != "" {
		var err error
		if at, err = nats.ParseAddress(c.Coordinator); err != nil {
			return fmt.Errorf(`the setting "coordinator": %w`, err)
		}
	}
	return cmp.Or(c.checkWSS(), c.checkProxy(at))
}

// checkWSS returns an error if the address for WebSocket is wrong.
func (c *Config) checkWSS() error {
	if c.ListenWSS == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(c.ListenWSS)
	number, failed := strconv.Atoi(port)
	switch {
	case c.Coordinator != "":
		return errors.New("the setting \"listen_wss\" is for coordinators; remove it")
	case err != nil, failed != nil, host == "", number < 0, number > 65535:
		return fmt.Errorf("the setting \"listen_wss\" is %q; write host:port such as 0.0.0.0:443", c.ListenWSS)
	case c.ListenWSS == c.Listen && number != 0:
		return fmt.Errorf("\"listen_wss\" and \"listen\" are both %q; give each its own port", c.Listen)
	}
	return nil
}

// noProxy is the setting with which a party ignores the proxy of its environment.
const noProxy = "none"

// checkProxy returns an error if the setting "proxy" is wrong, or does not fit the coordinator's address.
func (c *Config) checkProxy(at nats.Address) error {
	if c.Proxy == "" || c.Proxy == noProxy {
		return nil
	}
	if !at.Secure {
		return errors.New("the setting \"proxy\" is for parties whose \"coordinator\" begins with tls:// or wss://; change the coordinator's address, or remove the setting")
	}
	if _, err := nats.ParseProxy(c.Proxy); err != nil {
		return fmt.Errorf(`the setting "proxy" is wrong: %w; for no proxy write "proxy: none"`, err)
	}
	return nil
}

// proxy returns the proxy through which a party connects to the coordinator, and the name of the setting or the
// environment variable that has its address. Without a proxy it returns nil. The proxy of the environment is for
// addresses that begin with tls:// or wss://, and not for this machine.
func (c *Config) proxy(at nats.Address) (p *nats.Proxy, setting string, err error) {
	switch {
	case c.Proxy == noProxy:
		return nil, "", nil
	case c.Proxy != "":
		p, err := nats.ParseProxy(c.Proxy)
		return p, "proxy", err
	case !at.Secure:
		return nil, "", nil
	}
	const environment = "HTTPS_PROXY"
	found, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: at.String()}})
	if found == nil && err == nil {
		return nil, "", nil
	}
	if err == nil {
		p, err = nats.ParseProxy(found.String())
	}
	if err != nil { // its text may have a password
		return nil, "", fault.BadInputf("the environment variable %s has no address of a proxy that can be used; write http://HOST:PORT or http://USER:PASSWORD@HOST:PORT there, or \"proxy: none\" in config.yaml", environment)
	}
	return p, environment, nil
}

// mayListen refuses to listen where other machines can connect, or for WebSocket, unless the roster has
// a TLS key.
func (h Home) mayListen(host string, c *Config, members *roster.Roster) error {
	const add = "add the key with mercer federation tls --home %s, make a new roster with the new member.yaml, and have every member join the new roster and start again"
	switch {
	case len(members.Coordinator().TLS) > 0:
		return nil
	case !endpoint.Loopback(host):
		return fault.BadInputf("other machines can reach %s, but %s has no TLS key of this coordinator; "+add, host, h.RosterPath(), h)
	case c.ListenWSS != "":
		return fault.BadInputf("\"listen_wss\" requires TLS, but %s has no TLS key of this coordinator; "+add, h.RosterPath(), h)
	}
	return nil
}

// mayDial refuses to connect to a coordinator on another machine, or by tls:// or wss://, unless the roster has a TLS
// key.
func (h Home) mayDial(c *Config, members *roster.Roster) error {
	at, err := nats.ParseAddress(c.Coordinator)
	if err != nil {
		return fault.BadInput(err)
	}
	boss := members.Coordinator()
	if len(boss.TLS) > 0 || !at.NeedsTLS() {
		return nil
	}
	return fault.BadInputf("the connection to %s requires TLS, but %s has no TLS key of %s; ask the coordinator's operator to add the key with mercer federation tls, then join the new roster and start again",
		c.Coordinator, h.RosterPath(), boss.Name)
}

// Line returns a text that says whether the connections of the home's daemon use TLS. It returns an
// error if the configuration allows no connection.
func (h Home) Line(jobs *job.Reader) (string, error) {
	c, err := h.Config(jobs)
	if err != nil {
		return "not known without a configuration", nil //nolint:nilerr // the reader of the catalogue reports it
	}
	members, err := roster.Load(h.RosterPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "no roster yet", nil
	}
	if err != nil {
		return "", err
	}
	if c.Coordinator != "" {
		return h.lineOfParty(c, members)
	}
	host, _, err := splitAddress(c.Listen)
	if err == nil {
		err = h.mayListen(host, c, members)
	}
	return secrecy(members), err
}

// lineOfParty returns what Line returns for a party.
func (h Home) lineOfParty(c *Config, members *roster.Roster) (string, error) {
	at, err := nats.ParseAddress(c.Coordinator)
	if err == nil {
		err = h.mayDial(c, members)
	}
	if err != nil {
		return "", err
	}
	text := secrecy(members)
	if at.WebSocket {
		text += ", by WebSocket"
	}
	proxy, setting, err := c.proxy(at)
	if proxy != nil {
		text += fmt.Sprintf(", through the proxy %s (%s)", proxy, setting)
	}
	return text, err
}

// secrecy describes the TLS of a federation's connections.
func secrecy(members *roster.Roster) string {
	if len(members.Coordinator().TLS) > 0 {
		return fmt.Sprintf("TLS with the key of %s in the roster", members.Coordinator().Name)
	}
	return "on this machine only, without TLS"
}

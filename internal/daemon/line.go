package daemon

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/mercer-fl/mercer/internal/base/disk"
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

// firstPublic returns the public keys of a new member. A coordinator that listens only on its own
// machine needs no TLS key.
func (c *Config) firstPublic(id *identity.Identity, role roster.Role) identity.Public {
	host, _, err := splitAddress(c.Listen)
	if role == roster.Party || c.Listen != "" && err == nil && nats.Loopback(host) {
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
	m.Public = id.PublicTLS()
	b, err := roster.MarshalMember(m)
	if err != nil {
		return m, err
	}
	return m, disk.Replace(h.MemberPath(), b)
}

// mayListen refuses to listen where other machines can connect, unless the roster has a TLS key.
func (h Home) mayListen(host string, members *roster.Roster) error {
	if len(members.Coordinator().TLS) > 0 || nats.Loopback(host) {
		return nil
	}
	return fault.BadInputf("other machines can reach %s, but %s has no TLS key of this coordinator; add the key with mercer federation tls --home %s, make a new roster with the new member.yaml, and have every member join the new roster and start again",
		host, h.RosterPath(), h)
}

// mayDial refuses to connect to a coordinator on another machine, unless the roster has a TLS key.
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
		err = h.mayDial(c, members)
	} else {
		var host string
		if host, _, err = splitAddress(c.Listen); err == nil {
			err = h.mayListen(host, members)
		}
	}
	if err != nil {
		return "", err
	}
	if len(members.Coordinator().TLS) > 0 {
		return fmt.Sprintf("TLS with the key of %s in the roster", members.Coordinator().Name), nil
	}
	return "on this machine only, without TLS", nil
}

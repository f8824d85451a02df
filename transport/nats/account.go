package nats

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mercer-fl/mercer/transport"
)

const hubName = "HUB" // the account that owns the streams

// What one member may have the server hold in memory, which is the coordinator's
// too. A member needs one connection, and another while the server has yet to miss
// the first.
const (
	maxConnections   = 4
	maxSubscriptions = 32       // of a connection
	maxPending       = 16 << 20 // bytes that wait to be written to a connection
)

// isolate gives a member a login to its own account. The account gets from the hub
// what the member needs and nothing more (see the package comment); the login's
// permissions, within that account, make a wrong name fail loudly instead of
// speaking into an empty room.
func (c Config) isolate(hub, own *server.Account, m Member) (*server.NkeyUser, error) {
	var says []string
	for _, lane := range transport.Lanes() {
		says = append(says, subject(lane, m.Name, c.speaks(lane, m.Name)), askSubject(lane, m.Name, ">"),
			resetSubject(lane, m.Name), ackPrefix(lane, m.Name)+">")
	}
	hears := boxSubject(m.Name, ">")
	for _, s := range says {
		if err := lendService(hub, own, s, landing(s)); err != nil {
			return nil, fmt.Errorf("account of %q: %w", m.Name, err)
		}
	}
	if err := lendStream(hub, own, hears); err != nil {
		return nil, fmt.Errorf("account of %q: %w", m.Name, err)
	}
	// What never leaves the account: processes with one identity hear each other.
	twin := twinSubject(m.Name)
	login := &server.NkeyUser{Nkey: m.Key, Account: own, Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: append(says, twin)},
		Subscribe: &server.SubjectPermission{Allow: []string{hears, twin, replyPrefix(m.Name) + ".>"}},
	}}
	return login, nil
}

func resetSubject(lane transport.Lane, member string) string {
	return "$JS.API.CONSUMER.RESET." + stream(lane) + "." + member
}

// speaks returns the receivers that a member may send to in a lane, * for everybody.
// Daemons take control messages from the center only, and the center from them.
func (c Config) speaks(lane transport.Lane, from string) (to string) {
	if lane == transport.Bulk || c.Center == "" || c.Center == from {
		return "*"
	}
	return c.Center
}

// lendService makes a service of the hub available in one account only, under a name of its own
// there, and has its one answer go there.
func lendService(hub, to *server.Account, subject, inHub string) error {
	if err := hub.AddServiceExport(inHub, []*server.Account{to}); err != nil {
		return fmt.Errorf("export %s: %w", inHub, err)
	}
	if err := to.AddServiceImport(hub, subject, inHub); err != nil {
		return fmt.Errorf("import %s: %w", subject, err)
	}
	return nil
}

// lendStream lets one account only hear what the hub says on a subject.
func lendStream(hub, to *server.Account, subject string) error {
	if err := hub.AddStreamExport(subject, []*server.Account{to}); err != nil {
		return fmt.Errorf("export %s: %w", subject, err)
	}
	if err := to.AddStreamImport(hub, subject, ""); err != nil {
		return fmt.Errorf("import %s: %w", subject, err)
	}
	return nil
}

package nats

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/descriptor"
	"github.com/mercer-fl/mercer/transport"
)

// Member is a member that may connect.
type Member struct {
	Name string // lower-case letters, digits and hyphens
	Key  string // public user nkey, U and 55 more characters
}

// Config holds the settings of a server. Zero values mean the defaults.
type Config struct {
	Host    string // to listen on; default 127.0.0.1, this machine only
	Port    int    // 0 takes any free one, see Server.Addr
	Dir     string // holds the queues; required, created when missing
	Members []Member
	Center  string // the one member that sends and receives messages in the control lane; "": every member may

	AckWait  time.Duration // a delivery not settled by then is repeated; default 30 s
	Share    int           // messages that a member may have in a queue of another; default 2 to 256, see share
	MaxAge   time.Duration // older messages are removed; default 7 days
	MaxBytes int64         // of all queues together, beyond which senders wait; default 8 GiB; the control lane has a quarter more

	TLS    ed25519.PrivateKey // TLS key; nil: no TLS, on this machine only
	Logger *slog.Logger       // nil: silent
}

// MaxMembers bounds the accounts that one server keeps.
const MaxMembers = 4096

func (c Config) withDefaults() Config {
	c.Host = cmp.Or(c.Host, "127.0.0.1")
	c.AckWait = cmp.Or(c.AckWait, 30*time.Second)
	c.MaxAge = cmp.Or(c.MaxAge, 7*24*time.Hour)
	c.MaxBytes = cmp.Or(c.MaxBytes, 8<<30)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// share returns the number of messages that a member may have in a queue of another. By
// default the longest messages of one member to all others take no more than a quarter of
// all room, but every member has a share of at least two messages.
func (c Config) share(lane transport.Lane) int {
	const fewest, most, words = 2, 256, 64
	switch {
	case c.Share > 0:
		return c.Share
	case lane == transport.Control:
		return words
	}
	room := c.MaxBytes / 4 / transport.MaxMessageBytes / int64(max(1, len(c.Members)-1))
	return int(min(max(room, fewest), most))
}

// room returns the bytes that the queues of a lane may take.
func (c Config) room(lane transport.Lane) int64 {
	if lane == transport.Control {
		return max(1, c.MaxBytes/4)
	}
	return c.MaxBytes
}

// outside returns the number of connections that may be open through the port. Strangers
// take some of them until their time to log in is over. Each member has room for one, and
// for another while the server has not noticed yet that the first is lost.
func (c Config) outside() int {
	const many = 2048
	return max(min(many, descriptor.Strangers()), 2*len(c.Members))
}

// connections returns the number of all connections. The steward, each member's ferry and
// the members in this process have their own, which take no file.
func (c Config) connections() int { return c.outside() + 1 + 2*len(c.Members) }

func (c Config) validate() error {
	switch {
	case c.Dir == "":
		return errors.New("nats: Dir is missing; name a folder for the queues")
	case c.TLS == nil && !Loopback(c.Host):
		return fmt.Errorf("nats: other machines reach %s, and Config.TLS has no key; give one, or listen on 127.0.0.1", c.Host)
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("nats: port %d; use 0 to 65535", c.Port)
	case c.AckWait < 0 || c.Share < 0 || c.MaxAge < 0 || c.MaxBytes < 0:
		return errors.New("nats: a limit is negative; use 0 for the default")
	case len(c.Members) == 0 || len(c.Members) > MaxMembers:
		return fmt.Errorf("nats: %d members; use 1 to %d", len(c.Members), MaxMembers)
	}
	holder := make(map[string]string, 2*len(c.Members)) // of a name or a key
	for _, m := range c.Members {
		if err := m.validate(); err != nil {
			return fmt.Errorf("nats: %w", err)
		}
		if _, taken := holder[m.Name]; taken {
			return fmt.Errorf("nats: two members are called %q; give each its own name", m.Name)
		}
		if other, taken := holder[m.Key]; taken {
			return fmt.Errorf("nats: %q and %q have the same key; every process needs its own identity", other, m.Name)
		}
		holder[m.Name], holder[m.Key] = m.Name, m.Name
	}
	if c.Center != "" && holder[c.Center] != c.Center {
		return fmt.Errorf("nats: Center %q is no member", c.Center)
	}
	return nil
}

func (m Member) validate() error {
	if err := checkName(m.Name); err != nil {
		return err
	}
	if !nkeys.IsValidPublicUserKey(m.Key) {
		return fmt.Errorf("%q is no public user nkey, which %q needs to log in", m.Key, m.Name)
	}
	return nil
}

const hubName = "HUB" // the account that owns the streams

// What one member may have the server hold in memory, which is also the coordinator's
// memory. A member needs one connection, and another while the server has not noticed yet
// that the first is lost.
const (
	maxConnections   = 4
	maxSubscriptions = 32       // of a connection
	maxPending       = 16 << 20 // bytes that wait to be written to a connection
)

// isolate gives a member a login to its own account. The hub exports to the account only
// the services that the member needs (see the package comment). The login's permissions,
// within that account, make a wrong subject fail visibly instead of going nowhere.
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
	// These subjects never leave the account: processes with one identity use them to find
	// each other.
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

// speaks returns the receivers to which a member may send in a lane; * stands for all.
// Daemons accept control messages from the center only, and the center from them.
func (c Config) speaks(lane transport.Lane, from string) (to string) {
	if lane == transport.Bulk || c.Center == "" || c.Center == from {
		return "*"
	}
	return c.Center
}

// lendService exports a service of the hub to one account only, under the account's own
// name for it, and sends its one answer there.
func lendService(hub, to *server.Account, subject, inHub string) error {
	if err := hub.AddServiceExport(inHub, []*server.Account{to}); err != nil {
		return fmt.Errorf("export %s: %w", inHub, err)
	}
	if err := to.AddServiceImport(hub, subject, inHub); err != nil {
		return fmt.Errorf("import %s: %w", subject, err)
	}
	return nil
}

// lendStream exports a subject of the hub to one account only.
func lendStream(hub, to *server.Account, subject string) error {
	if err := hub.AddStreamExport(subject, []*server.Account{to}); err != nil {
		return fmt.Errorf("export %s: %w", subject, err)
	}
	if err := to.AddStreamImport(hub, subject, ""); err != nil {
		return fmt.Errorf("import %s: %w", subject, err)
	}
	return nil
}

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
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/transport"
)

// Member describes a member, or a guest, that is allowed to connect to the server.
type Member struct {
	Name string // name of lower-case letters, digits and hyphens
	Key  string // public user nkey: U and 55 more characters
}

// Config holds the settings of a server. Zero values mean the defaults.
type Config struct {
	Host    string // host on which the server listens; default 127.0.0.1, which only this machine reaches
	Port    int    // port on which the server listens; 0 means any free port, see Server.Addr
	WSS     string // host:port on which the server also listens for WebSocket over TLS; "" means not; requires TLS
	Dir     string // folder for the queues; required; created if it does not exist
	Members []Member
	Guests  []Member // strangers that can send requests to AnswerGuest; a guest can have the name of a member
	Center  string   // only member that exchanges control messages with the others; "" lets all members do so

	AckWait time.Duration // time after which an unsettled delivery is repeated; default 30 s
	Share   int           // most messages of a member in another member's queue; default 2 to 256, or 64 in lane Control
	MaxAge  time.Duration // age at which messages are removed; default 7 days
	// MaxBytes limits the size of all bulk queues together; 0 means 8 GiB. Senders wait at the
	// limit. The control queues can take another quarter of MaxBytes in addition.
	MaxBytes int64

	// AnswerGuest answers the requests of guests. It is called for one request at a time. A guest whose requests
	// come too fast gets no answer to some of them. The function is required if there are guests.
	AnswerGuest func(guest string, request []byte) []byte

	// keepShares prevents that shares become smaller, as they would with more members. A smaller share could
	// delete messages that are sent while the members change.
	keepShares bool

	TLS    ed25519.PrivateKey // the server's TLS key; nil means no TLS, which is allowed only on this machine
	Logger *slog.Logger       // receives log messages; nil discards them
}

// MaxMembers is the largest number of members of one server.
const MaxMembers = 4096

func (c Config) withDefaults() Config {
	c.Host = cmp.Or(c.Host, "127.0.0.1")
	c.AckWait = cmp.Or(c.AckWait, 30*time.Second)
	c.MaxAge = cmp.Or(c.MaxAge, 7*24*time.Hour)
	c.MaxBytes = cmp.Or(c.MaxBytes, 8<<30)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// share returns the largest number of messages that a member can have in another member's queue of a
// lane. In lane Control the default is 64. In lane Bulk, by default, the longest messages of one member to
// all others take no more than a quarter of MaxBytes, but every member has a share of at least two messages.
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

// maxQueueBytes returns the largest size in bytes of all queues of a lane together.
func (c Config) maxQueueBytes(lane transport.Lane) int64 {
	if lane == transport.Control {
		return max(1, c.MaxBytes/4)
	}
	return c.MaxBytes
}

// portConnections returns the number of connections for which the server's port always has room.
// Programs that have not logged in take some of them for a short time. Each member or guest has room for one
// connection, and for another while the server has not noticed yet that the first is lost.
func (c Config) portConnections() int { return c.connectionsOf(1) }

// connectionsOf returns the largest number of connections that a port accepts if each needs the given
// number of descriptors.
func (c Config) connectionsOf(files int) int {
	const many = 2048
	return max(min(many, descriptor.Strangers()/files), 2*(len(c.Members)+len(c.Guests)))
}

// maxConnections returns the largest total number of connections, including connections within this
// process. The steward, each member's ferry and the members in this process have connections that
// need no file descriptor.
func (c Config) maxConnections() int { return c.portConnections() + 1 + 2*len(c.Members) }

func (c Config) validate() error {
	switch {
	case c.Dir == "":
		return errors.New("nats: Config.Dir is empty; set it to a folder for the queues")
	case c.TLS == nil && !endpoint.Loopback(c.Host):
		return fmt.Errorf("nats: other machines can reach %s, but Config.TLS has no key; set a key or listen on 127.0.0.1", c.Host)
	case c.TLS == nil && c.WSS != "":
		return fmt.Errorf("nats: the port for WebSocket at %s requires TLS, but Config.TLS has no key; set a key", c.WSS)
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("nats: port %d is not valid; use 0 to 65535", c.Port)
	case c.AckWait < 0 || c.Share < 0 || c.MaxAge < 0 || c.MaxBytes < 0:
		return errors.New("nats: one of Config.AckWait, Share, MaxAge and MaxBytes is negative; use 0 for the default")
	case len(c.Members) == 0 || len(c.Members) > MaxMembers:
		return fmt.Errorf("nats: the configuration has %d members; use 1 to %d", len(c.Members), MaxMembers)
	}
	holder := make(map[string]string, 2*len(c.Members)) // maps each name and each key to the name of the member that has it
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
	if err := c.validateGuests(holder); err != nil {
		return err
	}
	if c.Center != "" && holder[c.Center] != c.Center {
		return fmt.Errorf("nats: Config.Center is %q, which is not a member", c.Center)
	}
	return nil
}

// validateGuests returns an error for the first guest that is not valid. holder maps each member's key to the
// member's name; validateGuests adds the guests' keys.
func (c Config) validateGuests(holder map[string]string) error {
	switch {
	case len(c.Guests) > MaxMembers:
		return fmt.Errorf("nats: the configuration has %d guests; at most %d are allowed", len(c.Guests), MaxMembers)
	case len(c.Guests) > 0 && c.AnswerGuest == nil:
		return errors.New("nats: the configuration has guests, but Config.AnswerGuest is nil; set it to a function that answers guests")
	}
	names := make(map[string]bool)
	for _, g := range c.Guests {
		if err := g.validate(); err != nil {
			return fmt.Errorf("nats: %w", err)
		}
		if names[g.Name] {
			return fmt.Errorf("nats: two guests are called %q; give each its own name", g.Name)
		}
		if other, taken := holder[g.Key]; taken {
			return fmt.Errorf("nats: the guest %q has the same key as %q; give each its own key", g.Name, other)
		}
		holder[g.Key], names[g.Name] = g.Name, true
	}
	return nil
}

func (m Member) validate() error {
	if err := checkName(m.Name); err != nil {
		return err
	}
	if !nkeys.IsValidPublicUserKey(m.Key) {
		return fmt.Errorf("%q is not a public user nkey; %q requires one to log in", m.Key, m.Name)
	}
	return nil
}

const hubName = "HUB" // name of the account that owns the streams

// These limits bound the memory that one member can occupy in the coordinator's process, where the
// server runs. A member needs one connection, and another while the server has not noticed yet that
// the first is lost.
const (
	maxConnections   = 4
	maxSubscriptions = 32       // subscriptions of a connection
	maxPending       = 16 << 20 // most bytes that can wait to be written to a connection
)

// isolate returns a login by which a member uses its own account. The hub exports to the account
// only the services that the member needs (see the package comment). The login's permissions,
// within that account, make a message to a wrong subject fail visibly. Without them the message
// would be lost silently.
func (c Config) isolate(hub, own *server.Account, m Member) (*server.NkeyUser, error) {
	var says []string
	for _, lane := range transport.Lanes() {
		says = append(says, subject(lane, m.Name, c.receiverFor(lane, m.Name)), askSubject(lane, m.Name, ">"),
			resetSubject(lane, m.Name), ackPrefix(lane, m.Name)+">")
	}
	hears := boxSubject(m.Name, ">")
	for _, s := range says {
		if err := lendService(hub, own, s, hubSubject(s)); err != nil {
			return nil, fmt.Errorf("cannot set up the account of %q: %w", m.Name, err)
		}
	}
	if err := lendStream(hub, own, hears); err != nil {
		return nil, fmt.Errorf("cannot set up the account of %q: %w", m.Name, err)
	}
	// Processes with one identity find each other by this subject, which never leaves the
	// account.
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

// receiverFor returns the only receiver of a member's messages in a lane, or "*" if the member is
// allowed to send to all members. Daemons accept control messages only from the center. The center
// accepts control messages from all members.
func (c Config) receiverFor(lane transport.Lane, from string) (to string) {
	if lane == transport.Bulk || c.Center == "" || c.Center == from {
		return "*"
	}
	return c.Center
}

// lendService exports a service of the hub to one account, under the account's own subject. The
// service's single answer goes to that account.
func lendService(hub, to *server.Account, subject, inHub string) error {
	if err := hub.AddServiceExport(inHub, []*server.Account{to}); err != nil {
		return fmt.Errorf("cannot export %s: %w", inHub, err)
	}
	if err := to.AddServiceImport(hub, subject, inHub); err != nil {
		return fmt.Errorf("cannot import %s: %w", subject, err)
	}
	return nil
}

// lendStream exports the messages of one subject of the hub to one account.
func lendStream(hub, to *server.Account, subject string) error {
	if err := hub.AddStreamExport(subject, []*server.Account{to}); err != nil {
		return fmt.Errorf("cannot export %s: %w", subject, err)
	}
	if err := to.AddStreamImport(hub, subject, ""); err != nil {
		return fmt.Errorf("cannot import %s: %w", subject, err)
	}
	return nil
}

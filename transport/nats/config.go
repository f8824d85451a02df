package nats

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nkeys"
)

// Member is one who may connect.
type Member struct {
	Name string // lower-case letters, digits and hyphens
	Key  string // public user nkey, U and 55 more characters
}

// Config says how to run a server. Zero values mean the defaults.
type Config struct {
	Host    string // to listen on; default 127.0.0.1, this machine only
	Port    int    // 0 takes any free one, see Server.Addr
	Dir     string // holds the queues; required, created when missing
	Members []Member

	AckWait      time.Duration // a delivery not settled by then is repeated; default 30 s
	MaxUnsettled int           // deliveries a member may hold unsettled, put back ones included; default 256
	MaxAge       time.Duration // older messages are gone; default 7 days
	MaxBytes     int64         // of all queues together, beyond which senders wait; default 8 GiB

	TLS    *tls.Config  // nil: none; payloads are sealed in any case
	Logger *slog.Logger // nil: silent
}

// MaxMembers bounds the accounts that one server keeps.
const MaxMembers = 4096

func (c Config) withDefaults() Config {
	c.Host = cmp.Or(c.Host, "127.0.0.1")
	c.AckWait = cmp.Or(c.AckWait, 30*time.Second)
	c.MaxUnsettled = cmp.Or(c.MaxUnsettled, 256)
	c.MaxAge = cmp.Or(c.MaxAge, 7*24*time.Hour)
	c.MaxBytes = cmp.Or(c.MaxBytes, 8<<30)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

func (c Config) validate() error {
	switch {
	case c.Dir == "":
		return errors.New("nats: no folder for the queues is named")
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("nats: port %d, want 0 to 65535", c.Port)
	case c.AckWait < 0 || c.MaxUnsettled < 0 || c.MaxAge < 0 || c.MaxBytes < 0:
		return errors.New("nats: a limit is negative; 0 means the default")
	case len(c.Members) == 0 || len(c.Members) > MaxMembers:
		return fmt.Errorf("nats: %d members, want 1 to %d", len(c.Members), MaxMembers)
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

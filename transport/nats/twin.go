package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	natsgo "github.com/nats-io/nats.go"
)

// Processes with one identity share an account, where they hear each other on one
// subject. Each that connects says there who it is. Of two the one stops that goes
// after the other; the other tells it, if it must. As a rule nobody listens, which
// the server says at once.

// twinLimit bounds the time in which another process must tell the one that connects.
// A process that listens and says nothing is gone, and the server has yet to miss it,
// or the process is about to stop.
const twinLimit = 2 * time.Second

// maxPresence bounds what one process says of itself.
const maxPresence = 512

// presence is a process's message about itself to others with its identity.
type presence struct {
	Run     string     `json:"run"`     // drawn
	Serving bool       `json:"serving"` // its first connection has been made
	Address netip.Addr `json:"address"` // as the server sees it, zero if unknown
	Process int        `json:"process"` // its id
	Since   time.Time  `json:"since"`
}

// runSize is the number of characters of a run, which rand.Text draws.
const runSize = 26

// decodePresence reads what came over the network, for people to read.
func decodePresence(b []byte) (p presence, err error) {
	if len(b) > maxPresence {
		return p, fmt.Errorf("%d bytes of a process about itself, at most %d", len(b), maxPresence)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, err
	}
	if len(p.Run) != runSize {
		return p, fmt.Errorf("a run of %d characters, want %d", len(p.Run), runSize)
	}
	p.Address = p.Address.WithZone("") // free text
	return p, nil
}

// before is an order of all processes with one identity: those that serve, then
// by chance.
func (p presence) before(o presence) bool {
	if p.Serving != o.Serving {
		return p.Serving
	}
	return p.Run < o.Run
}

// presence describes this process.
func (c *conn) presence() presence {
	p := presence{Run: c.run, Serving: c.serving.Load(), Process: os.Getpid(), Since: c.since}
	if ip, err := c.nc.GetClientIP(); err == nil {
		p.Address, _ = netip.AddrFromSlice(ip)
		p.Address = p.Address.Unmap()
	}
	return p
}

// alone tells other processes with this identity of this one, and gives them time
// to end the link.
func (c *conn) alone(ctx, era context.Context) error {
	b, err := json.Marshal(c.presence())
	if err != nil {
		return err
	}
	limited, cancel := within(ctx, era, twinLimit)
	defer cancel()
	_, err = c.nc.RequestWithContext(limited, twinSubject(c.name), b)
	switch {
	case errors.Is(err, natsgo.ErrNoResponders):
		return nil
	case ctx.Err() != nil || era.Err() != nil:
		return err
	case limited.Err() != nil:
		c.log.Warn("another connection with this identity says nothing: its process is taken for gone", "member", c.name)
		return nil
	}
	return err
}

// serve puts this process before all that do not serve yet, unless one of them has
// ended it already.
func (c *conn) serve() error {
	c.meeting.Lock()
	defer c.meeting.Unlock()
	if err := c.link.ended(); err != nil {
		return err
	}
	c.serving.Store(true)
	return nil
}

// meet hears another process with this identity. A process that has been ended refuses no
// other: two could end each other otherwise.
func (c *conn) meet(m *natsgo.Msg) {
	c.meeting.Lock()
	defer c.meeting.Unlock()
	other, err := decodePresence(m.Data)
	self := c.presence()
	switch {
	case c.link.ended() != nil:
	case err != nil:
		c.log.Warn("ignored a process that cannot be understood", "member", c.name, "error", err)
	case other.Run == self.Run: // what this one said before its connection was lost
	case other.before(self):
		c.link.kill(&TwinError{Member: c.name, Address: other.Address, Process: other.Process, Since: other.Since})
	default:
		c.log.Warn("another process with this identity is refused; if it is none of yours, somebody has the identity file",
			"member", c.name, "address", other.Address.String(), "process", other.Process)
		if err := c.tell(self); err != nil {
			c.log.Warn("could not refuse another process with this identity", "member", c.name, "error", err)
		}
	}
}

func (c *conn) tell(self presence) error {
	b, err := json.Marshal(self)
	if err != nil {
		return err
	}
	return c.nc.Publish(twinSubject(c.name), b)
}

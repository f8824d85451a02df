package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/protocol"
)

// relayTime bounds the time in which a party must take in that another one cannot go on.
const relayTime = 2 * time.Second

// noteStall enters that a party cannot go on for now, or goes on, and tells the other parties:
// they would blame whom they wait for.
func (c *Coordinator) noteStall(d *conducted, m protocol.Message) error {
	s, err := control.DecodeStall(m.Body)
	if err == nil && s.Member != m.Sender {
		err = fmt.Errorf("a stall in the name of %q", fault.Printable(s.Member))
	}
	if err != nil {
		return protocol.Blame(m.Sender, protocol.KindMalformed, err)
	}
	if !d.stalls.Note(s, time.Now()) {
		return nil
	}
	if s.Trouble == fault.NoTrouble {
		c.Logger.Info("a party goes on with a session", "party", m.Sender, "session", d.session.ID().String())
	} else {
		c.complain("a party cannot go on with a session for now", m.Sender, "session", d.session.ID().String(), "reason", s.Trouble.Sentence())
	}
	c.relay(d, s)
	return nil
}

// relay passes a stall on to the session's other parties.
func (c *Coordinator) relay(d *conducted, s *control.Stall) {
	var others []string
	for _, name := range c.others(d) {
		if name != s.Member {
			others = append(others, name)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), relayTime)
	defer cancel()
	if err := c.tellAll(ctx, others, d.session.ID(), control.KindStall, s.Encode()); err != nil {
		c.Logger.Warn("could not tell every party that another one cannot go on for now", "error", err)
	}
}

package protocoltest

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// Chain finds the longest chain of messages in which each sender has received the previous message of
// the chain. The zero value has seen no messages.
type Chain struct {
	Longest int
	sent    map[[sha256.Size]byte]int // place of each message in its longest chain, from 1
	reached map[string]int            // place of the last message of the longest chain to each member
}

// Watch returns a copy of n whose messages the chain sees.
func (c *Chain) Watch(n sim.Node) sim.Node {
	build := n.New
	n.New = func() (protocol.Machine, error) {
		m, err := build()
		return watched{m, n.Name, c}, err
	}
	return n
}

// watched is a machine whose messages a chain sees.
type watched struct {
	protocol.Machine
	name  string
	chain *Chain
}

// Step implements [protocol.Machine].
func (w watched) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := w.Machine.Step(e)
	if err != nil {
		return effects, err
	}
	if in, is := e.(protocol.Received); is {
		w.chain.receive(w.name, in.Message)
	}
	for _, m := range effects.Send {
		w.chain.send(w.name, m)
	}
	return effects, nil
}

func (c *Chain) receive(member string, m protocol.Message) {
	if c.reached == nil {
		c.reached = make(map[string]int)
	}
	c.reached[member] = max(c.reached[member], c.sent[m.Digest()])
}

func (c *Chain) send(member string, m protocol.Message) {
	if c.sent == nil {
		c.sent = make(map[[sha256.Size]byte]int)
	}
	place := c.reached[member] + 1
	c.sent[m.Digest()] = place
	c.Longest = max(c.Longest, place)
}

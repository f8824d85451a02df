package sim

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// node is a Node with the driver's state about its machine.
type node struct {
	Node
	machine protocol.Machine
	inbox   protocol.Inbox
	journal []record
	edges   []*Edge // to the receivers of its messages so far
	resume  bool    // a Resumed is queued
	gone    bool
	outcome *Outcome
}

// record is one accepted event with the effects of its step.
type record struct {
	event protocol.Event
	sent  [][sha256.Size]byte // digests of the messages
	rest  [sha256.Size]byte   // digest of the other effects
}

func (n *node) ended() bool { return n.outcome.End != nil }

// offer calls Step with a private copy of the event, because a machine may
// overwrite the bodies it is given.
func (n *node) offer(e protocol.Event) (eff protocol.Effects, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = n.violation(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if r, ok := e.(protocol.Received); ok {
		r.Message.Body = bytes.Clone(r.Message.Body)
		e = r
	}
	return n.machine.Step(e)
}

func (n *node) violation(err error) error {
	return &ContractError{Node: n.Name, Event: len(n.journal), Err: err}
}

// build makes a new machine without events.
func (n *node) build() error {
	m, err := n.New()
	if err != nil {
		return fmt.Errorf("sim: building %s: %w", n.Name, err)
	}
	if m == nil {
		return fmt.Errorf("sim: building %s: the constructor returned no machine", n.Name)
	}
	n.machine, n.outcome.Machine = m, m
	return nil
}

// append journals an accepted event.
func (n *node) append(e protocol.Event, eff protocol.Effects) {
	r := record{event: e, rest: digestRest(eff)}
	for _, m := range eff.Send {
		r.sent = append(r.sent, m.Digest())
	}
	n.journal = append(n.journal, r)
	n.outcome.Events++
}

// replay rebuilds the machine and the inbox from the journal and returns the
// effects of the last event.
func (n *node) replay() (last protocol.Effects, err error) {
	if err := n.build(); err != nil {
		return last, err
	}
	n.inbox = protocol.Inbox{}
	for i, r := range n.journal {
		last, err = n.offer(r.event)
		if err == nil {
			err = r.compare(last)
		}
		if err != nil {
			var broken *ContractError
			if errors.As(err, &broken) {
				err = broken.Err
			}
			return last, &ContractError{Node: n.Name, Event: i, Err: fmt.Errorf("replay of %s: %w", name(r.event), err)}
		}
		if m, ok := r.event.(protocol.Received); ok {
			n.inbox.Accept(m.Message)
		}
	}
	n.outcome.Crashes++
	return last, nil
}

// compare describes the first difference between the effects of a replayed step and the recorded ones.
func (r *record) compare(eff protocol.Effects) error {
	if len(eff.Send) != len(r.sent) {
		return fmt.Errorf("it sends %d messages; the first time it sent %d", len(eff.Send), len(r.sent))
	}
	for i, m := range eff.Send {
		if m.Digest() != r.sent[i] {
			return fmt.Errorf("message %d, now %v, has other bytes than the first time", i, m.Header)
		}
	}
	if digestRest(eff) != r.rest {
		return errors.New("its claims, timers, resume or end differ from the first time")
	}
	return nil
}

// digestRest covers all effects except Send.
func digestRest(eff protocol.Effects) [sha256.Size]byte {
	var w wire.Writer
	w.Bool(eff.Sync)
	w.Uint32(uint32(len(eff.Claim)))
	for _, name := range eff.Claim {
		w.Bytes32([]byte(name))
	}
	w.Uint32(uint32(len(eff.Arm)))
	for _, t := range eff.Arm {
		w.Bytes32([]byte(t))
	}
	w.Bool(eff.Resume)
	w.Bool(eff.End != nil)
	if eff.End != nil && eff.End.Err != nil {
		w.Bytes32([]byte(eff.End.Err.Error()))
	}
	return sha256.Sum256(w.Bytes())
}

// name returns the name of e in transcripts.
func name(e protocol.Event) string {
	switch e := e.(type) {
	case protocol.Start:
		return "start"
	case protocol.Received:
		return e.Message.Header.String()
	case protocol.Expired:
		return "timer " + string(e.Timer)
	default:
		return "resumed"
	}
}

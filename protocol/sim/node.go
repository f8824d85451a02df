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

// node is a [Node] together with its state in the simulation.
type node struct {
	Node
	machine protocol.Machine
	inbox   protocol.Inbox
	journal []record
	edges   []*Edge // counters of the node's messages, one for each receiver
	resume  bool    // a Resumed event is queued for the node
	gone    bool
	outcome *Outcome
}

// record is a journal entry: one accepted event with digests of the step's effects.
type record struct {
	event protocol.Event
	sent  [][sha256.Size]byte // digests of the messages that the step sent
	rest  [sha256.Size]byte   // digest of the step's effects except messages and progress
}

func (n *node) ended() bool { return n.outcome.End != nil }

// callStep calls the machine's Step with a private copy of the event, because a machine may
// overwrite the bodies that it receives.
func (n *node) callStep(e protocol.Event) (eff protocol.Effects, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = n.violation(fmt.Errorf("the machine panicked: %v\n%s", p, debug.Stack()))
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

// newMachine makes a new machine for the node, in the state before its first event.
func (n *node) newMachine() error {
	m, err := n.New()
	if err != nil {
		return fmt.Errorf("sim: the machine of %s cannot be built: %w", n.Name, err)
	}
	if m == nil {
		return fmt.Errorf("sim: the machine of %s cannot be built: New returned nil", n.Name)
	}
	n.machine, n.outcome.Machine = m, m
	return nil
}

// journalEvent adds an accepted event and its effects to the journal.
func (n *node) journalEvent(e protocol.Event, eff protocol.Effects) {
	r := record{event: e, rest: digestRest(eff)}
	for _, m := range eff.Send {
		r.sent = append(r.sent, m.Digest())
	}
	n.journal = append(n.journal, r)
	n.outcome.Events++
}

// replay rebuilds the node's machine and inbox from the journal, and returns the effects of the
// last event.
func (n *node) replay() (last protocol.Effects, err error) {
	if err := n.newMachine(); err != nil {
		return last, err
	}
	n.inbox = protocol.Inbox{}
	for i, r := range n.journal {
		last, err = n.callStep(r.event)
		if err == nil {
			err = r.checkReplay(last)
		}
		if err != nil {
			var broken *ContractError
			if errors.As(err, &broken) {
				err = broken.Err
			}
			return last, &ContractError{Node: n.Name, Event: i, Err: fmt.Errorf("replay of %s: %w", eventName(r.event), err)}
		}
		if m, ok := r.event.(protocol.Received); ok {
			n.inbox.Accept(m.Message)
		}
	}
	n.outcome.Crashes++
	return last, nil
}

// checkReplay returns an error if the effects of a replayed step differ from the recorded effects.
// The error describes the first difference.
func (r *record) checkReplay(eff protocol.Effects) error {
	if len(eff.Send) != len(r.sent) {
		return fmt.Errorf("the replayed step sends %d messages; the first time it sent %d", len(eff.Send), len(r.sent))
	}
	for i, m := range eff.Send {
		if m.Digest() != r.sent[i] {
			return fmt.Errorf("message %d of the replayed step, %v, differs from the first time", i, m.Header)
		}
	}
	if digestRest(eff) != r.rest {
		return errors.New("the replayed step differs from the original step in sync, claims, timers, resume or end")
	}
	return nil
}

// digestRest returns a digest of all effects of a step except its messages and its progress.
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

// eventName returns the text that stands for e in transcripts.
func eventName(e protocol.Event) string {
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

package protocoltest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// forgery is a message with a forged header. It is delivered just before the genuine message. The
// receiver must refuse the forged message with one of the listed kinds of blame.
type forgery struct {
	what    string
	genuine protocol.Header
	forged  protocol.Message
	kinds   []protocol.Kind
}

// stranger is a name that no member has in any test.
const stranger = "a stranger"

// checkForged tests that messages with forged headers are refused, blamed correctly and have no
// effect.
func checkForged(c *Case) error {
	b, err := c.baseline()
	if err != nil {
		return err
	}
	var all []forgery
	for _, m := range b.messages {
		all = append(all, forgeries(c, b, m)...)
	}
	for _, i := range sample(len(all), c.Runs) {
		if err := c.tryForgery(b, all[i]); err != nil {
			return fmt.Errorf("the forged %s of message %v: %w", all[i].what, all[i].genuine, err)
		}
	}
	return nil
}

// forgeries returns all forgeries of m that a receiver can detect from the header.
func forgeries(c *Case, b *baseline, m protocol.Message) []forgery {
	var all []forgery
	add := func(what string, change func(*protocol.Header), kinds ...protocol.Kind) {
		f := forgery{what: what, genuine: m.Header, forged: m, kinds: kinds}
		change(&f.forged.Header)
		all = append(all, f)
	}
	add("session", func(h *protocol.Header) { h.Session[31] ^= 1 }, protocol.KindForeign)
	add("protocol", func(h *protocol.Header) { h.Protocol += "x" }, protocol.KindForeign)
	add("receiver", func(h *protocol.Header) { h.Receiver = stranger }, protocol.KindForeign)
	add("sender (a stranger)", func(h *protocol.Header) { h.Sender = stranger }, protocol.KindForeign)
	add("kind", func(h *protocol.Header) { h.Kind = "Forged" }, protocol.KindUnexpected)
	add("round", func(h *protocol.Header) { h.Round = 1<<16 - 1 }, protocol.KindUnexpected)
	for _, member := range c.Session.Members {
		h := m.Header
		h.Sender = member.Name
		if !b.senders[lineOf(h)] { // this member never sends such a message
			add("sender ("+member.Name+")", func(h *protocol.Header) { h.Sender = member.Name }, protocol.KindUnexpected, protocol.KindForeign)
		}
	}
	return all
}

// tryForgery runs the case with one forged message, and checks that the message is refused and
// changes nothing.
func (c *Case) tryForgery(b *baseline, f forgery) error {
	r, err := c.run(sim.Schedule{}, insertBefore(f.genuine, f.forged))
	if err != nil {
		return err
	}
	refusal := refusalOf(r, f.forged.Header)
	if refusal == nil {
		return withTranscript(r, errors.New("the receiver does not refuse the message"))
	}
	if err := checkBlame(refusal, f.forged.Sender, f.kinds); err != nil {
		return withTranscript(r, err)
	}
	return c.checkUnchanged(b, r)
}

// insertBefore returns an Intercept function that delivers an extra message just before a genuine
// one.
func insertBefore(genuine protocol.Header, extra protocol.Message) func(protocol.Message) []protocol.Message {
	return func(m protocol.Message) []protocol.Message {
		if m.Header == genuine {
			return []protocol.Message{extra, m}
		}
		return []protocol.Message{m}
	}
}

// refusalOf returns the error with which a message was refused, or nil if the message was not
// refused.
func refusalOf(r *sim.Result, h protocol.Header) error {
	for _, x := range r.Refusals {
		if e, ok := x.Event.(protocol.Received); ok && e.Message.Header == h {
			return x.Err
		}
	}
	return nil
}

// checkBlame returns nil if err blames the given party, with one of the given kinds of blame.
func checkBlame(err error, party string, kinds []protocol.Kind) error {
	var blame *protocol.BlameError
	switch {
	case !errors.As(err, &blame):
		return fmt.Errorf("the message is refused without blame: %w", err)
	case blame.Party != party:
		return fmt.Errorf("party %s is blamed instead of %s: %w", blame.Party, party, err)
	case !slices.Contains(kinds, blame.Kind):
		return fmt.Errorf("the blame in the refusal has kind %q instead of %q: %w", blame.Kind, kinds, err)
	}
	return nil
}

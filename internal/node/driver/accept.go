package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// refusedEvent is an error of Machine.Step that concerns one event only, so the session continues.
type refusedEvent struct{ error }

func (r refusedEvent) Unwrap() error { return r.error }

// accept offers an event to the machine. If the machine accepts it, accept carries out the effects
// in the order that package protocol demands. The argument arrival is the event's message with its
// receipt, or nil if the event is no message.
func (d *driver) accept(e protocol.Event, arrival *Inbound) error {
	effects, err := d.Machine.Step(e)
	if err != nil {
		if arrival == nil {
			return fmt.Errorf("driver: the machine refused the event %T: %w", e, err)
		}
		return refusedEvent{err}
	}
	if err := d.Log.Append(journal.Record{Event: e, Sent: digests(effects.Send), Claims: effects.Claim}); err != nil {
		return interrupt(err)
	}
	d.remember(e)
	if arrival != nil {
		d.traffic.Received += int64(len(arrival.Message.Body))
		d.acknowledge(*arrival)
	}
	if effects.Sync || len(effects.Send) > 0 || len(effects.Claim) > 0 || effects.End != nil {
		if err := d.settle(); err != nil {
			return err
		}
	}
	if err := d.claim(effects.Claim); err != nil {
		return err
	}
	d.outbox.push(effects.Send)
	d.applyEffects(effects)
	for _, t := range effects.Arm {
		d.timers.run(t, d.Timeout(t))
	}
	if d.Progress != nil && effects.Progress != (protocol.Progress{}) {
		d.Progress(effects.Progress)
	}
	return nil
}

// remember updates the state in memory after an accepted event.
func (d *driver) remember(e protocol.Event) {
	switch e := e.(type) {
	case protocol.Start:
		d.started = true
	case protocol.Received:
		d.inbox.Accept(e.Message)
	case protocol.Resumed:
		d.resume = false
	}
}

// applyEffects records the effects of a step of the machine: a wish to resume, armed timers and the
// end.
func (d *driver) applyEffects(effects protocol.Effects) {
	d.resume = d.resume || effects.Resume // a wish to resume lasts until the machine gets Resumed
	for _, t := range effects.Arm {
		d.timers.arm(t)
	}
	if effects.End != nil {
		d.end = effects.End
	}
}

// claim claims a step's names in the ledger. A name that another session holds is a final error. A
// ledger that cannot be written is an interruption, because the failure does not show who holds the
// name.
func (d *driver) claim(names []string) error {
	if len(names) == 0 {
		return nil
	}
	err := d.Ledger.Claim(d.Session.ID(), names...)
	var held *journal.HeldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return fmt.Errorf("driver: %w", err)
	}
	return interrupt(err)
}

// acknowledge adds a message to those that the next settle acknowledges. Messages that change
// nothing wait, too: a repeated message may share a place in the broker's queue with its first
// copy, which may not be on disk yet.
func (d *driver) acknowledge(in Inbound) {
	in.Message.Body = nil // do not keep the body: the machine owns the body of an accepted message
	d.unacked = append(d.unacked, in)
}

// settle flushes the journal to the disk, and then acknowledges the messages that wait for it.
func (d *driver) settle() error {
	if err := d.Log.Sync(); err != nil {
		return interrupt(err)
	}
	for _, in := range d.unacked {
		if err := in.Ack(); err != nil {
			d.Logger.Warn("could not acknowledge a message; it will come again", "message", in.Message.Header.String(), "error", err)
		}
	}
	clear(d.unacked)
	d.unacked = d.unacked[:0]
	return nil
}

func digests(messages []protocol.Message) [][32]byte {
	var list [][32]byte
	for _, m := range messages {
		list = append(list, m.Digest())
	}
	return list
}

// ErrInputChanged reports that the data changed between a session's begin and its replay. The
// replay is refused. Otherwise the session's messages about the old and the new data would together
// reveal the difference.
var ErrInputChanged = fault.Changed.Errorf("driver: the data has changed since this session began; the session is aborted, submit the job again")

// ErrDiverged reports that a replayed machine behaves differently from the journal.
var ErrDiverged = fault.Diverged.Errorf("driver: the replay differs from the journal; the session is aborted, submit the job again")

// replay feeds the journal's events to the machine. Nothing leaves the process. Messages that were
// not delivered stay in the outbox.
func (d *driver) replay(ctx context.Context) error {
	for r, err := range d.Records {
		switch {
		case errors.Is(err, journal.ErrLost):
			return fault.Lost.Errorf("driver: %w", err)
		case err != nil: // a failed read does not show that the journal is damaged
			return interrupt(err)
		case ctx.Err() != nil:
			return Interrupted(ctx)
		}
		if err := d.apply(r); err != nil {
			return err
		}
	}
	return nil
}

// apply replays one record of the journal.
func (d *driver) apply(r journal.Record) error {
	switch {
	case r.Event != nil:
		return d.replayStep(r)
	case r.Ended != "":
		d.sealed = true
		if d.end == nil {
			return fmt.Errorf("driver: the session was aborted before a restart: %s", r.Ended)
		}
	}
	// Free delivered messages at once, so that a replay does not hold every message of the session
	// in memory.
	for range r.Delivered {
		if d.outbox.empty() {
			return fmt.Errorf("%w: more messages were delivered than the machine sends", ErrDiverged)
		}
		d.outbox.drop()
	}
	return nil
}

// replayStep gives the machine one journalled event again and compares the effects with the
// journal.
func (d *driver) replayStep(r journal.Record) error {
	if s, ok := r.Event.(protocol.Start); ok && s.InputHash != d.InputHash {
		return ErrInputChanged
	}
	effects, err := d.Machine.Step(r.Event)
	if err != nil {
		return fmt.Errorf("%w: the machine refuses the journalled event %T: %w", ErrDiverged, r.Event, err)
	}
	if err := compare(effects, r); err != nil {
		return err
	}
	d.remember(r.Event)
	d.claims = append(d.claims, r.Claims...)
	if e, ok := r.Event.(protocol.Expired); ok {
		d.timers.disarm(e.Timer)
	}
	d.outbox.push(effects.Send)
	d.applyEffects(effects)
	return nil
}

func compare(now protocol.Effects, then journal.Record) error {
	if len(now.Send) != len(then.Sent) {
		return fmt.Errorf("%w: the machine sends %d messages, but the journal has %d", ErrDiverged, len(now.Send), len(then.Sent))
	}
	for i, m := range now.Send {
		if m.Digest() != then.Sent[i] {
			return fmt.Errorf("%w: the journal has another digest of the message %v", ErrDiverged, m.Header)
		}
	}
	if !slices.Equal(now.Claim, then.Claims) {
		return fmt.Errorf("%w: the machine claims %q, but the journal has %q", ErrDiverged, now.Claim, then.Claims)
	}
	return nil
}

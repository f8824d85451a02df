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

// ErrInputChanged rejects a replay over edited data: an answer to an old
// session would reveal the difference of the two inputs.
var ErrInputChanged = fault.Changed.Errorf("driver: the data has changed since this session began; the session is aborted, submit the job again")

// ErrDiverged rejects a replay that would send other bytes.
var ErrDiverged = fault.Diverged.Errorf("driver: the replay differs from the journal; the session is aborted, submit the job again")

// replay feeds the journal to the machine. Nothing leaves the process; what
// had not been delivered is left in the outbox.
func (d *driver) replay(ctx context.Context) error {
	for r, err := range d.Records {
		switch {
		case errors.Is(err, journal.ErrLost):
			return fault.Lost.Errorf("driver: %w", err)
		case err != nil: // of reading: the journal itself may be whole
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

// apply replays one record.
func (d *driver) apply(r journal.Record) error {
	switch {
	case r.Event != nil:
		return d.again(r)
	case r.Ended != "":
		d.sealed = true
		if d.end == nil {
			return fmt.Errorf("driver: the session was aborted before a restart: %s", r.Ended)
		}
	}
	// Let bodies go as soon as they are known to have arrived: a replay must
	// not hold all that was ever sent.
	for range r.Delivered {
		if d.outbox.empty() {
			return fmt.Errorf("%w: more messages were delivered than the machine sends", ErrDiverged)
		}
		d.outbox.drop()
	}
	return nil
}

// again steps the machine through one journalled event.
func (d *driver) again(r journal.Record) error {
	if s, ok := r.Event.(protocol.Start); ok && s.InputHash != d.InputHash {
		return ErrInputChanged
	}
	effects, err := d.Machine.Step(r.Event)
	if err != nil {
		return fmt.Errorf("%w: the machine now refuses %T: %w", ErrDiverged, r.Event, err)
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
	d.take(effects)
	return nil
}

func compare(now protocol.Effects, then journal.Record) error {
	if len(now.Send) != len(then.Sent) {
		return fmt.Errorf("%w: %d messages where the journal has %d", ErrDiverged, len(now.Send), len(then.Sent))
	}
	for i, m := range now.Send {
		if m.Digest() != then.Sent[i] {
			return fmt.Errorf("%w: %v", ErrDiverged, m.Header)
		}
	}
	if !slices.Equal(now.Claim, then.Claims) {
		return fmt.Errorf("%w: it claims %q where the journal has %q", ErrDiverged, now.Claim, then.Claims)
	}
	return nil
}

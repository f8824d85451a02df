package driver

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// ErrInputChanged is what a replay over edited data gives: an answer to the
// same session would reveal the difference of the two inputs.
var ErrInputChanged = errors.New("driver: the data has changed since this session began; the session is aborted, submit the job again")

// ErrDiverged is what a replay that would send other bytes gives.
var ErrDiverged = errors.New("driver: the replay differs from the journal; the session is aborted, submit the job again")

// replay feeds the journal to the machine. Nothing leaves the process; what
// had not been delivered is left in the outbox.
func (d *driver) replay() error {
	for r, err := range d.Records {
		if err != nil {
			return fmt.Errorf("driver: %w", err)
		}
		if r.Event != nil {
			if err := d.again(r); err != nil {
				return err
			}
		}
		// Let bodies go as soon as they are known to have arrived: a replay
		// must not hold all that was ever sent.
		for range r.Delivered {
			d.outbox.drop()
		}
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
	if err := compare(effects.Send, r.Sent); err != nil {
		return err
	}
	d.remember(r.Event, nil)
	if e, ok := r.Event.(protocol.Expired); ok {
		d.timers.disarm(e.Timer)
	}
	d.outbox.push(effects.Send)
	d.take(effects)
	return nil
}

func compare(sent []protocol.Message, digests [][32]byte) error {
	if len(sent) != len(digests) {
		return fmt.Errorf("%w: %d messages where the journal has %d", ErrDiverged, len(sent), len(digests))
	}
	for i, m := range sent {
		if m.Digest() != digests[i] {
			return fmt.Errorf("%w: %v", ErrDiverged, m.Header)
		}
	}
	return nil
}

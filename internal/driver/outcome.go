package driver

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// outcome journals the machine's own verdict and returns it.
func (d *driver) outcome() error {
	err := d.explain(d.end.Err)
	return errors.Join(err, d.seal(err))
}

// abort journals err as the outcome, unless it only interrupts.
func (d *driver) abort(err error) error {
	if errors.Is(err, ErrInterrupted) {
		return err
	}
	return errors.Join(err, d.seal(err))
}

// seal writes the session's last record.
func (d *driver) seal(outcome error) error {
	text := "done"
	if outcome != nil {
		text = outcome.Error()
	}
	if err := d.Log.Append(journal.Record{Ended: text}); err != nil {
		return fmt.Errorf("driver: the outcome could not be journalled: %w", err)
	}
	return d.Log.Sync()
}

// explain replaces "south is silent" by what south had sent that was refused.
func (d *driver) explain(err error) error {
	var silent *protocol.BlameError
	if !errors.As(err, &silent) || silent.Kind != protocol.KindSilent {
		return err
	}
	if earlier, ok := d.refused[silent.Party]; ok {
		return fmt.Errorf("%w; then it went silent", earlier)
	}
	return err
}

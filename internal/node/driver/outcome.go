package driver

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
)

// outcome journals the machine's own verdict and returns it.
func (d *driver) outcome() error {
	err := d.explain(d.end.Err)
	if sealing := d.seal(err); sealing != nil {
		return interrupt(errors.Join(sealing, err))
	}
	return err
}

// abort journals err as the outcome, unless it only interrupts. A machine that
// had ended with an error of its own knows better what went wrong.
func (d *driver) abort(err error) error {
	if errors.Is(err, ErrInterrupted) {
		return err
	}
	if d.end != nil && d.end.Err != nil {
		err = errors.Join(d.explain(d.end.Err), err)
	}
	return errors.Join(err, d.seal(err))
}

// seal writes the session's last record.
func (d *driver) seal(outcome error) error {
	if d.sealed {
		return nil
	}
	text := "done"
	if outcome != nil {
		text = outcome.Error()
	}
	err := d.Log.Append(journal.Record{Ended: text})
	if err == nil {
		err = d.Log.Sync()
	}
	if err != nil {
		return fmt.Errorf("driver: the outcome could not be journalled: %w", err)
	}
	return nil
}

// explain replaces "south is silent" by what south had sent that was refused.
func (d *driver) explain(err error) error {
	var silent, earlier *protocol.BlameError
	if !errors.As(err, &silent) || silent.Kind != protocol.KindSilent {
		return err
	}
	why, known := d.refused[silent.Party]
	switch {
	case !known:
		return err
	case errors.As(why, &earlier):
		return fmt.Errorf("%w; then it went silent", why)
	}
	return fmt.Errorf("%w; what it had sent was refused: %w", err, why)
}

package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// roomPause is the time between two attempts to write to a home on a full disk.
const roomPause = 3 * time.Second

// lives runs a party. If the party ends because a session could not write its journal, lives waits
// until the home is writable and runs the party again. It returns every other error, and also the
// error of a home that is not writable at the start.
func lives(ctx context.Context, log *slog.Logger, probe, life func() error) error {
	for stalled := false; ; {
		err := life()
		stalled = stalled || errors.Is(err, party.ErrStalled)
		if !stalled || !disk.Failed(err) || ctx.Err() != nil {
			return err
		}
		log.Error("this party cannot write to its home; it continues when there is room", "error", err)
		if !room(ctx, probe) {
			return nil
		}
		log.Info("the home can be written to again")
	}
}

// room waits until probe succeeds in writing to the home. It returns false if ctx ends first.
func room(ctx context.Context, probe func() error) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(roomPause):
		}
		if probe() == nil {
			return true
		}
	}
}

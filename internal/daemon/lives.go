package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// spacePause is the time between two attempts to write to a home on a full disk.
const spacePause = 3 * time.Second

// keepRunning runs a party. If the party ends because a session could not write its journal,
// keepRunning waits until the home is writable and runs the party again. It returns every other
// error, and also the error of a home that is not writable at the start.
func keepRunning(ctx context.Context, log *slog.Logger, probe, life func() error) error {
	for stalled := false; ; {
		err := life()
		stalled = stalled || errors.Is(err, party.ErrStalled)
		if !stalled || !disk.Failed(err) || ctx.Err() != nil {
			return err
		}
		log.Error("this party cannot write to its home; it continues when the disk has space", "error", err)
		if !waitForSpace(ctx, probe) {
			return nil
		}
		log.Info("the home can be written to again")
	}
}

// waitForSpace waits until the function probe can write to the home. It returns false if ctx ends
// first.
func waitForSpace(ctx context.Context, probe func() error) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(spacePause):
		}
		if probe() == nil {
			return true
		}
	}
}

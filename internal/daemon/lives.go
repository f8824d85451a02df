package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// roomPause is the time between two tries to write to a full home.
const roomPause = 3 * time.Second

// lives runs a party, and runs it anew if it ends because a session could not write its journal; the
// new run starts once the home can be written to. A home that cannot be written to from the
// beginning ends the process, as every other fault does.
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

// room waits until a probe of the disk succeeds. It returns false if ctx ends first.
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

package device

import (
	"context"
	"time"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

func (d *Device) length() time.Duration { return time.Duration(d.job.Window) * time.Millisecond }
func (d *Device) grace() time.Duration  { return time.Duration(d.job.Grace) * time.Millisecond }
func (d *Device) pause() time.Duration  { return time.Duration(d.job.Pause) * time.Millisecond }

// ends returns the end of the window: from then on no package is sent for the first time.
func (d *Device) ends(l secvm.Link) time.Time { return time.UnixMilli(l.Opens).Add(d.length()) }

// draw returns a time below most, uniformly.
func (d *Device) draw(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.random.Uint64n(uint64(most)))
}

// again waits before something is tried again: a fortieth of a window, more or
// less.
func (d *Device) again(ctx context.Context) error {
	mean := min(max(d.length()/40, 20*time.Millisecond), 5*time.Second)
	return d.sleepUntil(ctx, time.Now().Add(mean/2+d.draw(mean)))
}

func (d *Device) sleepUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package crowd

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

const (
	lingerLook   = 100 * time.Millisecond // between two looks at who still needs the server
	farewellTime = 5 * time.Second        // for a device to say that it needs nothing more
)

// linger keeps the server there for devices that went through the last session and have not
// said that they need nothing more, for the time in which devices may come to a job.
func (s *Service) linger(ctx context.Context) error {
	s.mu.Lock()
	last := s.begun[len(s.begun)-1].box
	s.mu.Unlock()
	if last == nil {
		return nil
	}
	limits := s.Enrolment.Job.Timeout
	ctx, cancel := context.WithTimeout(ctx, max(limits.Join, limits.Round))
	defer cancel()
	often := time.NewTicker(lingerLook)
	defer often.Stop()
	kept := 0
	for {
		finished, missing := last.left()
		if len(finished) > kept { // a server that is killed now must not wait for them again
			if err := last.Put(vault.Report, encodeNames(finished)); err != nil {
				return err
			}
			kept = len(finished)
		}
		if missing == 0 {
			return nil
		}
		select {
		case <-often.C:
		case <-ctx.Done():
			s.Logger.Warn("devices have not fetched what was for them", "devices", missing)
			return nil
		}
	}
}

// left returns who needs nothing more, and the number of devices that may.
func (b *box) left() (finished []string, missing int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range b.stayed {
		if !b.finished[name] {
			missing++
		}
	}
	return slices.Sorted(maps.Keys(b.finished)), missing
}

// farewell tells the server that this device has all that it came for: its journals hold it.
// A server that does not hear it waits for nothing.
func (d *Device) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewellTime)
	defer cancel()
	if err := d.line.farewell(ctx, d.last.step, d.last.session); err != nil {
		d.Logger.Debug("the server has not heard that this device has finished", "error", err)
	}
}

// farewell is a request of a device that needs nothing more.
func (l *line) farewell(ctx context.Context, step int, session protocol.SessionID) error {
	_, _, err := l.ask(ctx, http.MethodPost, farewellPath, about(step, session), nil)
	return err
}

func encodeNames(names []string) []byte {
	var w wire.Writer
	w.Strings(names)
	return w.Bytes()
}

// decodeNames decodes what encodeNames wrote.
func decodeNames(b []byte) ([]string, error) {
	r := wire.NewReader(b)
	names := r.Strings(MaxDevices, maxName)
	return names, r.Close("crowd: devices that have finished")
}

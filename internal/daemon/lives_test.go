package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mercer-fl/mercer/internal/node/party"
)

// A party lives again when its disk has room, and only if a session has stalled for that.
func TestLivesOfAParty(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "journal", Err: syscall.ENOSPC}
	stalled := fmt.Errorf("%w: %w", party.ErrStalled, full)
	other := errors.New("another fault")
	for name, tt := range map[string]struct {
		ends   []error // of its lives
		probes int     // that fail
		want   error
		pauses int // of three seconds
	}{
		"a good end":                  {ends: []error{nil}},
		"a full disk for a while":     {ends: []error{stalled, nil}, probes: 4, pauses: 5},
		"full again at the start":     {ends: []error{stalled, full, stalled, nil}, pauses: 3},
		"full from the beginning":     {ends: []error{full}, want: full},
		"stalled by something else":   {ends: []error{fmt.Errorf("%w: %w", party.ErrStalled, other)}, want: other},
		"another fault in a new life": {ends: []error{stalled, other}, want: other, pauses: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, lived, probed := time.Now(), 0, 0
				err := keepRunning(t.Context(), slog.New(slog.DiscardHandler), func() error {
					if probed++; probed <= tt.probes {
						return full
					}
					return nil
				}, func() error {
					lived++
					return tt.ends[lived-1]
				})
				if !errors.Is(err, tt.want) || lived != len(tt.ends) || time.Since(began) != time.Duration(tt.pauses)*spacePause {
					t.Errorf("%d lives in %v end with %v; want %d and %v", lived, time.Since(began), err, len(tt.ends), tt.want)
				}
			})
		})
	}
}

// A party that is stopped while it waits for room ends without an error.
func TestStopWhileThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		full := &fs.PathError{Op: "write", Path: "journal", Err: syscall.ENOSPC}
		err := keepRunning(ctx, slog.New(slog.DiscardHandler), func() error { return full }, func() error { return fmt.Errorf("%w: %w", party.ErrStalled, full) })
		if err != nil {
			t.Error(err)
		}
	})
}

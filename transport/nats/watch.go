package nats

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/transport"
)

// StoreError says that the queues cannot be written any more, since the disk is
// full or broken. The server keeps its first such error and takes no message again,
// even if there is room later: only a new one opens the queues anew. What was
// accepted before is not lost.
type StoreError struct {
	Dir    string
	Reason string
}

func (e *StoreError) Error() string {
	return fmt.Sprintf("nats: the queues in %s cannot be written (%s); make room there or mend the disk, and start the coordinator again: nothing that was sent is lost", e.Dir, e.Reason)
}

// watchEvery is the time between two looks of Watch.
const watchEvery = 2 * time.Second

// Watch returns a [*StoreError] once the queues cannot be written, or nil when ctx
// ends.
func (s *Server) Watch(ctx context.Context) error {
	often := time.NewTicker(watchEvery)
	defer often.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-often.C:
		}
		health := s.nats.Healthz(&server.HealthzOptions{Account: hubName})
		if health.StatusCode != http.StatusOK && ctx.Err() == nil {
			return &StoreError{s.cfg.Dir, health.Error}
		}
	}
}

// warnOfSpace says at the start that the disk may be full before the queues are.
func (s *Server) warnOfSpace() {
	var room int64
	for _, lane := range transport.Lanes() {
		room += s.cfg.room(lane)
	}
	free, err := disk.Free(s.cfg.Dir)
	switch {
	case err != nil:
		s.cfg.Logger.Warn("cannot tell how much room the disk of the queues has", "folder", s.cfg.Dir, "error", err)
	case free < uint64(room):
		s.cfg.Logger.Warn("the disk of the queues has less room than they may take; when it is full, the coordinator ends",
			"folder", s.cfg.Dir, "free_bytes", free, "queues_bytes", room)
	}
}

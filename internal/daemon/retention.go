package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/retention"
)

// calendar tells the time by which things in a home grow old.
type calendar struct {
	days retention.Days
	log  *slog.Logger

	mu   sync.Mutex
	told string // day of the last log line about a clock that cannot be trusted
}

func (h Home) calendar(log *slog.Logger) *calendar {
	return &calendar{days: retention.Days(h.path("days")), log: log}
}

// today returns the time, and whether things are allowed to be erased by their age today.
func (c *calendar) today() (time.Time, bool) { return c.at(time.Now()) }

// at returns what today returns, for the given time.
func (c *calendar) at(now time.Time) (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	trusted, err := c.days.Trust(now)
	if day := now.UTC().Format(time.DateOnly); err != nil && c.told != day {
		c.told = day
		c.log.Error("nothing is erased by age", "error", err)
	}
	return now, trusted
}

// cutter removes the oldest lines of a home's record.
type cutter struct {
	record *audit.Log
	after  strictyaml.Days // 0: never
	today  func() (time.Time, bool)
	log    *slog.Logger
}

// run removes the lines that are due, at the start and then every hour, until ctx ends.
func (c cutter) run(ctx context.Context) {
	if c.after.Duration <= 0 {
		return
	}
	often := time.NewTicker(time.Hour)
	defer often.Stop()
	for {
		c.cut()
		select {
		case <-ctx.Done():
			return
		case <-often.C:
		}
	}
}

func (c cutter) cut() {
	now, trusted := c.today()
	if !trusted {
		return
	}
	switch n, err := c.record.Cut(now.Add(-c.after.Duration)); {
	case err != nil:
		c.log.Error("the oldest lines of the audit record could not be removed", "error", err)
	case n > 0:
		c.log.Info("removed the oldest lines of the audit record", "lines", n)
	}
}

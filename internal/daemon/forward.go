package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/audit/syslog"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// Audit names a place, besides the file, to which the lines of a home's record go.
type Audit struct {
	// Syslog is the address of a syslog server, as [syslog.ParseServer] reads it. The default is none.
	Syslog string `yaml:"syslog,omitempty"`
}

func (a Audit) check() error {
	if a.Syslog == "" {
		return nil
	}
	_, err := syslog.ParseServer(a.Syslog)
	return err
}

// forwarder sends the lines of a home's record to a syslog server. It reads them from the file, so it never
// delays a line. After an outage or a restart it sends the lines that the server has not had.
type forwarder struct {
	record string // path of the record
	mark   string // path of the file with the last line that was sent
	line   *syslog.Line
	origin syslog.Origin
	log    *slog.Logger
	often  time.Duration   // time between two looks at the record
	from   *audit.Follower // nil while the place in the record must be found

	failing atomic.Bool
	sent    atomic.Uint64
}

// forwardEvery is the time between two looks at the record.
const forwardEvery = 2 * time.Second

// forwarder returns the forwarder of a home, or nil if its configuration has none.
func (h Home) forwarder(c *Config, log *slog.Logger) (*forwarder, error) {
	if c.Audit.Syslog == "" {
		return nil, nil
	}
	server, err := syslog.ParseServer(c.Audit.Syslog)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "" // messages go without the machine's name
	}
	return &forwarder{
		record: h.AuditPath(), mark: h.path("audit.sent"), line: &syslog.Line{Server: server},
		origin: syslog.Origin{Host: host, Member: c.Name, PID: os.Getpid()}, log: log, often: forwardEvery,
	}, nil
}

// run sends lines until ctx ends. A nil forwarder does nothing.
func (f *forwarder) run(ctx context.Context) {
	if f == nil {
		return
	}
	often := time.NewTicker(f.often)
	defer often.Stop()
	defer f.line.Close() //nolint:errcheck // every message was handed over, or is sent again
	for {
		f.note(ctx, f.forward(ctx))
		select {
		case <-ctx.Done():
			return
		case <-often.C:
		}
	}
}

// begin finds the lines that the server has not had.
func (f *forwarder) begin() error {
	var last audit.Mark
	b, err := os.ReadFile(f.mark)
	if err == nil {
		err = json.Unmarshal(b, &last)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.log.Warn("the mark of what the syslog server has had cannot be read; the whole record is sent again", "error", err)
	}
	from, found, err := audit.Follow(f.record, last)
	if err == nil && !found {
		f.log.Warn("the record does not have the line that the syslog server has had last; the whole record is sent", "line", last.Number)
	}
	f.from = from
	return err
}

// forward sends the lines that were added since the last call, and remembers the last one that was sent.
func (f *forwarder) forward(ctx context.Context) error {
	if f.from == nil {
		if err := f.begin(); err != nil {
			return err
		}
	}
	if err := f.line.Settle(ctx); err != nil {
		return err
	}
	var last audit.Mark
	var unsent error
	err := f.from.Read(func(m audit.Mark, e audit.Event) error {
		if unsent = f.line.Send(ctx, syslog.Message(f.origin, m, e)); unsent != nil {
			return unsent
		}
		last = m
		f.sent.Add(1)
		return nil
	})
	if err != nil && unsent == nil {
		f.from = nil // its first lines were removed meanwhile, or it is broken: find the place again
	}
	if last.Number == 0 {
		return err
	}
	b, failed := json.Marshal(last)
	if failed == nil {
		failed = disk.Replace(f.mark, b)
	}
	return errors.Join(err, failed)
}

// note logs when sending begins to fail, and when it works again.
func (f *forwarder) note(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil && !f.failing.Swap(true):
		f.log.Error("the audit record does not reach the syslog server; it is sent again and again, and its file has every line", "server", f.line.Server.String(), "error", err)
	case err == nil && f.failing.Swap(false):
		f.log.Info("the audit record reaches the syslog server again", "server", f.line.Server.String())
	}
}

// shown describes the forwarder for an overview. It returns nil for a nil forwarder.
func (f *forwarder) shown() *overview.Forwarding {
	if f == nil {
		return nil
	}
	return &overview.Forwarding{Failing: f.failing.Load(), Sent: f.sent.Load()}
}

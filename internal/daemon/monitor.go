package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	runtimemetrics "github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/transport/nats"
)

// checkMetrics returns an error unless only this machine can reach the address. For "", no address, it returns nil.
func checkMetrics(address string) error {
	if address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || n == 0 {
		return fmt.Errorf("the setting \"metrics\" is %q; write a port on loopback, such as 127.0.0.1:9464", address)
	}
	if !endpoint.Loopback(host) {
		return fmt.Errorf("the setting \"metrics\" is %q, which other machines can reach; write 127.0.0.1:%s, since everybody who reaches the port reads the names of members", address, port)
	}
	return nil
}

// monitor serves the metrics and the health of a daemon.
type monitor struct {
	port   net.Listener // nil: nothing is served
	source overview.Source
}

// openMonitor opens the port of a monitor. If the address is "", the monitor serves nothing.
func openMonitor(address string) (monitor, error) {
	if address == "" {
		return monitor{}, nil
	}
	l, err := endpoint.Listen(address)
	return monitor{port: l}, err
}

// of returns the monitor with the daemon whose state it serves.
func (m monitor) of(source overview.Source) monitor { return monitor{m.port, source} }

// close closes the port. It does nothing if the port is closed.
func (m monitor) close() error {
	if m.port == nil {
		return nil
	}
	if err := m.port.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// serve serves until ctx ends.
func (m monitor) serve(ctx context.Context, log *slog.Logger) error {
	if m.port == nil {
		<-ctx.Done()
		return nil
	}
	registry := prometheus.NewRegistry()
	err := errors.Join(registry.Register(metrics{m.source}), registry.Register(runtimemetrics.NewGoCollector()),
		registry.Register(runtimemetrics.NewProcessCollector(runtimemetrics.ProcessCollectorOpts{})))
	if err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	log.Info("serving metrics", "address", m.port.Addr().String())
	return endpoint.Serve(ctx, m.port, endpoint.Monitor(registry, m.ready), log)
}

// ready returns nil if the daemon can take part in jobs.
func (m monitor) ready() error {
	o, err := m.source.Overview()
	if err != nil {
		return err
	}
	return o.Ready()
}

// brokerView shows the broker of this process to the coordinator.
type brokerView struct{ *nats.Server }

// Connections implements coordinator.Broker.
func (b brokerView) Connections() ([]overview.Connection, error) {
	open, err := b.Server.Connections()
	list := make([]overview.Connection, len(open))
	for i, c := range open {
		list[i] = overview.Connection{Member: c.Member, Since: c.Since.Truncate(time.Second), Version: c.Version}
	}
	return list, err
}

// Load implements coordinator.Broker.
func (b brokerView) Load() (overview.Broker, error) {
	l, err := b.Server.Load()
	return overview.Broker(l), err
}

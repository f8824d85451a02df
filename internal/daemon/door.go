package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
)

// Doors holds the addresses at which a server for many devices listens, as host:port.
type Doors struct {
	Listen  string
	Metrics string // address of the metrics, which always use plain HTTP; "": no metrics
	// Certificate and Key are the files for HTTPS at Listen; if they are "", the server uses HTTP.
	Certificate, Key string
	// Trusted lists addresses from which clients are allowed to open any number of connections, such as the
	// address of a gateway's relay. Connections from all other addresses are limited.
	Trusted []netip.Prefix
}

// listen opens the port of the server and, if set, the port of its metrics.
func (d Doors) listen() (_ []net.Listener, err error) {
	if (d.Certificate == "") != (d.Key == "") {
		return nil, fault.BadInputf("HTTPS requires a certificate and its key, but only one of the two is given; give both --tls-cert and --tls-key, or neither")
	}
	var ports []net.Listener
	defer func() {
		for _, l := range ports {
			if err != nil {
				err = errors.Join(err, l.Close())
			}
		}
	}()
	addresses := []string{d.Listen}
	if d.Metrics != "" {
		addresses = append(addresses, d.Metrics)
	}
	for _, a := range addresses {
		l, err := endpoint.Listen(a)
		if err != nil {
			return nil, err
		}
		ports = append(ports, l)
	}
	if d.Certificate != "" {
		ports[0], err = endpoint.Secure(ports[0], d.Certificate, d.Key)
	}
	return ports, err
}

// serve serves requests until ctx ends, a listener fails, or the function run returns; run can be nil. The end of ctx
// is not an error, because it stops a daemon in the normal way.
func (d Doors) serve(ctx context.Context, o Options, h http.Handler, metrics collector, run func(context.Context) error) error {
	registry := prometheus.NewRegistry()
	if err := metrics.Collect(registry); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	ports, err := d.listen()
	if err != nil {
		return err
	}
	told := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var serving sync.WaitGroup
	handlers := []http.Handler{h, endpoint.Metrics(registry)}
	trusted := [][]netip.Prefix{d.Trusted, nil}
	errs := make([]error, len(handlers)+1)
	for i, l := range ports {
		serving.Go(func() {
			defer stop()
			errs[i] = endpoint.Serve(ctx, l, handlers[i], o.Logger, trusted[i]...)
		})
	}
	o.Ready(ports[0].Addr().String())
	if run != nil {
		if err := run(ctx); told.Err() == nil || !errors.Is(err, context.Canceled) {
			errs[len(handlers)] = err
		}
		stop()
	}
	serving.Wait()
	return errors.Join(errs...)
}

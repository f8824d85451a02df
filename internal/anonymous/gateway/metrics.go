package gateway

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are counts, as all that a gateway keeps.
type metrics struct {
	outcomes     *prometheus.CounterVec
	packages     map[outcome]prometheus.Counter
	counted      prometheus.Counter
	records      prometheus.Counter
	iteration    prometheus.Gauge
	windows      *prometheus.CounterVec
	participants prometheus.Gauge
}

func newMetrics() *metrics {
	m := &metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mercer_gateway_requests_total", Help: "Requests with a package by how they were answered. A package that waits for its record may come again.",
		}, []string{"outcome"}),
		packages:  map[outcome]prometheus.Counter{},
		counted:   prometheus.NewCounter(prometheus.CounterOpts{Name: "mercer_gateway_packages_total", Help: "Packages that have been counted."}),
		records:   prometheus.NewCounter(prometheus.CounterOpts{Name: "mercer_gateway_records_total", Help: "Records of packages written."}),
		iteration: prometheus.NewGauge(prometheus.GaugeOpts{Name: "mercer_gateway_iteration", Help: "Iteration that packages are taken for."}),
		windows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mercer_gateway_windows_total", Help: "Windows by whether there were enough participants.",
		}, []string{"outcome"}),
		participants: prometheus.NewGauge(prometheus.GaugeOpts{Name: "mercer_gateway_participants", Help: "Participants of the last closed window and those before it of the same iteration."}),
	}
	for _, o := range outcomes() {
		m.packages[o] = m.outcomes.WithLabelValues(o.name)
	}
	return m
}

func (m *metrics) collect(r prometheus.Registerer) error {
	var errs error
	for _, c := range []prometheus.Collector{m.outcomes, m.counted, m.records, m.iteration, m.windows, m.participants} {
		errs = errors.Join(errs, r.Register(c))
	}
	return errs
}

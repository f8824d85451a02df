package gateway_test

import (
	"io"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mercer-fl/mercer/internal/endpoint"
	"github.com/mercer-fl/mercer/privacypass"
)

// collector is a part with metrics.
type collector interface {
	Collect(prometheus.Registerer) error
}

func metricOf(t *testing.T, c collector, name string) string {
	t.Helper()
	r := prometheus.NewRegistry()
	check(t, c.Collect(r))
	answer := httptest.NewRecorder()
	endpoint.Metrics(r).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(answer.Body)
	check(t, err)
	return lineWith(string(b), name)
}

// With tokens, relay and network the crowd ends in the model of the simulation.
func TestModelIsTheSimulations(t *testing.T) {
	for _, kind := range []privacypass.Type{privacypass.BlindRSA, privacypass.VOPRF} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, kind, 20, nil)
			r, said := w.run(nil)
			if want := w.simulated(); r.SHA256 != want {
				t.Errorf("model %s, simulated %s; %+v", r.SHA256, want, said.Report)
			}
			if want := 20 * 5 * 2; said.Acknowledged != want || said.Refused+said.Lost != 0 {
				t.Errorf("%+v, where %d packages were to be acknowledged", said.Report, want)
			}
			if got := metricOf(t, w.gateway, "mercer_gateway_packages_total "); got != "200" {
				t.Errorf("%s packages counted", got)
			}
			if r.Windows != 2 {
				t.Errorf("%d windows", r.Windows)
			}
		})
	}
}

//go:build slow

package demo_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/demo"
)

// 500 devices, 16 packages each, windows of ten seconds, five steps: the model
// is that of the simulation, and gateway and relay have counted what was sent.
func TestLargeCrowd(t *testing.T) {
	text := strings.NewReplacer("packages: 5", "packages: 16", "cohort: 8", "cohort: 100", "iterations: 2", "iterations: 5").Replace(crowdJob)
	c := crowdConfig(t, text, 500)
	c.Window, c.Grace, c.Pause, c.Lead = 10*time.Second, 5*time.Second, 2*time.Second, 5*time.Second
	c.Least, c.Batch, c.Early, c.Processes = 256, 16, 6, 4
	var atGateway, atRelay string
	r := holdCrowd(t, c, func(f *demo.Crowd, window int, open time.Duration) {
		if window == 5 && open > c.Window && atGateway == "" {
			atGateway, atRelay = scrape(t, f, demo.Gateway), scrape(t, f, demo.Relay)
		}
	})
	if want := 500 * 16 * 6; r.Devices.Acknowledged != want || r.Devices.Refused+r.Devices.Lost != 0 {
		t.Errorf("%+v, where %d packages were to be acknowledged", r.Devices, want)
	}
	if want := simulatedModel(t, c.Job, c.Rows); r.Gateway.SHA256 != want {
		t.Errorf("model %s, simulated %s", r.Gateway.SHA256, want)
	}
	if !strings.Contains(atGateway, "mercer_gateway_packages_total") || !strings.Contains(atRelay, "mercer_relay_requests_total") {
		t.Errorf("metrics:\n%s\n%s", atGateway, atRelay)
	}
}

func scrape(t *testing.T, f *demo.Crowd, name string) string {
	t.Helper()
	r, err := http.Get(f.MetricsURL(name))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(b)
}
